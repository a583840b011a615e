"""A readable reference scheduler for the Scheduler Interface: events in, effects out."""

__version__ = "0.1.0"
