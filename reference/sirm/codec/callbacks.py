"""Callbacks of the extension: SI messages to questions, and answers to SI messages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml
from google.protobuf.message import Message
from siwire.ext import extension_pb2 as ext

from sirm.core import callbacks
from sirm.core.state import State

Kind: TypeAlias = "ext.CallbackKind.ValueType"
Handler: TypeAlias = Callable[[State, list[Any]], "Reply"]


@dataclass(frozen=True)
class Reply:
    """What the RM answers; nothing of it is sent where no answer is expected."""

    ok: bool = True
    text: str = ""
    payload: Message | None = None


@dataclass(frozen=True)
class CallbackCodec:
    """The callbacks of one revision: their payload types and how they are answered."""

    payloads: Mapping[str, type[Message]]  # by full name
    handlers: Mapping[Kind, Handler]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Return what the RM offers."""
        return tuple(self.handlers)

    def answer(self, state: State, call: ext.ToRm) -> ext.FromRm.Answer:
        """Return the answer to one call. One of an unknown kind or type is refused."""
        reply = self.reply(state, call)
        answer = ext.FromRm.Answer(call_id=call.call_id, ok=reply.ok, text=reply.text)
        if reply.payload is not None:
            answer.payload.full_name = reply.payload.DESCRIPTOR.full_name
            answer.payload.data = reply.payload.SerializeToString()
        return answer

    def reply(self, state: State, call: ext.ToRm) -> Reply:
        """Return the reply to a call; not ok if its kind or a payload is unknown."""
        handler = self.handlers.get(call.kind)
        unknown = [one.full_name for one in call.payloads if one.full_name not in self.payloads]
        if handler is None or unknown:
            return Reply(ok=False, text=f"unknown callback {call.kind} {' '.join(unknown)}")
        read = [self.payloads[one.full_name].FromString(one.data) for one in call.payloads]
        return handler(state, read)


def predicate(state: State, messages: list[Any]) -> Reply:
    """Answer PredicatesArgs: no error, or one."""
    (args,) = messages
    reason = callbacks.predicate(state, args.allocationKey, args.nodeID)
    return Reply(ok=not reason, text=reason)


def preemption_predicate(response: type[Message]) -> Handler:
    """Return the handler that answers PreemptionPredicatesArgs with ``response``."""

    def answer(state: State, messages: list[Any]) -> Reply:
        (args,) = messages
        index = callbacks.preemption_predicate(
            state, args.allocationKey, args.nodeID, args.preemptAllocationKeys, args.startIndex
        )
        payload: Any = response()
        payload.success = index is not None
        payload.index = index or 0
        return Reply(payload=payload)

    return answer


def information(_: State, __: list[Any]) -> Reply:
    """Take container states and events: they change nothing, also when repeated (SI-CB-008)."""
    return Reply()


def state_dump(state: State, _: list[Any]) -> Reply:
    """Answer with the state as JSON."""
    return Reply(text=callbacks.state_dump(state))


def store_configuration(response: type[Message]) -> Handler:
    """Return the handler that saves a configuration of the scheduler (2021-02, SI-CFG-007)."""

    def answer(state: State, messages: list[Any]) -> Reply:
        (update,) = messages
        before, problem = state.cluster.configuration, _problem(update.configs)
        if not problem:
            state.cluster.configuration = update.configs
        payload: Any = response()
        payload.success = not problem
        payload.oldConfig = before
        payload.reason = problem
        return Reply(payload=payload)

    return answer


def _problem(configuration: str) -> str:
    try:
        document = yaml.safe_load(configuration)
    except yaml.YAMLError as error:
        return f"the configuration is not YAML: {error}"
    if not isinstance(document, dict) or not isinstance(document.get("partitions"), list):
        return "the configuration has no partitions"
    return ""


def of(si: Any) -> CallbackCodec:
    """Return the callbacks of a revision from 2023-04 on, by its module of messages."""
    return CallbackCodec(
        _by_full_name(
            si.PredicatesArgs,
            si.PreemptionPredicatesArgs,
            si.UpdateContainerSchedulingStateRequest,
            si.EventRecord,
        ),
        {
            ext.PLACEMENT_CHECK: predicate,
            ext.EVICTION_CHECK: preemption_predicate(si.PreemptionPredicatesResponse),
            ext.EVENT_BATCH: information,
            ext.CONTAINER_STATE: information,
            ext.RM_STATE_DUMP: state_dump,
        },
    )


def of_2021(si: Any) -> CallbackCodec:
    """Return the callbacks of 2021-02; the RM has no cache to synchronise (SI-CB-011)."""
    return CallbackCodec(
        _by_full_name(
            si.PredicatesArgs,
            si.ReSyncSchedulerCacheArgs,
            si.UpdateContainerSchedulingStateRequest,
            si.UpdateConfigurationRequest,
            si.EventRecord,
        ),
        {
            ext.PLACEMENT_CHECK: predicate,
            ext.EVENT_BATCH: information,
            ext.CONTAINER_STATE: information,
            ext.CACHE_SYNC: information,
            ext.STORE_CONFIGURATION: store_configuration(si.UpdateConfigurationResponse),
        },
    )


def _by_full_name(*kinds: type[Message]) -> dict[str, type[Message]]:
    return {kind.DESCRIPTOR.full_name: kind for kind in kinds}
