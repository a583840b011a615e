"""Sample elements of exchanges between an RM and a scheduler, and histories of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from google.protobuf.message import Message
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.notifications import (
    Allocated,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeRejected,
    Nothing,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.queue_configurations import POLICY_GROUP, conformance_queues
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
)
from siconform.protocol.subjects import Identity, OneAllocation, OneAsk
from siconform.recording.clock import WallClock
from siconform.recording.history import Exchange, History
from siconform.transport.connection import is_barrier
from siconform.transport.dialects import dialect_for
from siconform.transport.dialects.lax import lax_messages
from siwire import DEFAULT_REVISION, find_revision
from siwire.r2023_12 import si_pb2

si_2021: Any = lax_messages(find_revision("2021-02"))
M = TypeVar("M", bound=Message)
Part = Any  # an element of a history; a message stands for its notification


@dataclass(frozen=True)
class Together:
    """Elements of one message."""

    elements: Sequence[Part]


@dataclass(frozen=True)
class Later:
    """Seconds that pass for the target's timers."""

    seconds: float


class _Ahead(WallClock):
    """A clock of timers that is ahead of the wall clock."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def moment(self, wall: float) -> float:
        """Return the later time."""
        return wall + self._seconds


STOPPED, PREEMPTED, TIMEOUT = (
    Termination.STOPPED_BY_RM,
    Termination.PREEMPTED_BY_SCHEDULER,
    Termination.TIMEOUT,
)


def allocated(key: str = "k", identity: str = "id", **named: Any) -> Allocated:
    plain = Allocated(
        key=key,
        application="a",
        node="n",
        identity=identity,
        resource={"memory": 4},
        task_group="",
        placeholder=False,
        priority=0,
        tags={},
        partition="",
        originator=False,
        preemption_policy=None,
        queue="",
    )
    return replace(plain, **named)


def released(identity: str = "id", termination: Termination = STOPPED, **named: Any) -> Released:
    plain = Released("k", "a", identity, termination, message="", partition="default")
    return replace(plain, **named)


def released_by_rm(identity: str, termination: Termination = STOPPED) -> ReleaseRequest:
    return ReleaseRequest(OneAllocation("a", identity), termination)


def withdrawn(key: str, application: str = "a") -> AskReleaseRequest:
    return AskReleaseRequest(OneAsk(application, key), "default")


def ask_released(key: str = "k", application: str = "a") -> Fact:
    return AskReleased(key, application, STOPPED, message="", partition="default")


def updated(state: str = "Running", timestamp: int = 1, application: str = "a") -> Fact:
    return ApplicationUpdated(application, state, timestamp, message="")


def unknown_field(message: M, number: int) -> M:
    message.MergeFromString(bytes([number << 3, 1]))  # a varint; numbers up to 15
    return message


def by_priority(number: int, name: str) -> Message:
    response: Any = si_2021.UpdateResponse()
    sent = response.newAllocations.add()
    if number:
        sent.priority.priorityValue = number
    if name:
        sent.priority.priorityClassName = name
    message: Message = response
    return message


NODE = NodeRequest("n", Action.CREATE, capacity={"memory": 10})
APP = ApplicationRequest("a", queue="root.plain", partition="default", user="u")
ASK = AskRequest("k", "a", "default", {"memory": 4})
RELEASE = ReleaseRequest(OneAllocation("a", "id"), STOPPED)
PREEMPTION = released(termination=PREEMPTED)
CONFIRMATION = replace(RELEASE, termination=PREEMPTED)
NODES_SYNCHRONISED = (
    NodeRequest("barrier-n", Action.CREATE),
    NodeRejected("barrier-n", reason="known"),
)
APPS_SYNCHRONISED = (
    replace(APP, application="barrier-a"),
    ApplicationRejected("barrier-a", "known"),
)
ASKS_SYNCHRONISED = (
    AskRequest("barrier-k", "absent", "default", {}),
    AskRejected("barrier-k", "absent", "?"),
)
DRAIN = NodeRequest("n", Action.DRAIN)
UNDRAIN = NodeRequest("n", Action.UNDRAIN)
DECOMMISSION = NodeRequest("n", Action.DECOMMISSION)
SMALLER = NodeRequest("n", Action.UPDATE, capacity={"memory": 4})
REMOVAL = ApplicationRemoval("a", "default")
WITHDRAWAL = withdrawn("k")
IN_THE_CLUSTER = (
    Registration("rm", "", POLICY_GROUP, conformance_queues()),
    RegistrationAnswered("rm", "OK"),
)
ELSEWHERE = (
    Registration("rm", "", POLICY_GROUP, "partitions: []"),
    RegistrationAnswered("rm", "OK"),
)
LIMITED = replace(APP, queue="root.parent.left")
SISTER = replace(APP, application="b", queue="root.parent.right")
FULL = (allocated(identity="1"), allocated(identity="2"))
PLACEHOLDER = allocated("p", "ph", task_group="g", placeholder=True)
REAL_ASK = replace(ASK, task_group="g")
REAL = allocated(identity="real", task_group="g")
REPLACED = released("ph", Termination.PLACEHOLDER_REPLACED, key="p")
GONE = ReleaseRequest(OneAllocation("a", "ph"), Termination.PLACEHOLDER_REPLACED)
OLD = allocated("old", "o", resource={"memory": 7})
OLD_ITSELF = ExistingAllocationRequest(OLD)
OLD_WITH_NODE = replace(NODE, existing=(OLD,))
ALLOCATION = si_pb2.AllocationResponse(new=[si_pb2.Allocation(allocationKey="k")])
NAMED_AMOUNT = si_pb2.AllocationResponse(new=[si_pb2.Allocation(allocationKey="k")])
NAMED_AMOUNT.new[0].resourcePerAlloc.resources["memory"].value = 1
ODD_AMOUNT = si_pb2.AllocationResponse()
ODD_AMOUNT.CopyFrom(NAMED_AMOUNT)
unknown_field(ODD_AMOUNT.new[0].resourcePerAlloc.resources["memory"], 9)
ODD_ALLOCATION = si_pb2.AllocationResponse(new=[unknown_field(si_pb2.Allocation(), 7)])
MISTYPED = si_pb2.AllocationResponse(new=[unknown_field(si_pb2.Allocation(), 1)])  # a string
ODD_RELEASE = si_pb2.AllocationResponse(released=[unknown_field(si_pb2.AllocationRelease(), 3)])
ODD_EVENT = unknown_field(si_pb2.EventRecord(), 4)
ODD_RESPONSE = unknown_field(si_pb2.NodeResponse(), 9)


def by_key(parts: Sequence[Part]) -> Exchange:
    """Return an element for revisions in which the key is the identity."""
    return exchange_of(parts, history=History(identity=Identity.KEY_OF_THE_ASK))


def exchange_of(parts: Sequence[Part], rm: str = "rm", history: History | None = None) -> Exchange:
    history = History() if history is None else history
    ahead = 0.0
    for part in parts:
        if isinstance(part, Registration):
            request = dialect_for(DEFAULT_REVISION).registration(part)
            history.add(rm, [RegistrationRequested(rm)], sent_by_rm=True, message=request)
        elif isinstance(part, Message):
            history.add(rm, [Nothing(UpdateKind.NODES)], sent_by_rm=False, message=part)
        elif isinstance(part, Later):
            ahead += part.seconds
            history.clock = _Ahead(ahead)
        else:
            elements = part.elements if isinstance(part, Together) else [part]
            by_rm = not isinstance(elements[0], Fact) or isinstance(part, ConfigurationSent)
            history.add(rm, elements, sent_by_rm=by_rm, barrier=is_barrier)
    return Exchange(history, start=0)
