"""Callbacks over the extension: core calls go to the RM's stream, answers come back."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError, Message
from siwire import Capability
from siwire.ext import extension_pb2 as ext

from sireference.codec import Codec
from sireference.core.model import (
    Answered,
    Call,
    Callback,
    ContainerState,
    PredicatesQuestion,
    PreemptionQuestion,
    SentEvents,
    SyncedCache,
)
from sireference.shell.callback_stream import Answer, CallbackStream, Kind
from sireference.shell.logs import LOGGER, fields
from sireference.shell.options import Limits
from sireference.shell.streams import Ending

_KINDS: Final[dict[Callback, Kind]] = {
    Callback.PREDICATES: ext.PLACEMENT_CHECK,
    Callback.PREEMPTION_PREDICATES: ext.EVICTION_CHECK,
    Callback.EVENTS: ext.EVENT_BATCH,
    Callback.CONTAINER_STATE: ext.CONTAINER_STATE,
    Callback.CACHE_SYNC: ext.CACHE_SYNC,
}
# Well below the default limit of 4 MiB of a gRPC client
_MOST_BYTES: Final = 1 << 20
_PREEMPTION_ANSWER: Final = "si.v1.PreemptionPredicatesResponse"
_NOT_READ: Final = "the resource manager does not read its callbacks"


class CallbackTable:
    """The open callback stream of every RM that has one."""

    def __init__(self, codec: Codec, limits: Limits) -> None:
        kinds = {_KINDS[callback] for callback in codec.callbacks.callbacks}
        if codec.revision.can(Capability.THREE_UPDATE_STREAMS):  # 2021-02 has no state dump
            kinds.add(ext.RM_STATE_DUMP)
        self.kinds = tuple(sorted(kinds))
        self._codec = codec.callbacks
        self._limits = limits
        self.timeout = limits.callback_timeout
        self._streams: dict[str, CallbackStream] = {}

    def bind(self, stream: CallbackStream) -> frozenset[Callback]:
        """Use ``stream`` for its RM from now on; return the callbacks the core may use."""
        self.end(stream.owner, "another Callbacks stream took its place")
        self._streams[stream.owner] = stream
        taken = stream.kinds & set(self.kinds)
        return frozenset(callback for callback, kind in _KINDS.items() if kind in taken)

    def unbind(self, stream: CallbackStream) -> bool:
        """Stop using a closed stream; return whether it was in use until now."""
        was_in_use = self._streams.get(stream.owner) is stream
        if was_in_use:
            del self._streams[stream.owner]
        stream.hang_up()
        return was_in_use

    def end(self, rm_id: str, problem: str) -> None:
        """End the stream: the RM must open another one to take callbacks."""
        stream = self._streams.get(rm_id)
        if stream is not None:
            self.unbind(stream)
            stream.end(Ending(grpc.StatusCode.ABORTED, problem))

    def all(self) -> list[CallbackStream]:
        """Return all open streams."""
        return list(self._streams.values())

    def deliver(self, call: Call, report: Callable[[Answered], object]) -> None:
        """Send the call, if the RM is connected; ``report`` gets any answer."""
        stream = self._streams.get(call.rm_id)
        if stream is None:
            return
        payloads = map(_payload, self._codec.messages(call))
        match call:
            case PredicatesQuestion():
                stream.call(ext.PLACEMENT_CHECK, payloads, self._listener(call, report))
            case PreemptionQuestion():
                stream.call(ext.EVICTION_CHECK, payloads, self._listener(call, report))
            case SyncedCache():
                stream.call(ext.CACHE_SYNC, payloads, _note_refusal)
            case ContainerState():
                stream.call(ext.CONTAINER_STATE, payloads)
            case SentEvents():
                for batch in _batches(payloads):
                    stream.call(ext.EVENT_BATCH, batch)
        if stream.outbox.size > self._limits.outbox_bytes:
            LOGGER.warning(_NOT_READ, extra=fields(rm=call.rm_id))
            stream.break_off(Ending(grpc.StatusCode.RESOURCE_EXHAUSTED, _NOT_READ))

    def _listener(
        self, call: PredicatesQuestion | PreemptionQuestion, report: Callable[[Answered], object]
    ) -> Callable[[Answer], None]:
        def listen(answer: Answer) -> None:
            suits, index = answer.ok, -1
            if suits and isinstance(call, PreemptionQuestion):
                suits, index = self._read(answer.payload)
            report(Answered(call.rm_id, call.number, suits, answer.text, index))

        return listen

    def _read(self, payload: ext.SiPayload) -> tuple[bool, int]:
        """Read an answer; anything but a PreemptionPredicatesResponse is a refusal."""
        if payload.full_name != _PREEMPTION_ANSWER:
            return False, -1
        try:
            return self._codec.preemption_answer(payload.data)
        except DecodeError:
            return False, -1

    async def state_dump(self, rm_id: str) -> Answer | None:
        """Return the RM's state dump, None if it does not offer one."""
        stream = self._streams.get(rm_id)
        if stream is None or ext.RM_STATE_DUMP not in stream.kinds & set(self.kinds):
            return None
        dump: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def listen(answer: Answer) -> None:
            if not dump.done():
                dump.set_result(answer)

        stream.call(ext.RM_STATE_DUMP, listener=listen)
        either: set[asyncio.Future[Any]] = {dump, stream.ending}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return dump.result() if dump.done() else None


def _note_refusal(answer: Answer) -> None:
    if not answer.ok:
        LOGGER.warning("a cache was not synchronised", extra=fields(reason=answer.text))


def _payload(message: Any) -> ext.SiPayload:
    given: Message = message
    return ext.SiPayload(full_name=given.DESCRIPTOR.full_name, data=given.SerializeToString())


def _batches(payloads: Iterable[ext.SiPayload]) -> Iterator[list[ext.SiPayload]]:
    batch: list[ext.SiPayload] = []
    size = 0
    for payload in payloads:
        if size > _MOST_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(payload)
        size += len(payload.data)
    if batch:
        yield batch
