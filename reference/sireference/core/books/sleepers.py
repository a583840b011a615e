"""Sleepers: lines that wait for one thing to change, in rows of which one line is called at a time.

Lines of one leaf that need the same stand in one row. When something has changed for them, the line
whose turn it would be is called; once it was served or turned away, the next one is, for as long as
it still may go. So a change costs what comes of it, however long a row is.

Who is called goes on sleeping until its turn comes, and is not woken if it may not go any more by
then. So a row that others were quicker than costs two looks at its first line.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sireference.core.books.needs import Needs
from sireference.core.books.turns import Turn, Turns
from sireference.core.resources import Resource

if TYPE_CHECKING:
    from sireference.core.books.pending import Line, Outlook, Shape
    from sireference.core.books.queue import Queue


def until_woken(_: "Line") -> bool:
    """Nobody is called; who changes something wakes those it concerns."""
    return False


class Sleepers:
    """Lines that wait for the same place to change.

    ``outlook`` says for what; ``may_go`` whether it has changed for a line. Only with ``needs``
    are they called by what they need. At a gate they are held back by what their application is and
    has: `Application.moved` wakes them.
    """

    __slots__ = ("_needs", "_rows", "is_gate", "may_go", "outlook")

    def __init__(
        self,
        outlook: "Outlook",
        may_go: "Callable[[Line], bool]" = until_woken,
        needs: Needs | None = None,
        *,
        is_gate: bool = False,
    ) -> None:
        self.outlook = outlook
        self.may_go = may_go
        self._needs = needs
        self.is_gate = is_gate
        self._rows: dict[Shape, dict[Queue, Row]] = {}

    def add(self, line: "Line") -> None:
        """``line`` sleeps here."""
        leaf = line.application.leaf
        rows = self._rows.get(line.shape)
        if rows is None:
            rows = self._rows[line.shape] = {}
            if self._needs is not None:
                self._needs.add(line.shape, line.need)
        if leaf not in rows:
            rows[leaf] = Row(leaf, self)
        rows[leaf].add(line)

    def discard(self, line: "Line") -> None:
        """``line`` does not sleep here any more."""
        leaf, rows = line.application.leaf, self._rows[line.shape]
        rows[leaf].discard(line)
        if not rows[leaf]:
            del rows[leaf]
        if not rows:
            del self._rows[line.shape]
            if self._needs is not None:
                self._needs.discard(line.shape)

    def __iter__(self) -> "Iterator[Line]":
        for rows in self._rows.values():
            for row in rows.values():
                yield from row

    def call(self, shape: "Shape") -> None:
        """Something has changed for the lines of this shape."""
        for row in self._rows.get(shape, {}).values():
            row.call()

    def call_all(self) -> None:
        """Something has changed for all."""
        for shape in self._rows:
            self.call(shape)

    def call_those(self, serves: "Callable[[Resource], bool]") -> None:
        """Something has changed for those whose need it ``serves``, and for any smaller need."""
        if self._needs is not None:
            for shape in self._needs.served_by(serves):
                self.call(shape)

    def call_next(self, line: "Line") -> None:
        """``line`` was called and had its chance: now whoever is first in its row."""
        row = self._rows.get(line.shape, {}).get(line.application.leaf)
        if row is not None:
            row.call()

    def moved_up(self, line: "Line") -> None:
        """``line``, which sleeps here, may have got an earlier turn."""
        self._rows[line.shape][line.application.leaf].moved_up(line)


class Row:
    """Sleeping lines of one leaf and one shape."""

    __slots__ = ("_basis", "_bed", "_leaf", "_places", "_turns")

    def __init__(self, leaf: "Queue", bed: Sleepers) -> None:
        self._leaf = leaf
        self._bed = bed
        self._places: dict[Line, _Place] = {}
        self._turns: Turns[_Place] = Turns()
        self._basis = leaf.basis

    def add(self, line: "Line") -> None:
        """One more."""
        self._places[line] = place = _Place(line)
        self._turns.join(place)

    def discard(self, line: "Line") -> None:
        """One less."""
        self._turns.leave(self._places.pop(line))

    def moved_up(self, line: "Line") -> None:
        """``line`` may have got an earlier turn."""
        self._turns.join(self._places[line])
        self.call()

    def call(self) -> None:
        """Let the first be called before the next line is chosen, if it may go then."""
        self._leaf.root.calls[self] = None

    def call_first(self) -> None:
        """Call the line whose turn it would be, if it may go."""
        if not self._places:
            return  # its leaf may be gone as well
        if self._basis != self._leaf.basis:
            self._basis = self._leaf.basis
            for each in self._places.values():
                self._turns.join(each)
        place = self._turns.first()
        if place is not None and self._bed.may_go(place.line):
            place.line.application.call(place.line)

    def __iter__(self) -> "Iterator[Line]":
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _Place:
    """The place of a line in a row; its turn is that of its application, then that of its ask."""

    __slots__ = ("line", "priority", "turn")

    def __init__(self, line: "Line") -> None:
        self.line = line
        self.turn: Turn | None = None
        self.priority = 0

    def next_turn(self) -> Turn | None:
        """The turn in the row, None if nobody stands in the line."""
        first = self.line.first()
        if first is None:
            return None
        application, self.priority = self.line.application, first.ask.priority
        return (*application.leaf.turn_of(application, self.priority), *first.order)
