"""The dialect of 2026-04: that of 2024-10; the revisions differ in a detail of events only."""

from siconform.transport.dialects import r2024_10
from siconform.transport.dialects.tables import Tables


def tables() -> Tables:
    """Return the tables of one connection."""
    return r2024_10.tables()
