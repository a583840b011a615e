"""Wait queues: waiters for one change, in buckets of which one member is notified first.

Waiters with the same need and service order share a bucket. After a change, the member of the
bucket that would be served first is notified; once it was served or rejected the next one is, as
long as it can still be placed. So the cost of a change does not depend on the number of waiters in
a bucket.

A notified member goes on waiting until its turn, and stays if it cannot be placed any more by then.
So a bucket that gets nothing costs two checks of its first member.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from sireference.core.resources import Resource
from sireference.core.state.lazy_heap import LazyHeap, SortKey
from sireference.core.state.need_index import NeedIndex
from sireference.core.state.wait_reason import WaitReason


class Lane(Protocol):
    """The service order shared by the waiters of one bucket: a leaf queue."""

    @property
    def sort_basis(self) -> tuple[object, ...]:
        """Return what sort keys depend on besides their owners, to detect changes."""

    def changed(self, bucket: "Bucket[Any]") -> None:
        """Have ``bucket.notify_first()`` called before the next ask is chosen."""


class Waiter(Protocol):
    """A member of a wait queue."""

    @property
    def profile(self) -> Hashable:
        """Return what is common to waiters that a change affects alike."""

    @property
    def lane(self) -> Lane:
        """Return where it is served."""

    @property
    def need(self) -> Resource:
        """Return the capacity it needs."""

    def sort_key_in_lane(self) -> SortKey | None:
        """Return its sort key, the lowest first; None if it has nothing to serve."""

    def wake(self) -> None:
        """End the wait, so that the next pass examines it."""

    def notify(self) -> None:
        """Have it checked at its turn, if it can still be placed then."""


W = TypeVar("W", bound=Waiter)


def never(_: Waiter) -> bool:
    """Notify no waiter: the code that makes the change wakes those concerned."""
    return False


class WaitQueue(Generic[W]):
    """Waiters for the same change.

    ``reason`` names the change; ``may_go`` returns whether it has happened for a waiter. Only with
    ``needs`` are waiters notified by need. With ``is_gate`` they are held back by the state of
    their application: `Application.moved` wakes them.
    """

    __slots__ = ("_buckets", "_needs", "is_gate", "may_go", "reason")

    def __init__(
        self,
        reason: WaitReason,
        may_go: Callable[[W], bool] = never,
        needs: NeedIndex[Hashable] | None = None,
        *,
        is_gate: bool = False,
    ) -> None:
        self.reason = reason
        self.may_go = may_go
        self._needs = needs
        self.is_gate = is_gate
        self._buckets: dict[Hashable, dict[Lane, Bucket[W]]] = {}  # by profile

    def add(self, waiter: W) -> None:
        """Add ``waiter``."""
        lane, profile = waiter.lane, waiter.profile
        buckets = self._buckets.get(profile)
        if buckets is None:
            buckets = self._buckets[profile] = {}
            if self._needs is not None:
                self._needs.add(profile, waiter.need)
        if lane not in buckets:
            buckets[lane] = Bucket(lane, self)
        buckets[lane].add(waiter)

    def discard(self, waiter: W) -> None:
        """Remove ``waiter``."""
        lane, profile = waiter.lane, waiter.profile
        buckets = self._buckets[profile]
        buckets[lane].discard(waiter)
        if not buckets[lane]:
            del buckets[lane]
        if not buckets:
            del self._buckets[profile]
            if self._needs is not None:
                self._needs.discard(profile)

    def __iter__(self) -> Iterator[W]:
        for buckets in self._buckets.values():
            for bucket in buckets.values():
                yield from bucket

    def wake_placeable(self) -> None:
        """Wake all waiters that can be placed now."""
        for waiter in [waiter for waiter in self if self.may_go(waiter)]:
            waiter.wake()

    def notify(self, profile: Hashable) -> None:
        """Notify the waiters of this profile."""
        for bucket in self._buckets.get(profile, {}).values():
            bucket.changed()

    def notify_all(self) -> None:
        """Notify all waiters."""
        for profile in self._buckets:
            self.notify(profile)

    def notify_those(self, serves: Callable[[Resource], bool]) -> None:
        """Notify waiters whose need satisfies ``serves``; it must hold for smaller needs."""
        if self._needs is not None:
            for profile in self._needs.served_by(serves):
                self.notify(profile)

    def notify_next(self, waiter: W) -> None:
        """Notify the next in the bucket of ``waiter``, which had its turn."""
        bucket = self._buckets.get(waiter.profile, {}).get(waiter.lane)
        if bucket is not None:
            bucket.changed()

    def moved_up(self, waiter: W) -> None:
        """Handle a possibly lower sort key of ``waiter``."""
        self._buckets[waiter.profile][waiter.lane].moved_up(waiter)


class Bucket(Generic[W]):
    """Waiters of one profile in one lane."""

    __slots__ = ("_lane", "_order", "_places", "_sort_basis", "_wait_queue")

    def __init__(self, lane: Lane, wait_queue: WaitQueue[W]) -> None:
        self._lane = lane
        self._wait_queue = wait_queue
        self._places: dict[W, _Place[W]] = {}
        self._order: LazyHeap[_Place[W]] = LazyHeap()
        self._sort_basis = lane.sort_basis

    def add(self, waiter: W) -> None:
        """Add ``waiter``."""
        self._places[waiter] = place = _Place(waiter)
        self._order.update(place)

    def discard(self, waiter: W) -> None:
        """Remove ``waiter``."""
        self._order.remove(self._places.pop(waiter))

    def moved_up(self, waiter: W) -> None:
        """Handle a possibly lower sort key of ``waiter``."""
        self._order.update(self._places[waiter])
        self.changed()

    def changed(self) -> None:
        """Have the first one notified before the next ask is chosen."""
        self._lane.changed(self)

    def notify_first(self) -> None:
        """Notify the member that would be served first, if it can be placed."""
        if not self._places:
            return  # its lane may be gone as well
        basis = self._lane.sort_basis
        if self._sort_basis != basis:
            self._sort_basis = basis
            for each in self._places.values():
                self._order.update(each)
        place = self._order.first()
        if place is not None and self._wait_queue.may_go(place.waiter):
            place.waiter.notify()

    def __iter__(self) -> Iterator[W]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _Place(Generic[W]):
    """The place of one waiter in the order of a bucket."""

    __slots__ = ("sort_key", "waiter")

    def __init__(self, waiter: W) -> None:
        self.waiter = waiter
        self.sort_key: SortKey | None = None

    def next_sort_key(self) -> SortKey | None:
        """Return its sort key."""
        return self.waiter.sort_key_in_lane()
