"""Callbacks as a scheduler makes them: facts become calls, and an RM's answers facts."""

from collections.abc import Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError, Message
from siwire.ext import extension_pb2 as ext

from siconform.protocol.callbacks import (
    Answered,
    Assumed,
    ConfigurationHandedOver,
    ConfigurationStored,
    EvictionCheck,
    Forgotten,
    InvalidCall,
    PlacementCheck,
    SchedulingReported,
    StateDumped,
    StateDumpWanted,
)
from siconform.protocol.notifications import Fact
from siconform.transport.dialects.enums import write_enum
from siconform.transport.dialects.schema import Schema
from siconform.transport.dialects.tables import Inexpressible

_APPLICATION: Final = 1  # number of the field whose name is misspelled in some revisions
_KINDS: Final[dict[type[Fact], tuple[ext.CallbackKind.ValueType, str]]] = {
    PlacementCheck: (ext.PLACEMENT_CHECK, "PredicatesArgs"),
    EvictionCheck: (ext.EVICTION_CHECK, "PreemptionPredicatesArgs"),
    SchedulingReported: (ext.CONTAINER_STATE, "UpdateContainerSchedulingStateRequest"),
    Assumed: (ext.CACHE_SYNC, "ReSyncSchedulerCacheArgs"),
    Forgotten: (ext.CACHE_SYNC, "ReSyncSchedulerCacheArgs"),
    StateDumpWanted: (ext.RM_STATE_DUMP, ""),
    ConfigurationHandedOver: (ext.STORE_CONFIGURATION, "UpdateConfigurationRequest"),
}
_RESPONSES: Final = {
    ext.EVICTION_CHECK: "PreemptionPredicatesResponse",
    ext.STORE_CONFIGURATION: "UpdateConfigurationResponse",
}


def kind_of_call(fact: Fact) -> ext.CallbackKind.ValueType:
    """Return the number of the callback with which a scheduler sends this."""
    return _KINDS[type(fact)][0]


def call_with(
    schema: Schema, call_id: int, facts: Sequence[Fact]
) -> tuple[ext.ToRm, Message | None]:
    """Return one call with these facts, several only of a cache, and its message.

    Inexpressible if the revision has no such message.
    """
    kind, name = _KINDS[type(facts[0])]
    expects_answer = kind != ext.CONTAINER_STATE
    call = ext.ToRm(call_id=call_id, kind=kind, answer_expected=expects_answer)
    if not name:
        return call, None
    if name not in schema.revision.si.DESCRIPTOR.message_types_by_name:
        raise Inexpressible(f"SI {schema.revision} has no {name}")
    message: Any = schema.new(name)
    for fact in facts:
        _write(message, fact)
    sent = schema.sent(message)
    call.payloads.add(full_name=sent.DESCRIPTOR.full_name, data=sent.SerializeToString())
    return call, sent


def _write(message: Any, fact: Fact) -> None:
    match fact:
        case PlacementCheck():
            message.allocationKey, message.nodeID = fact.key, fact.node
            message.allocate = fact.allocate
        case EvictionCheck():
            message.allocationKey, message.nodeID = fact.key, fact.node
            message.preemptAllocationKeys.extend(fact.victims)
            message.startIndex = fact.start
        case SchedulingReported():
            name = message.DESCRIPTOR.fields_by_number[_APPLICATION].name
            setattr(message, name, fact.application)
            message.allocationKey, message.reason = fact.key, fact.reason
            write_enum(message, "state", fact.state)
        case Assumed():
            message.assumedAllocations.add(allocationKey=fact.key, nodeID=fact.node)
        case Forgotten():
            message.forgetAllocations.add(allocationKey=fact.key)
        case ConfigurationHandedOver():
            message.configs = fact.config


def answer_to(
    schema: Schema, kind: ext.CallbackKind.ValueType, answer: ext.FromRm.Answer
) -> tuple[Fact, Message | None]:
    """Return the RM's answer to a call of this kind, and its message; InvalidCall if malformed."""
    if kind == ext.RM_STATE_DUMP:
        return StateDumped(answer.ok, answer.text), None
    name = _RESPONSES.get(kind)
    if name is None or not answer.ok:
        return Answered(answer.ok, 0, answer.text), None
    if answer.payload.full_name != f"si.v1.{name}":
        wrong = f"an answer {answer.payload.full_name!r} where si.v1.{name} belongs"
        return InvalidCall(wrong, 0), None
    try:
        message: Any = schema.read(name, answer.payload.data)
    except DecodeError as error:
        return InvalidCall(f"{name}: {error}: {answer.payload.data.hex()}", 0), None
    if kind == ext.EVICTION_CHECK:
        return Answered(message.success, message.index, ""), message
    return ConfigurationStored(message.success, message.oldConfig, message.reason), message
