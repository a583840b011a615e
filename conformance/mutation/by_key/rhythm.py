"""Times at which nothing is placed, or only requests of some."""

import time
from collections.abc import Sequence
from typing import Final

from mutation.by_key.table import Entry, Table

_WARM_AFTER: Final = 2.0  # seconds
_WORK: Final = 0.4
_PAUSE: Final = 0.8
_TURN: Final = 0.25
_REST: Final = 1.5


def served_now(table: Table, waiting: Sequence[Entry]) -> Sequence[Entry]:
    """Return the pending entries that may be placed in this round."""
    now = time.time()
    if table.has("warms-up") and now - table.since < _WARM_AFTER:
        return ()
    if table.has("pauses") and now % (_WORK + _PAUSE) >= _WORK:
        return ()
    if table.has("by-turns") and waiting:
        numbers = sorted({_number(entry) for entry in waiting})
        turn = numbers[int(now / _TURN) % len(numbers)]
        return [entry for entry in waiting if _number(entry) == turn]
    return waiting


def usable_from(table: Table) -> float:
    """Return the time from which a node is used that can be used from now on."""
    return time.time() + _REST if table.has("nodes-rest") else 0.0


def _number(entry: Entry) -> int:
    return -1 if entry.application is None else entry.application.number
