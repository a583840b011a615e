"""Callbacks as messages: per revision, and the parts that revisions share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from google.protobuf.message import Message
from siwire.r2021_02 import si_pb2 as si2102
from siwire.r2023_04 import si_pb2 as si2304
from siwire.r2023_08 import si_pb2 as si2308
from siwire.r2023_12 import si_pb2 as si2312
from siwire.r2024_10 import si_pb2 as si2410
from siwire.r2026_04 import si_pb2 as si2604

from sireference.codec.writing import NANOSECONDS, amounts
from sireference.core.model import (
    Call,
    Callback,
    ChangeDetail,
    ContainerState,
    EventRecord,
    PredicatesQuestion,
    PreemptionQuestion,
    SentEvents,
    SyncedCache,
)

_CALLBACK_OF: Final[Mapping[type, Callback]] = {
    PredicatesQuestion: Callback.PREDICATES,
    PreemptionQuestion: Callback.PREEMPTION_PREDICATES,
    SentEvents: Callback.EVENTS,
    ContainerState: Callback.CONTAINER_STATE,
    SyncedCache: Callback.CACHE_SYNC,
}

Write = Callable[[Any], Sequence[Message]]  # of a call of one kind
PreemptionAnswer = tuple[bool, int]


def _refuses(_: bytes) -> PreemptionAnswer:
    """Refuse: the revision has no such question."""
    return False, -1


@dataclass(frozen=True)
class CallbackCodec:
    """The callbacks of one revision by kind, and how answers are read.

    ``preemption_answer`` returns whether the ask fits, and the last victim that must go; it raises
    DecodeError.
    """

    write: Mapping[type, Write]
    preemption_answer: Callable[[bytes], PreemptionAnswer] = _refuses

    @property
    def callbacks(self) -> frozenset[Callback]:
        """Return the callbacks that the revision has messages for."""
        return frozenset(_CALLBACK_OF[kind] for kind in self.write)

    def messages(self, call: Call) -> Sequence[Message]:
        """Return the messages of ``call``: one, or one for each event record."""
        return self.write[type(call)](call)


# Shared by several revisions: mypy checks every message type of a variable

Predicates = TypeVar(
    "Predicates",
    si2102.PredicatesArgs,
    si2304.PredicatesArgs,
    si2308.PredicatesArgs,
    si2312.PredicatesArgs,
    si2410.PredicatesArgs,
    si2604.PredicatesArgs,
)
Preemption = TypeVar(
    "Preemption",
    si2304.PreemptionPredicatesArgs,
    si2308.PreemptionPredicatesArgs,
    si2312.PreemptionPredicatesArgs,
    si2410.PreemptionPredicatesArgs,
    si2604.PreemptionPredicatesArgs,
)
Record = TypeVar(
    "Record",
    si2102.EventRecord,
    si2304.EventRecord,
    si2308.EventRecord,
    si2312.EventRecord,
    si2410.EventRecord,
    si2604.EventRecord,
)
ChangeRecord = TypeVar(
    "ChangeRecord",
    si2304.EventRecord,
    si2308.EventRecord,
    si2312.EventRecord,
    si2410.EventRecord,
    si2604.EventRecord,
)
DetailRecord = TypeVar(
    "DetailRecord",
    si2308.EventRecord,
    si2312.EventRecord,
    si2410.EventRecord,
    si2604.EventRecord,
)
MisspelledState = TypeVar(
    "MisspelledState",
    si2102.UpdateContainerSchedulingStateRequest,
    si2304.UpdateContainerSchedulingStateRequest,
    si2308.UpdateContainerSchedulingStateRequest,
)
SpelledState = TypeVar(
    "SpelledState",
    si2312.UpdateContainerSchedulingStateRequest,
    si2410.UpdateContainerSchedulingStateRequest,
    si2604.UpdateContainerSchedulingStateRequest,
)
State = TypeVar(
    "State",
    si2102.UpdateContainerSchedulingStateRequest,
    si2304.UpdateContainerSchedulingStateRequest,
    si2308.UpdateContainerSchedulingStateRequest,
    si2312.UpdateContainerSchedulingStateRequest,
    si2410.UpdateContainerSchedulingStateRequest,
    si2604.UpdateContainerSchedulingStateRequest,
)


def predicates(kind: type[Predicates], call: PredicatesQuestion) -> list[Predicates]:
    """Return PredicatesArgs."""
    return [kind(allocationKey=call.key, nodeID=call.node_id, allocate=call.allocate)]


def preemption(kind: type[Preemption], call: PreemptionQuestion) -> list[Preemption]:
    """Return PreemptionPredicatesArgs."""
    question = kind(
        allocationKey=call.key,
        nodeID=call.node_id,
        preemptAllocationKeys=call.victims,
        startIndex=call.start_index,
    )
    return [question]


Response = TypeVar(
    "Response",
    si2304.PreemptionPredicatesResponse,
    si2308.PreemptionPredicatesResponse,
    si2312.PreemptionPredicatesResponse,
    si2410.PreemptionPredicatesResponse,
    si2604.PreemptionPredicatesResponse,
)


def preemption_answer(kind: type[Response], data: bytes) -> PreemptionAnswer:
    """Read a PreemptionPredicatesResponse."""
    message = kind.FromString(data)
    return message.success, message.index


def details(names: Iterable[str]) -> frozenset[ChangeDetail]:
    """Return the details with these ``names``, taken from a revision's enum ChangeDetail."""
    return frozenset(ChangeDetail[name] for name in names)


