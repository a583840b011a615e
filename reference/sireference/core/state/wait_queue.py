"""Wait queues: who waits for one thing to change, in buckets of which one member is let go first.

Those who need the same and are served in the same order wait in one bucket. When something has
changed for them, the member of the bucket that would be served first is notified; once it was
served or turned away the next one is, for as long as it still may go. So a change costs what comes
of it, however many wait in a bucket.

Who is notified goes on waiting until it would be served, and stays if it may not go any more by
then. So a bucket that others were quicker than costs two looks at its first member.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from sireference.core.resources import Resource
from sireference.core.state.lazy_heap import LazyHeap, SortKey
from sireference.core.state.need_index import NeedIndex
from sireference.core.state.wait_reason import WaitReason


class Lane(Protocol):
    """Where those are served one after the other who wait in one bucket: a leaf queue."""

    @property
    def sort_basis(self) -> tuple[object, ...]:
        """What the sort keys rest on besides their owners, to see whether it has changed."""

    def changed(self, bucket: "Bucket[Any]") -> None:
        """Have ``bucket.notify_first()`` called before somebody is chosen to be served."""


class Waiter(Protocol):
    """What a wait queue knows of those who wait in it."""

    @property
    def profile(self) -> Hashable:
        """What those have in common for whom a change matters alike."""

    @property
    def lane(self) -> Lane:
        """Where it is served."""

    @property
    def need(self) -> Resource:
        """The room it needs."""

    def sort_key_in_lane(self) -> SortKey | None:
        """When it would be served, the lowest first; None if it has nothing to be served."""

    def wake(self) -> None:
        """End the wait: it is worth a look now."""

    def notify(self) -> None:
        """Have it looked at when it would be served, if it still may go then."""


W = TypeVar("W", bound=Waiter)


def never(_: Waiter) -> bool:
    """Notify nobody: who changes something wakes those it concerns."""
    return False


class WaitQueue(Generic[W]):
    """Those who wait for the same thing to change.

    ``reason`` says what that is; ``may_go`` whether it has changed for one of them. Only with
    ``needs`` are they notified by what they need. With ``is_gate`` they are held back by what their
    application is and has: `Application.moved` wakes them.
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
        """``waiter`` waits here."""
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
        """``waiter`` does not wait here any more."""
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

    def wake_those_that_may_go(self) -> None:
        """Something has changed: who may go now waits no more."""
        for waiter in [waiter for waiter in self if self.may_go(waiter)]:
            waiter.wake()

    def notify(self, profile: Hashable) -> None:
        """Something has changed for those of this profile."""
        for bucket in self._buckets.get(profile, {}).values():
            bucket.changed()

    def notify_all(self) -> None:
        """Something has changed for all."""
        for profile in self._buckets:
            self.notify(profile)

    def notify_those(self, serves: Callable[[Resource], bool]) -> None:
        """Something has changed for those whose need ``serves``, and for any smaller need."""
        if self._needs is not None:
            for profile in self._needs.served_by(serves):
                self.notify(profile)

    def notify_next(self, waiter: W) -> None:
        """``waiter`` was notified and had its chance: now whoever is first in its bucket."""
        bucket = self._buckets.get(waiter.profile, {}).get(waiter.lane)
        if bucket is not None:
            bucket.changed()

    def moved_up(self, waiter: W) -> None:
        """``waiter``, which waits here, may have got a lower sort key."""
        self._buckets[waiter.profile][waiter.lane].moved_up(waiter)


class Bucket(Generic[W]):
    """Those of one profile who are served in one lane."""

    __slots__ = ("_lane", "_order", "_places", "_sort_basis", "_wait_queue")

    def __init__(self, lane: Lane, wait_queue: WaitQueue[W]) -> None:
        self._lane = lane
        self._wait_queue = wait_queue
        self._places: dict[W, _Place[W]] = {}
        self._order: LazyHeap[_Place[W]] = LazyHeap()
        self._sort_basis = lane.sort_basis

    def add(self, waiter: W) -> None:
        """``waiter`` waits in here."""
        self._places[waiter] = place = _Place(waiter)
        self._order.update(place)

    def discard(self, waiter: W) -> None:
        """``waiter`` waits in here no more."""
        self._order.remove(self._places.pop(waiter))

    def moved_up(self, waiter: W) -> None:
        """``waiter`` may have got a lower sort key."""
        self._order.update(self._places[waiter])
        self.changed()

    def changed(self) -> None:
        """Have the first one notified before somebody is chosen to be served."""
        self._lane.changed(self)

    def notify_first(self) -> None:
        """Notify the one that would be served first, if it may go."""
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
    """The place of one who waits in the order of a bucket."""

    __slots__ = ("sort_key", "waiter")

    def __init__(self, waiter: W) -> None:
        self.waiter = waiter
        self.sort_key: SortKey | None = None

    def next_sort_key(self) -> SortKey | None:
        """When it would be served."""
        return self.waiter.sort_key_in_lane()
