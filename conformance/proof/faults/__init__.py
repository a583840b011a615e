"""The faults, by what they are about."""

from importlib import import_module

_ABOUT = (
    "allocations",
    "applications",
    "asks",
    "callbacks",
    "gangs",
    "nodes",
    "recovery",
    "registration",
    "releases",
    "snapshots",
)


def load() -> None:
    """Make every fault known by its name."""
    for name in _ABOUT:
        import_module(f"proof.faults.{name}")
