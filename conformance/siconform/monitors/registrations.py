"""Rules about registrations: their answers, and what a new one forgets."""

from collections import Counter
from functools import partial
from typing import Final

from google.protobuf.message import Message

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import AllocatedAgain, Updated
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    NodeAccepted,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    ApplicationRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    StreamOpening,
)
from siconform.recording.history import Content, Entry

_REGISTRATIONS: Final = (RegistrationRequested, RegistrationAnswered)
_OF_A_LIFE: Final = (ApplicationUpdated, Released)  # show that a record begins in the middle
_PERHAPS_SERVED: Final = ("CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE", "UNKNOWN")
"""Statuses that the scheduler need not have sent."""


def registrations_get_an_empty_answer() -> Evaluator:
    """A successful registration is answered with the response message, which is empty."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry:
            case Entry(content=RegistrationAnswered(rm=rm, status="OK"), message=Message() as sent):
                return violated_if(sent.ByteSize(), f"the answer to {rm} is not empty")
        return NOTHING_TO_EVALUATE

    return evaluate


def registrations_name_an_rm() -> Evaluator:
    """A registration without an rmID does not succeed."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case RegistrationAnswered(rm="", status=status):
                return violated_if(status == "OK", "a registration without rmID succeeded")
        return NOTHING_TO_EVALUATE

    return evaluate


def registering_again_is_no_conflict() -> Evaluator:
    """A registered RM that registers again is not refused because it exists.

    With the same request it is not refused as invalid either.
    """
    registered: bytes | None = None  # the last request that succeeded
    requested = b""

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal registered, requested
        match entry.content:
            case RegistrationRequested():
                requested = b"" if entry.message is None else entry.message.SerializeToString()
            case RegistrationAnswered(rm=rm, status=status):
                before = registered
                if status == "OK":
                    registered = requested
                if before is None:
                    return NOTHING_TO_EVALUATE
                refused = status == "ALREADY_EXISTS"
                refused |= status == "INVALID_ARGUMENT" and bool(before) and before == requested
                return violated_if(refused, f"{rm} is refused when it registers again: {status}")
        return NOTHING_TO_EVALUATE

    return evaluate


def refused_rms_are_not_served() -> Evaluator:
    """An RM whose registration was refused, and no other succeeded, gets no positive verdict."""
    begun = from_the_start = registered = refused = False

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal begun, from_the_start, registered, refused
        if not begun:
            begun, from_the_start = True, isinstance(entry.content, RegistrationRequested)
        match entry.content:
            case RegistrationRequested():
                refused = False
            case RegistrationAnswered(status=status):
                registered = registered or status == "OK"
                refused = from_the_start and not registered and status not in _PERHAPS_SERVED
                return "" if refused else NOTHING_TO_EVALUATE
            case NodeAccepted() | ApplicationAccepted() | Allocated() if refused:
                return f"{entry.content}, after the registration was refused"
        return NOTHING_TO_EVALUATE

    return evaluate


def registering_again_forgets_nodes() -> Evaluator:
    """What is asked for after a new registration is not placed on a node from before it.

    A node counts if it had its verdict before the RM called; an ask if it was not sent before.
    """
    nodes, asks = _OldNodes(), _Unplaced()

    def evaluate(entry: Entry) -> EntryFinding:
        nodes.observe(entry)
        if not isinstance(entry.content, Allocated):
            asks.observe(entry.content)
            return NOTHING_TO_EVALUATE
        key, node = key_of(entry.content.key), entry.content.node
        if not asks.places(key) or not nodes.forgotten:
            return NOTHING_TO_EVALUATE
        message = f"{key} is placed on {node}, a node from before the registration"
        return violated_if(node in nodes.forgotten, message)

    return evaluate


class _OldNodes:
    """The nodes of earlier registrations that the RM has not named again."""

    def __init__(self) -> None:
        self.forgotten: set[str] = set()
        self._accepted: set[str] = set()  # nothing else about them is under way
        self._leaving: set[str] = set()  # accepted before the call to register
        self._call = 0  # its number

    def observe(self, entry: Entry) -> None:
        match entry.content:
            case RegistrationRequested() if entry.number != self._call:
                self._call = entry.number
                self._leaving = set(self._accepted)
            case RegistrationAnswered(status="OK"):
                self.forgotten |= self._leaving
                self._leaving, self._accepted = set(), set()
            case NodeRequest(node=node):
                for nodes in (self.forgotten, self._accepted, self._leaving):
                    nodes.discard(node)
            case NodeAccepted(node=node):
                self._accepted.add(node)


class _Unplaced:
    """How many allocations are left of the asks of this registration."""

    def __init__(self) -> None:
        self._left: Counter[str] = Counter()
        self._former: set[str] = set()  # keys of earlier registrations that may still be placed

    def observe(self, content: Content) -> None:
        match content:
            case RegistrationAnswered(status="OK"):
                self._former.update(self._left)
                self._left.clear()
            case AskRequest(key=key, max_allocations=most):
                self._left[key_of(key)] += most
            case AskRejected(key=key) | AskReleased(key=key):
                self._left.pop(key_of(key), None)
                self._former.discard(key_of(key))

    def places(self, key: str) -> bool:
        """Note an allocation; return whether it is of an ask of this registration alone."""
        is_present = key in self._left and key not in self._former
        self._former.discard(key)
        self._left[key] -= 1
        if self._left[key] <= 0:
            del self._left[key]
        return is_present


