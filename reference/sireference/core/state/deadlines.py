"""Deadlines of all registrations: the next one in logarithmic time."""

from itertools import takewhile

from sortedcontainers import SortedList

from sireference.core.state.resource_manager import ResourceManager


class Deadlines:
    """The next deadline of each registration; changes and lookups take logarithmic time."""

    __slots__ = ("_changed", "_entries", "_held", "_sorted")

    def __init__(self) -> None:
        self._changed: dict[ResourceManager, None] = {}  # their entries may be outdated
        self._entries: dict[ResourceManager, tuple[float, int, ResourceManager]] = {}
        self._held: set[str] = set()  # ids of resource managers
        # deadline, then the unique number of the registration
        self._sorted: SortedList[tuple[float, int, ResourceManager]] = SortedList()

    def changed(self, rm: ResourceManager) -> None:
        """Mark the next deadline of ``rm`` as possibly changed."""
        self._changed[rm] = None

    def hold(self, rm: ResourceManager) -> None:
        """Suspend the deadlines of ``rm`` and of its later registrations until ``go_on``."""
        self._held.add(rm.rm_id)
        self._remove(rm)

    def go_on(self, rm_id: str, rm: ResourceManager | None) -> None:
        """Resume the deadlines of ``rm``, the current registration of that id."""
        self._held.discard(rm_id)
        if rm is not None:
            self.changed(rm)

    def forget(self, rm: ResourceManager) -> None:
        """Ignore all deadlines of ``rm`` from now on."""
        self._changed.pop(rm, None)
        self._remove(rm)

    def _remove(self, rm: ResourceManager) -> None:
        entry = self._entries.pop(rm, None)
        if entry is not None:
            self._sorted.remove(entry)

    def next(self) -> float | None:
        """Return the earliest, None without any."""
        self._update()
        return self._sorted[0][0] if self._sorted else None

    def due(self, now: float) -> list[ResourceManager]:
        """Yield the registrations whose deadline is due, in order of registration."""
        self._update()
        due = takewhile(lambda entry: entry[0] <= now, self._sorted)
        return sorted((rm for _, _, rm in due), key=lambda rm: rm.number)

    def _update(self) -> None:
        for rm in [rm for rm in self._changed if rm.rm_id not in self._held]:
            del self._changed[rm]
            deadline, entry = rm.timers.next_deadline(), self._entries.get(rm)
            if entry is not None and entry[0] == deadline:
                continue
            self._remove(rm)
            if deadline is not None:
                self._entries[rm] = entry = (deadline, rm.number, rm)
                self._sorted.add(entry)
