"""Sleepers: lines that wait for one thing to change, in rows of which one line is called at a time.

Lines of one leaf that need the same stand in one row. When something has changed for them, the line
whose turn it would be is called; once it was served or turned away, the next one is, for as long as
it still may go. So a change costs what comes of it, however long a row is.

Who is called goes on sleeping until its turn comes, and is not woken if it may not go any more by
then. So a row that others were quicker than costs two looks at its first line.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sireference.core.resources import Resource
from sireference.core.state.lazy_heap import LazyHeap, SortKey
from sireference.core.state.needs import Needs

if TYPE_CHECKING:
    from sireference.core.state.ask_group import AskGroup, PlacementProfile, WaitReason
    from sireference.core.state.queue import Queue


def never(_: "AskGroup") -> bool:
    """Nobody is called; who changes something wakes those it concerns."""
    return False


class WaitQueue:
    """Lines that wait for the same place to change.

    ``outlook`` says for what; ``may_go`` whether it has changed for a line. Only with ``needs``
    are they called by what they need. At a gate they are held back by what their application is and
    has: `Application.moved` wakes them.
    """

    __slots__ = ("_needs", "_rows", "is_gate", "may_go", "wait_reason")

    def __init__(
        self,
        wait_reason: "WaitReason",
        may_go: "Callable[[AskGroup], bool]" = never,
        needs: Needs | None = None,
        *,
        is_gate: bool = False,
    ) -> None:
        self.wait_reason = wait_reason
        self.may_go = may_go
        self._needs = needs
        self.is_gate = is_gate
        self._rows: dict[PlacementProfile, dict[Queue, Bucket]] = {}

    def add(self, ask_group: "AskGroup") -> None:
        """``line`` sleeps here."""
        leaf = ask_group.application.leaf
        rows = self._rows.get(ask_group.profile)
        if rows is None:
            rows = self._rows[ask_group.profile] = {}
            if self._needs is not None:
                self._needs.add(ask_group.profile, ask_group.need)
        if leaf not in rows:
            rows[leaf] = Bucket(leaf, self)
        rows[leaf].add(ask_group)

    def discard(self, ask_group: "AskGroup") -> None:
        """``line`` does not sleep here any more."""
        leaf, rows = ask_group.application.leaf, self._rows[ask_group.profile]
        rows[leaf].discard(ask_group)
        if not rows[leaf]:
            del rows[leaf]
        if not rows:
            del self._rows[ask_group.profile]
            if self._needs is not None:
                self._needs.discard(ask_group.profile)

    def __iter__(self) -> "Iterator[AskGroup]":
        for rows in self._rows.values():
            for row in rows.values():
                yield from row

    def notify(self, profile: "PlacementProfile") -> None:
        """Something has changed for the lines of this shape."""
        for row in self._rows.get(profile, {}).values():
            row.notify()

    def notify_all(self) -> None:
        """Something has changed for all."""
        for profile in self._rows:
            self.notify(profile)

    def notify_those(self, serves: "Callable[[Resource], bool]") -> None:
        """Something has changed for those whose need it ``serves``, and for any smaller need."""
        if self._needs is not None:
            for profile in self._needs.served_by(serves):
                self.notify(profile)

    def notify_next(self, ask_group: "AskGroup") -> None:
        """``line`` was called and had its chance: now whoever is first in its row."""
        row = self._rows.get(ask_group.profile, {}).get(ask_group.application.leaf)
        if row is not None:
            row.notify()

    def moved_up(self, ask_group: "AskGroup") -> None:
        """``line``, which sleeps here, may have got an earlier turn."""
        self._rows[ask_group.profile][ask_group.application.leaf].moved_up(ask_group)


class Bucket:
    """Sleeping lines of one leaf and one shape."""

    __slots__ = ("_basis", "_leaf", "_order", "_places", "_wait_queue")

    def __init__(self, leaf: "Queue", wait_queue: WaitQueue) -> None:
        self._leaf = leaf
        self._wait_queue = wait_queue
        self._places: dict[AskGroup, _Place] = {}
        self._order: LazyHeap[_Place] = LazyHeap()
        self._basis = leaf.basis

    def add(self, ask_group: "AskGroup") -> None:
        """One more."""
        self._places[ask_group] = place = _Place(ask_group)
        self._order.join(place)

    def discard(self, ask_group: "AskGroup") -> None:
        """One less."""
        self._order.leave(self._places.pop(ask_group))

    def moved_up(self, ask_group: "AskGroup") -> None:
        """``line`` may have got an earlier turn."""
        self._order.join(self._places[ask_group])
        self.notify()

    def notify(self) -> None:
        """Let the first be called before the next line is chosen, if it may go then."""
        self._leaf.root.notified_buckets[self] = None

    def notify_first(self) -> None:
        """Call the line whose turn it would be, if it may go."""
        if not self._places:
            return  # its leaf may be gone as well
        if self._basis != self._leaf.basis:
            self._basis = self._leaf.basis
            for each in self._places.values():
                self._order.join(each)
        place = self._order.first()
        if place is not None and self._wait_queue.may_go(place.ask_group):
            place.ask_group.application.notify(place.ask_group)

    def __iter__(self) -> "Iterator[AskGroup]":
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _Place:
    """The place of a line in a row; its turn is that of its application, then that of its ask."""

    __slots__ = ("ask_group", "priority", "sort_key")

    def __init__(self, ask_group: "AskGroup") -> None:
        self.ask_group = ask_group
        self.sort_key: SortKey | None = None
        self.priority = 0

    def next_sort_key(self) -> SortKey | None:
        """The turn in the row, None if nobody stands in the line."""
        first = self.ask_group.first()
        if first is None:
            return None
        application, self.priority = self.ask_group.application, first.ask.priority
        return (*application.leaf.sort_key_of(application, self.priority), *first.order)
