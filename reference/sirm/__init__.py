"""A small, readable resource manager (RM) for the Scheduler Interface."""

__version__ = "0.1.0"
