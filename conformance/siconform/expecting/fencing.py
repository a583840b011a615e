"""Which streams an RM spoke on since their last fence, and the fences on them."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import partial

from siconform.expecting.link import Link
from siconform.outcomes import PremiseLost, TargetLost
from siconform.protocol.notifications import UpdateKind


class Fencing:
    """Fences the streams of one RM; ``alive`` is whether the target is still there."""

    def __init__(self, link: Link, alive: Callable[[], bool]) -> None:
        self._link = link
        self._alive = alive
        self._unfenced: set[UpdateKind] = set()
        self._has_confirmed = False  # by itself, since the last fence

    def fences(self, kind: UpdateKind) -> None:
        """Return once everything said on the stream of this kind was processed."""
        self._unfenced.discard(kind)
        self.raises_fence(kind)

    def fences_all(self) -> None:
        """Fence every stream that was spoken on since its last fence.

        What came until now is confirmed before, where the RM does that by itself.
        """
        with self._link.connection.hearing:
            if self._has_confirmed:
                self._unfenced.add(UpdateKind.ALLOCATIONS)
            self._has_confirmed = False
        self.fences_all_but()

    def fences_all_but(self, kinds: AbstractSet[UpdateKind] = frozenset()) -> None:
        """Fence the streams a test spoke on since their last fence, except these."""
        for kind in sorted(self._unfenced - kinds, key=lambda k: k.value):
            self.fences(kind)

    def raises_fence(self, kind: UpdateKind) -> None:
        """Send a fence, whatever was said since the last one."""
        self._guarded(partial(self._link.fences.raise_on, kind))

    def spoke_on(self, kinds: AbstractSet[UpdateKind]) -> None:
        """Something was said on the streams of these kinds."""
        self._unfenced |= kinds

    def has_confirmed(self) -> None:
        """The RM confirmed something by itself."""
        self._has_confirmed = True

    def needs_fence(self, kind: UpdateKind) -> bool:
        """Whether something was said on the stream of this kind since its last fence."""
        return kind in self._unfenced

    def forgets(self) -> None:
        """Whatever was said went to streams that are no more."""
        self._unfenced.clear()

    def is_something_under_way(self) -> bool:
        """Whether the RM said anything that is not known to have been processed."""
        return self._has_confirmed or bool(self._unfenced)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except PremiseLost as lost:
            if not self._alive():
                raise TargetLost(f"the target died: {lost.says}") from lost
            raise