def records(kind: type[Record], call: SentEvents) -> list[Record]:
    """Return an EventRecord for each."""
    return [record(kind, given) for given in call.records]


def change_records(kind: type[ChangeRecord], call: SentEvents) -> list[ChangeRecord]:
    """Return records with the types of the changes."""
    return [change_record(kind, given) for given in call.records]


def detail_records(kind: type[DetailRecord], call: SentEvents) -> list[DetailRecord]:
    """Return records with types and details of the changes."""
    return [detail_record(kind, given) for given in call.records]


def record(kind: type[Record], given: EventRecord) -> Record:
    """Return an EventRecord with the fields of any revision."""
    return kind(
        type=kind.Type.Value(given.type.name),
        objectID=given.object_id,
        message=given.message,
        timestampNano=int(given.at * NANOSECONDS),
    )


def change_record(kind: type[ChangeRecord], given: EventRecord) -> ChangeRecord:
    """Return an EventRecord with the type of the change."""
    message = record(kind, given)
    message.eventChangeType = kind.ChangeType.Value(given.change.name)
    return message


def detail_record(kind: type[DetailRecord], given: EventRecord) -> DetailRecord:
    """Return an EventRecord with type and details of the change."""
    message = change_record(kind, given)
    message.eventChangeDetail = kind.ChangeDetail.Value(given.detail.name)
    message.referenceID = given.reference_id
    if given.resource is not None:
        message.resource.SetInParent()
        amounts(given.resource, message.resource)
    return message


def state(kind: type[State], call: ContainerState) -> State:
    """Return an UpdateContainerSchedulingStateRequest without its application."""
    return kind(
        allocationKey=call.key,
        state=kind.SchedulingState.Value(call.state.name),
        reason=call.reason,
    )


def misspelled_state(kind: type[MisspelledState], call: ContainerState) -> list[MisspelledState]:
    """Return it with its application, as misspelled before 2023-12."""
    message = state(kind, call)
    message.applicartionID = call.application_id
    return [message]


def spelled_state(kind: type[SpelledState], call: ContainerState) -> list[SpelledState]:
    """Return it with its application, spelled correctly."""
    message = state(kind, call)
    message.applicationID = call.application_id
    return [message]


def all_of(
    predicates_args: type[Predicates],
    write_records: Callable[[SentEvents], Sequence[Message]],
    write_state: Callable[[ContainerState], Sequence[Message]],
) -> dict[type, Write]:
    """Return the calls that every revision has."""
    return {
        PredicatesQuestion: partial(predicates, predicates_args),
        SentEvents: write_records,
        ContainerState: write_state,
    }
