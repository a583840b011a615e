"""A kit that judges schedulers by the Scheduler Interface, requirement by requirement."""

from importlib.metadata import version

__version__ = version("si-conformance")
