"""Sync barriers: requests whose answer shows that everything sent before them was processed.

The SI does not acknowledge every request, so a test cannot see directly that the scheduler has
processed one. A *barrier* is a probe request, sent on the same stream, that must be answered; its
answer shows that the requests before it were processed. After a barrier, "nothing was received" is
a result rather than a guess.

A barrier leaves no state behind. The default probe is a request that must be rejected: a node or an
application in an unknown partition, or an ask for an unknown application. If a target was observed
not to reject it, which is allowed, the probe is a request that is accepted and undone: a node
without capacity, an application, an ask that is withdrawn or, if withdrawals are not confirmed, an
allocation.

A rejection is a barrier only if the target answers in order. This is probed first: a creation or
the release of an allocation is sent, followed by a request to be rejected. If the rejection arrives
first, the accept-and-undo probe is used.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
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

BARRIER_RESOURCE: Final = "siconform.barrier"
_PLENTY: Final = 1_000  # of that resource: a target may round amounts up
NOTHING: Final = {"memory": 0, "vcore": 0}  # explicit zeros: some targets read "absent" as "any"
_NOWHERE: Final = f"{BARRIER_PREFIX}nowhere"
_HERE: Final = "default"
_USUAL_QUEUE: Final = "root.plain"
_LOOKS: Final = 3  # repeated, because answers may be in order by accident
_ENDINGS: Final = 4  # an earlier request may end the stream: it is reopened this often


@dataclass
class BarrierBehaviour:
    """Observed answers of a target to the probes of each kind; a missing entry is unknown."""

    rejects: dict[UpdateKind, bool] = field(default_factory=dict)
    keeps_turn: dict[UpdateKind, bool] = field(default_factory=dict)  # rejections arrive in order
    confirms_withdrawals: bool | None = None  # of asks for an unknown application; None: unknown


class Barriers:
    """Barriers of one connection; ``behaviour`` is shared by all connections to a target."""

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
        """Return whether a barrier gets an answer other than the end of the stream."""
        try:
            received = self._is_answered(kind, *self._to_be_rejected(kind))
        except PreconditionFailed:
            return True  # a timeout proves nothing
        return not isinstance(received, StreamEnded)

    def raise_on(self, kind: UpdateKind) -> None:
        """Return when everything sent on this stream is processed, or PreconditionFailed."""
        if kind not in self.behaviour.keeps_turn:
            self.behaviour.keeps_turn[kind] = self._keeps_turn(kind)
        in_turn = self.behaviour.keeps_turn[kind]
        if in_turn and self.behaviour.rejects.get(kind) is not False and self._is_rejected(kind):
            return
        match kind:
            case UpdateKind.NODES:
                self._node_comes_and_goes(self._closed(), NOTHING)()
            case UpdateKind.APPLICATIONS:
                self._application_comes_and_goes(self._name("application"))()
            case UpdateKind.ALLOCATIONS:
                confirms = in_turn and self.behaviour.confirms_withdrawals is not False
                if not confirms or not self._is_withdrawn():
                    self._allocation_comes_and_goes()

    def _is_withdrawn(self) -> bool:
        """Withdraw an ask for an unknown application; return whether its end is confirmed."""
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
        """Send the probe to be rejected; return whether it was, and remember that."""
        try:
            received = self._is_answered(kind, *self._to_be_rejected(kind))
        except PreconditionFailed:
            if self.behaviour.rejects.get(kind):
                raise
            received = None
        if isinstance(received, StreamEnded):
            return True  # repeatedly: the target does not serve this stream
        rejected = isinstance(received, (NodeRejected, ApplicationRejected, AskRejected))
        self.behaviour.rejects[kind] = rejected
        return rejected

    def _keeps_turn(self, kind: UpdateKind) -> bool:
        """Return whether rejections arrive after the answers to requests sent before them.

        If the probes are not answered as expected, order is unknown and assumed.
        """
        try:
            if kind is UpdateKind.ALLOCATIONS:
                return self._releases_keep_turn()
            return all(self._is_in_turn(kind) for _ in range(_LOOKS))
        except PreconditionFailed:
            return True

    def _releases_keep_turn(self) -> bool:
        """Return whether rejections arrive after the confirmations of releases before them."""
        with self._node_and_application() as application:
            allocated = [self._allocated(application) for _ in range(_LOOKS)]
            return all(self._is_release_in_turn(one) for one in allocated)

    def _is_release_in_turn(self, allocated: Allocated) -> bool:
        """Probe the order once, with a release; PreconditionFailed if it cannot be determined."""
        history, start = self._connection.history, len(self._connection.history)
        confirmed, kind = Released(identity=allocated.identity), UpdateKind.ALLOCATIONS
        self._connection.send_all(kind, [_release_of(allocated)])
        rejected = self._is_answered(kind, *self._to_be_rejected(kind))
        self._waits(start, (confirmed, StreamEnded(kind)))
        if not isinstance(rejected, AskRejected):
            raise PreconditionFailed("an ask of an unknown application was not rejected")
        received = history.since(start)
        return _first(received, self._connection.rm_id, (confirmed, rejected)) != rejected

    def _is_in_turn(self, kind: UpdateKind) -> bool:
        """Probe the order once; raise PreconditionFailed if it cannot be determined."""
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
                "a creation was not accepted, or an unknown partition not rejected"
            )
        return (
            _first(history.since(start), self._connection.rm_id, (accepted, received)) != received
        )

    def _to_be_accepted(self, kind: UpdateKind) -> tuple[Request, tuple[Fact, Fact], Request]:
        """Return a creation, its possible answers (acceptance first), and its undo."""
        name = self._name(kind.value)
        if kind is UpdateKind.NODES:
            node = NodeRequest(name, self._closed(), capacity=NOTHING)
            of_node = NodeAccepted(name), NodeRejected(name)
            return node, of_node, NodeRequest(name, Action.DECOMMISSION)
        application = ApplicationRequest(name, _USUAL_QUEUE, _HERE, user="barrier")
        of_application = ApplicationAccepted(name), ApplicationRejected(name)
        return application, of_application, ApplicationRemoval(name, _HERE)

    def _to_be_rejected(self, kind: UpdateKind) -> tuple[Request, tuple[Fact, ...], Request]:
        """Return a request to be rejected, its answers, and an undo in case it was accepted."""
        name = self._name(kind.value)
        match kind:
            case UpdateKind.NODES:
                attributes = {"si/node-partition": _NOWHERE}
                node = NodeRequest(name, self._closed(), NOTHING, attributes=attributes)
                gone = NodeRequest(name, Action.DECOMMISSION)
                return node, (NodeAccepted(name), NodeRejected(name)), gone
            case UpdateKind.APPLICATIONS:
                application = ApplicationRequest(name, _USUAL_QUEUE, _NOWHERE, user="barrier")
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
        """Return the action that creates an unschedulable node, if the revision has one."""
        can = self._connection.revision.can(Capability.CREATE_DRAIN)
        return Action.CREATE_DRAINING if can else Action.CREATE

    def _node_comes_and_goes(
        self, creation: Action, capacity: dict[str, int]
    ) -> Callable[[], None]:
        """Have a node accepted; return a function that removes it."""
        name = self._name("node")
        node = NodeRequest(name, creation, capacity=capacity)
        self._asks_and_waits(UpdateKind.NODES, node, (NodeAccepted(name), NodeRejected(name)))
        gone = NodeRequest(name, Action.DECOMMISSION)
        return partial(self._connection.send_all, UpdateKind.NODES, [gone])

    def _application_comes_and_goes(self, name: str) -> Callable[[], None]:
        """Have an application accepted; return a function that removes it."""
        verdicts = (ApplicationAccepted(name), ApplicationRejected(name))
        for new in self._applications(name):
            received = self._asks_and_waits(UpdateKind.APPLICATIONS, new, verdicts)
            if not isinstance(received, ApplicationRejected):
                break
        removal = ApplicationRemoval(name, _HERE)
        return partial(self._connection.send_all, UpdateKind.APPLICATIONS, [removal])

    def _applications(self, name: str) -> Iterator[ApplicationRequest]:
        """Yield the usual application, then some for each queue of the RM's applications.

        The configuration of the RM may have no such queue, or place applications by user. Users of
        the RM come last: they may have limits.
        """
        usual = ApplicationRequest(name, _USUAL_QUEUE, _HERE, user="barrier")
        yield usual
        connection = self._connection
        of_rm = (e.content for e in connection.history.since(0) if e.rm == connection.rm_id)
        used = [(one.queue, one.user) for one in of_rm if isinstance(one, ApplicationRequest)]
        used = [*((queue, usual.user) for queue, _ in reversed(used)), *reversed(used)]
        for queue, user in dict.fromkeys(used):
            if (queue, user) != (usual.queue, usual.user):
                yield replace(usual, queue=queue, user=user)

    def _allocation_comes_and_goes(self) -> None:
        with self._node_and_application() as application:
            allocated = self._allocated(application)
            confirmed = Released(identity=allocated.identity)
            self._asks_and_waits(UpdateKind.ALLOCATIONS, _release_of(allocated), (confirmed,))

    @contextmanager
    def _node_and_application(self) -> Iterator[str]:
        """Have a node and an application, whose id is returned; remove both afterwards."""
        application = self._name("application")
        with ExitStack() as take_back:
            capacity = NOTHING | {BARRIER_RESOURCE: _PLENTY}
            take_back.callback(self._node_comes_and_goes(Action.CREATE, capacity))
            take_back.callback(self._application_comes_and_goes(application))
            yield application

    def _allocated(self, application: str) -> Allocated:
        """Return an allocation of this application."""
        key = self._name("ask")
        ask = AskRequest(key, application, _HERE, {BARRIER_RESOURCE: 1})
        allocated = self._asks_and_waits(UpdateKind.ALLOCATIONS, ask, (Allocated(key),))
        if not isinstance(allocated, Allocated):
            raise PreconditionFailed("no barrier on the allocation stream: the stream ended")
        return allocated

    def _name(self, what: str) -> str:
        return f"{BARRIER_PREFIX}{self._connection.rm_id}-{what}-{next(self._numbers)}"

    def _asks_and_waits(
        self,
        kind: UpdateKind,
        request: Request,
        answers: tuple[Fact, ...],
        before: Request | None = None,
    ) -> Fact:
        """Send the request and return its answer; if the stream ends, retry on the next one.

        ``before`` is sent first on each stream, because its effect may be lost with the stream.
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
        """Return the first wanted fact received since ``start``, or raise PreconditionFailed."""
        history = self._connection.history

        def find() -> Fact | None:
            return _first(history.since(start), self._connection.rm_id, wanted)

        longest = 2 * self._deadlines.ack
        with waiting("the answer to a barrier", longest, WaitClass.BARRIER):
            found = history.clock.wait_for_answer(partial(history.look, find), longest)
        if found is None:
            stream = kind_of(wanted[0])
            on = stream.value if stream is not None else "only"
            message = f"the barrier on the {on} stream was not answered in {longest:g} s"
            raise PreconditionFailed(message)
        return found


def _release_of(allocated: Allocated) -> ReleaseRequest:
    one = OneAllocation(allocated.application, allocated.identity, allocated.key)
    return ReleaseRequest(one, Termination.STOPPED_BY_RM)


def _unowned(name: str) -> tuple[AskRequest, AskReleaseRequest]:
    """Return an ask for an unknown application and its withdrawal."""
    unknown = f"{BARRIER_PREFIX}unknown"
    ask = AskRequest(name, unknown, _HERE, {"memory": 1, "vcore": 1})
    return ask, AskReleaseRequest(OneAsk(unknown, name), _HERE)


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