def registering_again_forgets_asks() -> Evaluator:
    """An ask from before a new registration is not allocated after one from after it.

    It counts if something that the RM sent later on the allocation stream was answered before the
    RM registered again. A stream that was opened meanwhile is not ordered with the former one.
    """
    memory = _OldAsks()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Allocated(key=key):
                return memory.allocated(key_of(key))
            case AllocatedAgain(allocation=one):
                return memory.allocated(key_of(one.key))
            case AskRequest(key=key, max_allocations=most):
                memory.asks(key_of(key), entry.number, is_plain=most == 1)
            case Updated(key=key):
                memory.asks(key_of(key), entry.number, is_plain=True)
            case AskRejected(key=key) | AskReleased(key=key):
                memory.answered(key_of(key))
            case _:
                memory.observe(entry)
        return NOTHING_TO_EVALUATE

    return evaluate


class _OldAsks:
    """The asks of this registration, and those that it made the scheduler forget."""

    def __init__(self) -> None:
        self._stream_has_ended = False
        self._open: dict[str, tuple[int, int]] = {}  # without an answer: first, last message
        self._processed = 0  # the latest message with an answer
        self._call = 0  # to register, its number
        self._waiting: set[str] = set()  # for the answer to a call
        self._forgotten: set[str] = set()
        self._follows = False  # whether all that comes was sent after the registration

    def observe(self, entry: Entry) -> None:
        """Observe registrations, streams and existing allocations."""
        match entry.content:
            case RegistrationRequested() if entry.number != self._call:
                self._call = entry.number
                taken = {key for key, (_, last) in self._open.items() if last < self._processed}
                self._waiting = taken
            case RegistrationAnswered(status="OK"):
                self._forgotten |= self._waiting
                self._waiting, self._open = set(), {}
                self._processed, self._follows = 0, False
            case StreamEnded(kind=UpdateKind.ALLOCATIONS):
                self._stream_has_ended = True
            case StreamOpening(kind=UpdateKind.ALLOCATIONS):
                if not self._stream_has_ended:
                    self._forgotten.clear()
                self._stream_has_ended = False
            case content:
                for one in recovered_in(content):
                    self._is_named(key_of(one.key))

    def asks(self, key: str, number: int, *, is_plain: bool) -> None:
        self._is_named(key)
        if is_plain:
            self._open[key] = (self._open.get(key, (number, number))[0], number)

    def _is_named(self, key: str) -> None:
        """Note that the RM names this key again."""
        self._forgotten.discard(key)
        self._waiting.discard(key)

    def answered(self, key: str) -> bool:
        """Return whether this answers an ask of the present registration."""
        messages = self._open.pop(key, None)
        if messages is not None:
            self._processed = max(self._processed, messages[0])
        return messages is not None

    def allocated(self, key: str) -> EntryFinding:
        if self.answered(key):
            self._follows = True
            return "" if self._forgotten else NOTHING_TO_EVALUATE
        if self._follows and key in self._forgotten:
            return f"{key} is allocated, which was asked for before the registration only"
        return NOTHING_TO_EVALUATE


_AnswerMonitor = partial(Monitor, observes=(RegistrationAnswered,), about_one_message=True)

MONITORS: Final = (
    _AnswerMonitor(registrations_get_an_empty_answer, ("SI-REG-001",)),
    _AnswerMonitor(registrations_name_an_rm, ("SI-REG-003",)),
    Monitor(
        registering_again_is_no_conflict,
        ("SI-REG-004",),
        observes=_REGISTRATIONS,
        outlives_registrations=True,
    ),
    Monitor(
        refused_rms_are_not_served,
        ("SI-REG-002", "SI-CONN-002"),
        observes=(
            *(*_REGISTRATIONS, NodeAccepted, ApplicationAccepted, Allocated, *_OF_A_LIFE),
            *(NodeRequest, ApplicationRequest, AskRequest, ReleaseRequest),
        ),
        outlives_registrations=True,
    ),
    Monitor(
        registering_again_forgets_nodes,
        ("SI-REG-005",),
        observes=(
            *(*_REGISTRATIONS, NodeRequest, NodeAccepted),
            *(AskRequest, AskRejected, AskReleased, Allocated),
        ),
        outlives_registrations=True,
    ),
    Monitor(
        registering_again_forgets_asks,
        ("SI-REG-007",),
        observes=(
            *(*_REGISTRATIONS, StreamEnded, StreamOpening, AskRequest, AskRejected, AskReleased),
            *(Allocated, AllocatedAgain, Updated, ExistingAllocationRequest, NodeRequest),
        ),
        outlives_registrations=True,
    ),
)
