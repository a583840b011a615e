"""Which tables a revision has."""

from collections.abc import Mapping
from typing import Final

from siwire import Revision

from siconform.transport.dialects import r2021_02, r2023_04, r2023_08, r2023_12
from siconform.transport.dialects.tables import Tables

_TABLES: Final[Mapping[str, Tables]] = {
    "2021-02": r2021_02.TABLES,
    "2023-04": r2023_04.TABLES,
    "2023-08": r2023_08.TABLES,
    "2023-12": r2023_12.TABLES,
}


def tables_of(revision: Revision) -> Tables:
    """The tables of this revision."""
    return _TABLES[revision.name]
