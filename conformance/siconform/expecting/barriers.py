"""Fences: messages with a certain answer, sent behind others to know that those were processed.

They leave nothing behind. Node stream: a node of a partition there is not. Application stream: an
application of one. Allocation stream: an ask for an unknown application. All of these are to be
rejected; where a target was seen to do otherwise, which it may, the fence is something that is
accepted and taken back: a node without capacity, an application, an ask that is withdrawn or, where
that is not confirmed, an allocation.

A rejection shows that what was said before took effect only where it waits its turn. Of nodes and
applications that is found out first: a creation is sent with something to be rejected behind it. A
target that tells the rejection first has the fence that is accepted and taken back.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final

from siwire import Capability

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.waits import WaitClass, waiting
from siconform.outcomes import PreconditionFailed
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
    kind_of,
)
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.recording.history import Entry
from siconform.transport.connection import BARRIER_PREFIX, Connection

BARRIER_RESOURCE: Final = "siconform.fence"
NOTHING: Final = {"memory": 0, "vcore": 0}  # explicit zeros: some targets read "absent" as "any"
_NOWHERE: Final = f"{BARRIER_PREFIX}nowhere"
_HERE: Final = "default"
_CREATIONS: Final = (UpdateKind.NODES, UpdateKind.APPLICATIONS)  # are accepted or rejected
_LOOKS: Final = 3  # whether rejections keep their turn: once it may look so by chance
_ENDINGS: Final = 4  # a stream may end for what was said before the fence; so often it is reopened


@dataclass
class BarrierBehaviour:
    """Whether a target rejects what a fence of this kind begins with; what it never did is open."""

    rejects: dict[UpdateKind, bool] = field(default_factory=dict)
    keeps_turn: dict[UpdateKind, bool] = field(default_factory=dict)  # its rejections do
    confirms_withdrawals: bool | None = None  # of asks that wait for an application; None: unknown


class Barriers:
    """The fences of one connection; ``behaviour`` are shared by all connections to a target."""

    def __init__(
        self,
        connection: Connection,
        deadlines: Deadlines,
        behaviour: BarrierBehaviour | None = None,
    ) -> None:
        self._connection = connection
        self._deadlines = deadlines
        self._numbers = count(1)
        self.behaviour = BarrierBehaviour() if behaviour is None else behaviour

    def are_answered(self, kind: UpdateKind) -> bool:
        """Whether anything but the end of the stream comes of a fence on it."""
        try:
            received = self._is_answered(kind, *self._to_be_rejected(kind))
        except PreconditionFailed:
            return True  # silence says nothing
        return not isinstance(received, StreamEnded)

    def raise_on(self, kind: UpdateKind) -> None:
        """Return once everything sent before on this stream is processed, or PreconditionFailed."""
        if kind in _CREATIONS and kind not in self.behaviour.keeps_turn:
            self.behaviour.keeps_turn[kind] = self._keeps_turn(kind)
        in_turn = self.behaviour.keeps_turn.get(kind, True)
        if in_turn and self.behaviour.rejects.get(kind) is not False and self._is_rejected(kind):
            return
        match kind:
            case UpdateKind.NODES:
                self._node_comes_and_goes(self._closed(), NOTHING)()
            case UpdateKind.APPLICATIONS:
                self._application_comes_and_goes(self._name("application"))()
            case UpdateKind.ALLOCATIONS:
                if self.behaviour.confirms_withdrawals is False or not self._is_withdrawn():
                    self._allocation_comes_and_goes()

    def _is_withdrawn(self) -> bool:
        """Whether an ask that waits for an application is told as ended when it is withdrawn."""
        name = self._name("ask")
        ask, withdrawal = _unowned(name)
        received: Fact
        try:
            received = self._asks_and_waits(
                UpdateKind.ALLOCATIONS, withdrawal, (AskReleased(name),), before=ask
            )
        except PreconditionFailed:
            if self.behaviour.confirms_withdrawals:
                raise
            received = StreamEnded(UpdateKind.ALLOCATIONS)
        self.behaviour.confirms_withdrawals = isinstance(received, AskReleased)
        return self.behaviour.confirms_withdrawals

    def _is_rejected(self, kind: UpdateKind) -> bool:
        """Whether what is to be rejected was; if not, that is known from now on."""
        try:
            received = self._is_answered(kind, *self._to_be_rejected(kind))
        except PreconditionFailed:
            if self.behaviour.rejects.get(kind):
                raise
            received = None
        if isinstance(received, StreamEnded):
            return True  # over and over: nobody is served here
        rejected = isinstance(received, (NodeRejected, ApplicationRejected, AskRejected))
        self.behaviour.rejects[kind] = rejected
        return rejected

    def _keeps_turn(self, kind: UpdateKind) -> bool:
        """Whether what is rejected is so after what was said before it was accepted.

        Where either is not answered in this way nothing is known, and it is taken to be so.
        """
        try:
            return all(self._is_in_turn(kind) for _ in range(_LOOKS))
        except PreconditionFailed:
            return True

    def _is_in_turn(self, kind: UpdateKind) -> bool:
        """Whether it was so this time; PreconditionFailed where that cannot be told."""
        history, start = self._connection.history, len(self._connection.history)
        creation, (accepted, rejected), removal = self._to_be_accepted(kind)
        self._connection.send_all(kind, [creation])
        try:
            received = self._is_answered(kind, *self._to_be_rejected(kind))
            verdict = self._waits(start, (accepted, rejected, StreamEnded(kind)))
        finally:
            self._connection.send_all(kind, [removal])
        if verdict != accepted or not isinstance(received, (NodeRejected, ApplicationRejected)):
            raise PreconditionFailed(
                "a creation was not accepted, or what has no partition not rejected"
            )
        return (
            _first(history.since(start), self._connection.rm_id, (accepted, received)) != received
        )

    def _to_be_accepted(self, kind: UpdateKind) -> tuple[Request, tuple[Fact, Fact], Request]:
        """What to say, its answers, the wanted one first, and what takes it back."""
        name = self._name(kind.value)
        if kind is UpdateKind.NODES:
            node = NodeRequest(name, self._closed(), capacity=NOTHING)
            of_node = NodeAccepted(name), NodeRejected(name)
            return node, of_node, NodeRequest(name, Action.DECOMMISSION)
        application = ApplicationRequest(name, "root.plain", _HERE, user="fence")
        of_application = ApplicationAccepted(name), ApplicationRejected(name)
        return application, of_application, ApplicationRemoval(name, _HERE)

    def _to_be_rejected(self, kind: UpdateKind) -> tuple[Request, tuple[Fact, ...], Request]:
        """What to say, its answers, and what takes it back if it was accepted after all."""
        name = self._name(kind.value)
        match kind:
            case UpdateKind.NODES:
                attributes = {"si/node-partition": _NOWHERE}
                node = NodeRequest(name, self._closed(), NOTHING, attributes=attributes)
                gone = NodeRequest(name, Action.DECOMMISSION)
                return node, (NodeAccepted(name), NodeRejected(name)), gone
            case UpdateKind.APPLICATIONS:
                application = ApplicationRequest(name, "root.plain", _NOWHERE, user="fence")
                removal = ApplicationRemoval(name, _NOWHERE)
                return application, (ApplicationAccepted(name), ApplicationRejected(name)), removal
            case UpdateKind.ALLOCATIONS:
                ask, withdrawal = _unowned(name)
                return ask, (AskRejected(name),), withdrawal

    def _is_answered(
        self, kind: UpdateKind, request: Request, answers: tuple[Fact, ...], undo: Request
    ) -> Fact:
        try:
            received = self._asks_and_waits(kind, request, answers)
        except PreconditionFailed:
            self._connection.send_all(kind, [undo])
            raise
        if isinstance(received, (NodeAccepted, ApplicationAccepted)):
            self._connection.send_all(kind, [undo])
        return received

    def _closed(self) -> Action:
        """How a node is created that is for nobody, as far as this revision has words for it."""
        can = self._connection.revision.can(Capability.CREATE_DRAIN)
        return Action.CREATE_DRAINING if can else Action.CREATE

    def _node_comes_and_goes(
        self, creation: Action, capacity: dict[str, int]
    ) -> Callable[[], None]:
        """A node is accepted; what takes it away again."""
        name = self._name("node")
        node = NodeRequest(name, creation, capacity=capacity)
        self._asks_and_waits(UpdateKind.NODES, node, (NodeAccepted(name), NodeRejected(name)))
        gone = NodeRequest(name, Action.DECOMMISSION)
        return partial(self._connection.send_all, UpdateKind.NODES, [gone])

    def _application_comes_and_goes(self, name: str) -> Callable[[], None]:
        """An application is accepted; what takes it away again."""
        new = ApplicationRequest(name, "root.plain", _HERE, user="fence")
        verdicts = (ApplicationAccepted(name), ApplicationRejected(name))
        self._asks_and_waits(UpdateKind.APPLICATIONS, new, verdicts)
        removal = ApplicationRemoval(name, _HERE)
        return partial(self._connection.send_all, UpdateKind.APPLICATIONS, [removal])

    def _allocation_comes_and_goes(self) -> None:
        application, key = self._name("application"), self._name("ask")
        take_back = (
            self._application_comes_and_goes(application),
            self._node_comes_and_goes(Action.CREATE, NOTHING | {BARRIER_RESOURCE: 1}),
        )
        ask = AskRequest(key, application, _HERE, {BARRIER_RESOURCE: 1})
        allocated = self._asks_and_waits(UpdateKind.ALLOCATIONS, ask, (Allocated(key),))
        if isinstance(allocated, Allocated):
            identity = allocated.identity
            one = OneAllocation(application, identity, key)
            release = ReleaseRequest(one, Termination.STOPPED_BY_RM)
            self._asks_and_waits(UpdateKind.ALLOCATIONS, release, (Released(identity=identity),))
        for undo in take_back:
            undo()
        if not isinstance(allocated, Allocated):
            raise PreconditionFailed("the allocation stream cannot be fenced: the stream ended")

    def _name(self, what: str) -> str:
        return f"{BARRIER_PREFIX}{self._connection.rm_id}-{what}-{next(self._numbers)}"

    def _asks_and_waits(
        self,
        kind: UpdateKind,
        request: Request,
        answers: tuple[Fact, ...],
        before: Request | None = None,
    ) -> Fact:
        """The answer; where the stream ends instead, that of the same words on the next one.

        ``before`` is said first, on each of the streams: what it began may go with its stream.
        """
        received: Fact = StreamEnded(kind)
        for _ in range(_ENDINGS):
            if before is not None:
                self._connection.send_all(kind, [before])
            received = self._asks_once(kind, request, (*answers, StreamEnded(kind)))
            if not isinstance(received, StreamEnded):
                break
        return received

    def _asks_once(self, kind: UpdateKind, request: Request, wanted: tuple[Fact, ...]) -> Fact:
        history = self._connection.history
        start = len(history)
        self._connection.send_all(kind, [request])
        return self._waits(start, wanted)

    def _waits(self, start: int, wanted: tuple[Fact, ...]) -> Fact:
        """The first of these to come since then, or PreconditionFailed."""
        history = self._connection.history

        def find() -> Fact | None:
            return _first(history.since(start), self._connection.rm_id, wanted)

        longest = 2 * self._deadlines.ack
        with waiting("the answer to a fence", longest, WaitClass.BARRIER):
            found = history.clock.wait_for_answer(partial(history.look, find), longest)
        if found is None:
            stream = kind_of(wanted[0])
            on = stream.value if stream is not None else "only"
            message = f"the fence on the {on} stream was not answered in {longest:g} s"
            raise PreconditionFailed(message)
        return found


def _unowned(name: str) -> tuple[AskRequest, AskReleaseRequest]:
    """An ask of an application there is not, and what withdraws it."""
    nothing_listening = f"{BARRIER_PREFIX}nobody"
    ask = AskRequest(name, nothing_listening, _HERE, {"memory": 1, "vcore": 1})
    return ask, AskReleaseRequest(OneAsk(nothing_listening, name), _HERE)


def _first(entries: list[Entry], rm_id: str, wanted: tuple[Fact, ...]) -> Fact | None:
    for entry in entries:
        content = entry.content
        if (
            isinstance(content, Fact)
            and entry.rm == rm_id
            and any(pattern.matches(content) for pattern in wanted)
        ):
            return content
    return None
