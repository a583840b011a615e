"""Tracks which streams an RM used since their last barrier, and raises the barriers due.

A stream needs no barrier if every request on it created an object with a new name and was accepted:
after the acceptance nothing is in flight. A reused name does not count, because the acceptance may
be that of its earlier object.
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
    """What was sent on one stream since its last barrier."""

    since: int  # index of the history
    awaited: set[Fact] = field(default_factory=set)  # acceptances
    has_answers: bool = True  # whether every request has an acceptance


class Synchronisation:
    """Barriers on the streams of one RM; ``alive`` returns whether the target is running."""

    def __init__(self, link: Link, alive: Callable[[], bool]) -> None:
        self._link = link
        self._alive = alive
        self._unsynchronised: dict[UpdateKind, _Sent] = {}
        self._names: set[Fact] = set()  # acceptances of everything ever created
        self._has_confirmed = False  # automatically, since the last barrier
        self._answered_at: dict[UpdateKind, tuple[int, float]] = {}  # positions of last barriers

    def barriers(self, kind: UpdateKind) -> None:
        """Return when everything sent on the stream of this kind is processed."""
        self._unsynchronised.pop(kind, None)
        self.raise_barrier(kind)

    def synchronise_all(self) -> None:
        """Raise a barrier on every stream used since its last barrier.

        Automatic confirmations of what was received so far are sent first.
        """
        with self._link.connection.receive_lock:
            if self._has_confirmed:
                self._sent_on(UpdateKind.ALLOCATIONS).has_answers = False
            self._has_confirmed = False
        self.synchronise_all_but()

    def synchronise_all_but(self, kinds: AbstractSet[UpdateKind] = frozenset()) -> None:
        """Raise a barrier on the streams used since their last barrier, except these."""
        for kind in sorted(self._unsynchronised.keys() - kinds, key=lambda k: k.value):
            if self.needs_barrier(kind):
                self.barriers(kind)

    def raise_barrier(self, kind: UpdateKind) -> None:
        """Raise a barrier, unless nothing happened and no time passed since the last on the stream.

        What happened on other streams counts: it may have consequences on this one.
        """
        if self._answered_at.get(kind) != self._position():
            self._guarded(partial(self._link.barriers.raise_on, kind))
            self._answered_at[kind] = self._position_of_answer()

    def has_sent(self, requests: Sequence[Request], since: int) -> None:
        """Note requests sent on these streams, and the length of the history before them."""
        for request in requests:
            sent = self._sent_on(request.kind, since)
            acceptance = _acceptance(request)
            if acceptance is None or acceptance in self._names:
                sent.has_answers = False
            else:
                self._names.add(acceptance)
                sent.awaited.add(acceptance)

    def has_confirmed(self) -> None:
        """Note that the RM confirmed something automatically."""
        self._has_confirmed = True

    def needs_barrier(self, kind: UpdateKind) -> bool:
        """Return whether a request on the stream of this kind may still be unprocessed."""
        sent = self._unsynchronised.get(kind)
        if sent is not None and sent.has_answers and self._is_accepted(sent):
            del self._unsynchronised[kind]
        return kind in self._unsynchronised

    def forgets(self) -> None:
        """Forget what was sent: its streams no longer exist."""
        self._unsynchronised.clear()
        self._answered_at.clear()

    def is_something_under_way(self) -> bool:
        """Return whether any request is not known to be processed."""
        return self._has_confirmed or bool(self._unsynchronised)

    def _position(self) -> tuple[int, float]:
        """Return the length of the history, and the time on the target's clock."""
        history = self._link.connection.history
        return len(history), history.moment()

    def _position_of_answer(self) -> tuple[int, float]:
        """Return the position after the last entry of a barrier: something may have followed it."""
        length, moment = self._position()
        history = self._link.connection.history
        while length and not history[length - 1].barrier:
            length -= 1
        return length, moment

    def _sent_on(self, kind: UpdateKind, since: int = 0) -> _Sent:
        return self._unsynchronised.setdefault(kind, _Sent(since))

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
    """Return the acceptance of a request that creates something, or None."""
    match request:
        case NodeRequest(node=node, action=action) if action in _CREATIONS:
            return NodeAccepted(node)
        case ApplicationRequest(application=application):
            return ApplicationAccepted(application)
        case _:
            return None
