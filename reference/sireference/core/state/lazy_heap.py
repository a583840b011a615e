"""A heap whose order changes constantly and is corrected on access."""

import heapq
from typing import Generic, Protocol, TypeVar

SortKey = tuple[float, ...]
"""A sort key, the lowest first. The last number distinguishes members."""


class Member(Protocol):
    """A member of a heap."""

    sort_key: SortKey | None  # under which it is in the heap, None while it is not

    def next_sort_key(self) -> SortKey | None:
        """Return its current sort key, None if it has nothing to serve."""


Kind = TypeVar("Kind", bound=Member)


class LazyHeap(Generic[Kind]):
    """Members of one kind: ask groups of an application, applications of a leaf, sibling queues.

    Call ``update`` for a member whose sort key may have decreased. An increased sort key needs no
    call: it is found when the member would be first. So a change costs at most the logarithm of the
    number of members, however their order is defined. At most half of the entries are outdated.
    """

    __slots__ = ("_count", "_heap", "_stale", "_updated")

    def __init__(self) -> None:
        self._heap: list[tuple[SortKey, int, Kind]] = []
        self._updated: dict[Kind, None] = {}  # since the last access to the first
        self._count = 0
        self._stale = 0  # entries of the heap that are outdated

    def update(self, member: Kind) -> bool:
        """Mark ``member`` as possibly having a lower sort key; return whether that is new."""
        if member in self._updated:
            return False
        self._updated[member] = None
        return True

    def update_all(self) -> None:
        """Mark all members as possibly having a lower sort key."""
        entries = self._heap
        self._updated.update((entry[2], None) for entry in entries if entry[0] is entry[2].sort_key)

    def remove(self, member: Kind) -> None:
        """Remove ``member``, which has nothing to serve."""
        self._updated.pop(member, None)
        self._take_back(member)

    def first(self) -> Kind | None:
        """Return the member with the lowest sort key, None when there is nothing to serve."""
        if self._updated:
            for member in self._updated:
                self._place(member, member.next_sort_key())
            self._updated.clear()
        heap = self._heap
        while heap:
            sort_key, _, member = heap[0]
            if sort_key is not member.sort_key:  # it has moved or left
                heapq.heappop(heap)
                self._stale -= 1
                continue
            now = member.next_sort_key()
            if now == sort_key or (now is not None and len(heap) == 1):
                return member
            heapq.heappop(heap)
            member.sort_key = None
            self._place(member, now)
            if heap and heap[0][0] is member.sort_key:  # it is still the first
                return member
        return None

    def top(self) -> Kind:
        """Return the last result of ``first``."""
        return self._heap[0][2]

    def _place(self, member: Kind, sort_key: SortKey | None) -> None:
        if sort_key is None or sort_key == member.sort_key:
            return
        self._take_back(member)
        self._count += 1
        member.sort_key = sort_key
        heapq.heappush(self._heap, (sort_key, self._count, member))

    def _take_back(self, member: Kind) -> None:
        """Mark the entry of ``member``, if any, as outdated."""
        if member.sort_key is None:
            return
        member.sort_key = None
        self._stale += 1
        if 2 * self._stale > len(self._heap):
            self._heap[:] = (entry for entry in self._heap if entry[0] is entry[2].sort_key)
            heapq.heapify(self._heap)
            self._stale = 0
