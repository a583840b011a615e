"""Which streams an RM spoke on since their last fence, and the fences on them.

A stream needs none where all that was said on it created something and was accepted: that is an
answer behind which nothing is under way. So it is only with names that are said for the first time,
whose acceptance cannot be that of an earlier bearer.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial

from siconform.expecting.link import Link
from siconform.outcomes import PreconditionFailed, TargetLost
from siconform.protocol.notifications import ApplicationAccepted, Fact, NodeAccepted, UpdateKind
from siconform.protocol.requests import Action, ApplicationRequest, NodeRequest, Request

_CREATIONS = (Action.CREATE, Action.CREATE_DRAINING)


@dataclass
class _Sent:
    """What was said on one stream since its last fence."""

    since: int  # index of the history
    awaited: set[Fact] = field(default_factory=set)  # acceptances
    has_answers: bool = True  # whether an acceptance is awaited for every request


class Synchronisation:
    """Fences the streams of one RM; ``alive`` is whether the target is still there."""

    def __init__(self, link: Link, alive: Callable[[], bool]) -> None:
        self._link = link
        self._alive = alive
        self._unfenced: dict[UpdateKind, _Sent] = {}
        self._names: set[Fact] = set()  # acceptances of everything that was ever created
        self._has_confirmed = False  # by itself, since the last fence

    def barriers(self, kind: UpdateKind) -> None:
        """Return once everything said on the stream of this kind was processed."""
        self._unfenced.pop(kind, None)
        self.raise_barrier(kind)

    def synchronise_all(self) -> None:
        """Fence every stream that was spoken on since its last fence.

        What came until now is confirmed before, where the RM does that by itself.
        """
        with self._link.connection.hearing:
            if self._has_confirmed:
                self._sent_on(UpdateKind.ALLOCATIONS).has_answers = False
            self._has_confirmed = False
        self.synchronise_all_but()

    def synchronise_all_but(self, kinds: AbstractSet[UpdateKind] = frozenset()) -> None:
        """Fence the streams a test spoke on since their last fence, except these."""
        for kind in sorted(self._unfenced.keys() - kinds, key=lambda k: k.value):
            if self.needs_barrier(kind):
                self.barriers(kind)

    def raise_barrier(self, kind: UpdateKind) -> None:
        """Send a fence, whatever was said since the last one."""
        self._guarded(partial(self._link.barriers.raise_on, kind))

    def has_sent(self, requests: Sequence[Request], since: int) -> None:
        """Something was said on these streams; the history was this long before."""
        for request in requests:
            sent = self._sent_on(request.kind, since)
            acceptance = _acceptance(request)
            if acceptance is None or acceptance in self._names:
                sent.has_answers = False
            else:
                self._names.add(acceptance)
                sent.awaited.add(acceptance)

    def has_confirmed(self) -> None:
        """The RM confirmed something by itself."""
        self._has_confirmed = True

    def needs_barrier(self, kind: UpdateKind) -> bool:
        """Whether anything said on the stream of this kind may not have been processed yet."""
        sent = self._unfenced.get(kind)
        if sent is not None and sent.has_answers and self._is_accepted(sent):
            del self._unfenced[kind]
        return kind in self._unfenced

    def forgets(self) -> None:
        """Whatever was said went to streams that are no more."""
        self._unfenced.clear()

    def is_something_under_way(self) -> bool:
        """Whether the RM said anything that is not known to have been processed."""
        return self._has_confirmed or bool(self._unfenced)

    def _sent_on(self, kind: UpdateKind, since: int = 0) -> _Sent:
        return self._unfenced.setdefault(kind, _Sent(since))

    def _is_accepted(self, sent: _Sent) -> bool:
        connection = self._link.connection
        received = connection.history.since(sent.since)
        accepted = {
            entry.content
            for entry in received
            if isinstance(entry.content, (NodeAccepted, ApplicationAccepted))
            and entry.rm == connection.rm_id
        }
        return sent.awaited <= accepted

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except PreconditionFailed as lost:
            if not self._alive():
                raise TargetLost(f"the target died: {lost.message}") from lost
            raise


def _acceptance(request: Request) -> Fact | None:
    """What answers a request that creates something, if it is accepted."""
    match request:
        case NodeRequest(node=node, action=action) if action in _CREATIONS:
            return NodeAccepted(node)
        case ApplicationRequest(application=application):
            return ApplicationAccepted(application)
        case _:
            return None
