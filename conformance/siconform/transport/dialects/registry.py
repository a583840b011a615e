"""The tables of each revision."""

from collections.abc import Callable, Mapping
from typing import Final

from siwire import Revision

from siconform.transport.dialects import r2021_02, r2023_04, r2023_08, r2023_12, r2024_10, r2026_04
from siconform.transport.dialects.tables import Tables

_TABLES: Final[Mapping[str, Callable[[], Tables]]] = {
    "2021-02": lambda: r2021_02.TABLES,
    "2023-04": lambda: r2023_04.TABLES,
    "2023-08": lambda: r2023_08.TABLES,
    "2023-12": lambda: r2023_12.TABLES,
    "2024-10": r2024_10.tables,
    "2026-04": r2026_04.tables,
}


def tables_of(revision: Revision) -> Tables:
    """Return the tables of this revision, new ones each time if they keep state."""
    return _TABLES[revision.name]()
