"""A heap whose order changes all the time, and which finds that out when it is asked."""

import heapq
from typing import Generic, Protocol, TypeVar

SortKey = tuple[float, ...]
"""The place in an order, the lowest first. The last of the numbers tells members apart."""


class Member(Protocol):
    """What a heap knows of its members."""

    sort_key: SortKey | None  # under which it is in the heap, None while it is not

    def next_sort_key(self) -> SortKey | None:
        """Its sort key as things are, None if it has nothing to be served."""


Kind = TypeVar("Kind", bound=Member)


class LazyHeap(Generic[Kind]):
    """Members of one kind: ask groups of an application, applications of a leaf, sibling queues.

    Of a member whose sort key may be lower than before, the heap is told by ``update``. One whose
    sort key is higher need not be told of: that is found out when it would be the first. So a
    change costs no more than the logarithm of the number of members, whatever their order is made
    of. No more than half of the entries of the heap are those of nobody.
    """

    __slots__ = ("_count", "_heap", "_stale", "_updated")

    def __init__(self) -> None:
        self._heap: list[tuple[SortKey, int, Kind]] = []
        self._updated: dict[Kind, None] = {}  # since somebody asked for the first
        self._count = 0
        self._stale = 0  # entries of the heap that are nobody's any more

    def update(self, member: Kind) -> bool:
        """``member`` may have something to be served, or a lower sort key; whether that is news."""
        if member in self._updated:
            return False
        self._updated[member] = None
        return True

    def update_all(self) -> None:
        """Any member may have a lower sort key."""
        entries = self._heap
        self._updated.update((entry[2], None) for entry in entries if entry[0] is entry[2].sort_key)

    def remove(self, member: Kind) -> None:
        """Take ``member`` out, which has nothing to be served."""
        self._updated.pop(member, None)
        self._take_back(member)

    def first(self) -> Kind | None:
        """The member with the lowest sort key, None when there is nothing to be served."""
        if self._updated:
            for member in self._updated:
                self._place(member, member.next_sort_key())
            self._updated.clear()
        heap = self._heap
        while heap:
            sort_key, _, member = heap[0]
            if sort_key is not member.sort_key:  # it is elsewhere, or not in here
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
        """What ``first`` gave the last time."""
        return self._heap[0][2]

    def _place(self, member: Kind, sort_key: SortKey | None) -> None:
        if sort_key is None or sort_key == member.sort_key:
            return
        self._take_back(member)
        self._count += 1
        member.sort_key = sort_key
        heapq.heappush(self._heap, (sort_key, self._count, member))

    def _take_back(self, member: Kind) -> None:
        """The entry of ``member``, if it has one, is nobody's any more."""
        if member.sort_key is None:
            return
        member.sort_key = None
        self._stale += 1
        if 2 * self._stale > len(self._heap):
            self._heap[:] = (entry for entry in self._heap if entry[0] is entry[2].sort_key)
            heapq.heapify(self._heap)
            self._stale = 0
