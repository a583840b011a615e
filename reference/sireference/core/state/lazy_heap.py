"""Turns: those who may be served, and whose turn it is, in an order that changes all the time."""

import heapq
from typing import Generic, Protocol, TypeVar

SortKey = tuple[float, ...]
"""The place in the order, the lowest first. The last of the numbers tells members apart."""


class Member(Protocol):
    """Who may be served."""

    sort_key: SortKey | None  # under which it stands among its siblings, None while it does not
    priority: int  # of the ask it would have served

    def next_sort_key(self) -> SortKey | None:
        """Its turn as things are, None if it has nothing to be served."""


Kind = TypeVar("Kind", bound=Member)


class LazyHeap(Generic[Kind]):
    """Members of one kind: the lines of an application, the applications of a leaf, sibling queues.

    Who may have got an earlier turn joins, again if need be. Who got a later one needs not say so:
    that is found out when its turn would come. So a turn costs no more than the logarithm of the
    number of members, whatever their order is made of. Who is gone for good leaves: no more than
    half of the turns that are kept are those of nobody.
    """

    __slots__ = ("_count", "_heap", "_joined", "_stale")

    def __init__(self) -> None:
        self._heap: list[tuple[SortKey, int, Kind]] = []
        self._joined: dict[Kind, None] = {}
        self._count = 0
        self._stale = 0  # in the heap, but the turn of nobody any more

    def join(self, member: Kind) -> bool:
        """``member`` may have something to be served, or may have got an earlier turn; if news."""
        if member in self._joined:
            return False
        self._joined[member] = None
        return True

    def leave(self, member: Kind) -> None:
        """``member`` has nothing to be served."""
        self._joined.pop(member, None)
        self._take_back(member)

    def first(self) -> Kind | None:
        """The member whose turn it is, None when there is nothing to be served."""
        if self._joined:
            for member in self._joined:
                self._place(member, member.next_sort_key())
            self._joined.clear()
        heap = self._heap
        while heap:
            sort_key, _, member = heap[0]
            if sort_key is not member.sort_key:  # it stands elsewhere, or nowhere
                heapq.heappop(heap)
                self._stale -= 1
                continue
            now = member.next_sort_key()
            if now == sort_key:
                return member
            heapq.heappop(heap)
            member.sort_key = None
            self._place(member, now)
            if heap and heap[0][0] is member.sort_key:  # it is still its turn
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
        """The turn of ``member``, if it stands somewhere, is its turn no more."""
        if member.sort_key is None:
            return
        member.sort_key = None
        self._stale += 1
        if 2 * self._stale > len(self._heap):
            self._heap[:] = (entry for entry in self._heap if entry[0] is entry[2].sort_key)
            heapq.heapify(self._heap)
            self._stale = 0
