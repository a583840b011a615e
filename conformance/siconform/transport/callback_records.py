"""The calls and answers on callback streams that pass a recorder, as the facts of a history."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from google.protobuf.message import DecodeError, Message
from siwire import rpc
from siwire.ext import extension_pb2 as ext

from siconform.protocol.callbacks import CallbacksEnded, CallbacksOffered
from siconform.protocol.notifications import Fact
from siconform.transport.dialects import Dialect
from siconform.transport.dialects.callback_calls import answer_to
from siconform.transport.dialects.callback_payloads import CallbackPayloads
from siconform.transport.extension import SERVICE
from siconform.transport.extension_messages import CALLBACKS
from siconform.transport.forwarding import Passed
from siconform.transport.name_hashing import NameHashing

CALLBACKS_PATH: Final = rpc.methods_of(SERVICE)["Callbacks"].path
_MOST_OPEN: Final = 10_000  # calls of a stream whose answers are awaited
_TO_A_CALL: Final = frozenset({ext.PLACEMENT_CHECK, ext.EVICTION_CHECK, ext.STORE_CONFIGURATION})
"""Callbacks whose answers a history contains."""

Noted = tuple[str, bool, Fact, Message | None]
"""The RM, whether it sent this, the fact, and the message it was read from."""


@dataclass(slots=True)
class _Stream:
    rm: str
    payloads: CallbackPayloads
    offer: int
    awaited: dict[int, ext.CallbackKind.ValueType] = field(default_factory=dict)  # by call id


class CallbackRecords:
    """Reads what passes on callback streams; each is the next offer of its RM."""

    def __init__(self, dialect: Dialect, hashing: NameHashing | None) -> None:
        self._dialect = dialect
        self._hashing = hashing
        self._streams: dict[int, _Stream] = {}
        self._offers: dict[str, int] = {}  # of each RM, the last one

    def of(self, passed: Passed) -> Iterator[Noted]:
        """Yield the facts of one message, or of the end of a stream by the scheduler."""
        stream = self._streams.get(passed.call)
        if passed.data is None:
            if passed.by_rm and passed.status == "OK":
                return  # a half-close; the scheduler may go on
            self._streams.pop(passed.call, None)
            if stream is not None and not passed.by_rm:
                details = self._text(passed.details)
                yield stream.rm, False, CallbacksEnded(passed.status, details, stream.offer), None
            return
        try:
            if passed.by_rm:
                yield from self._of_rm(passed, ext.FromRm.FromString(passed.data), stream)
            elif stream is not None:
                yield from self._of_scheduler(ext.ToRm.FromString(passed.data), stream)
        except DecodeError:
            return  # of the extension, about which the SI states nothing

    def _of_rm(
        self, passed: Passed, message: ext.FromRm, stream: _Stream | None
    ) -> Iterator[Noted]:
        if message.WhichOneof("body") == "offer":
            rm = message.offer.rm_id
            offer = self._offers[rm] = self._offers.get(rm, 0) + 1
            payloads = CallbackPayloads(self._dialect.schema, self._dialect.payloads, offer)
            self._streams[passed.call] = _Stream(rm, payloads, offer)
            kinds = [CALLBACKS[kind].value for kind in message.offer.kinds if kind in CALLBACKS]
            yield rm, True, CallbacksOffered(tuple(kinds), offer), None
        elif stream is not None:
            kind = stream.awaited.pop(message.answer.call_id, None)
            if kind is not None:
                answer = message.answer
                answer.text = self._text(answer.text)
                answer.payload.CopyFrom(self._payload(answer.payload))
                fact, read = answer_to(self._dialect.schema, kind, answer)
                yield stream.rm, True, fact, read

    def _of_scheduler(self, call: ext.ToRm, stream: _Stream) -> Iterator[Noted]:
        if call.answer_expected and call.kind in _TO_A_CALL:
            if len(stream.awaited) >= _MOST_OPEN:
                del stream.awaited[next(iter(stream.awaited))]
            stream.awaited[call.call_id] = call.kind
        for payload in call.payloads:
            payload.CopyFrom(self._payload(payload))
        for fact, message in stream.payloads.received(call):
            yield stream.rm, False, fact, message

    def _payload(self, payload: ext.SiPayload) -> ext.SiPayload:
        """Return it with hashes; one that cannot be read becomes empty."""
        if self._hashing is None or not payload.full_name:
            return payload
        name = payload.full_name.rpartition(".")[2]
        try:
            data = self._hashing.hashed(name, payload.data)
        except (AttributeError, DecodeError):
            data = b""
        return ext.SiPayload(full_name=payload.full_name, data=data)

    def _text(self, text: str) -> str:
        return text if self._hashing is None else self._hashing.text(text)
