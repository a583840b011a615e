"""Callback payloads: those of one revision become facts, and answers become payloads."""

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.message import DecodeError, Message
from siwire.ext import extension_pb2 as ext

from siconform.outcomes import NotExpressible
from siconform.protocol.callbacks import InvalidCall
from siconform.protocol.events import EmptyBatch
from siconform.protocol.notifications import Fact, NotInSpec
from siconform.transport.dialects.schema import Schema
from siconform.transport.dialects.tables import Payload

ReadFact = tuple[Fact, Message | None]
"""A fact and the message it was read from."""


class CallbackPayloads:
    """Reader of the calls of one callback stream, the ``offer``-th of its RM."""

    def __init__(self, schema: Schema, payloads: Mapping[int, Payload], offer: int) -> None:
        self._schema = schema
        self._offer = offer
        self._payloads = payloads

    def received(self, call: ext.ToRm) -> Iterator[ReadFact]:
        """Return all facts of one call, in order."""
        if call.kind not in self._payloads:
            yield InvalidCall(f"callback {call.kind} was not offered", self._offer), None
            return
        wanted = self._payloads[call.kind]
        if call.kind == ext.EVENT_BATCH and not call.payloads:
            yield EmptyBatch(self._offer), None
        if call.kind != ext.EVENT_BATCH and len(call.payloads) != 1:
            problem = f"{len(call.payloads)} payloads where one {wanted.message} belongs"
            yield InvalidCall(problem, self._offer), None
            return
        for payload in call.payloads:
            yield from self._read(payload.full_name, payload.data, wanted)

    def answer(self, *, fits: bool, index: int) -> ext.SiPayload:
        """Return the answer to an eviction check."""
        response: Any = self._schema.own("PreemptionPredicatesResponse")
        answer = self._schema.sent(response(success=fits, index=index))
        return ext.SiPayload(full_name=answer.DESCRIPTOR.full_name, data=answer.SerializeToString())

    def read(self, payload: Payload, data: bytes) -> Iterator[ReadFact]:
        """Return all facts of one payload."""
        return self._read(f"si.v1.{payload.message}", data, payload)

    def _read(self, full_name: str, data: bytes, wanted: Payload) -> Iterator[ReadFact]:
        name = wanted.message
        if full_name != f"si.v1.{name}":
            problem = f"a payload {full_name} where si.v1.{name} belongs"
            yield InvalidCall(problem, self._offer), None
            return
        try:
            message = self._schema.read(name, data)
        except DecodeError as error:
            yield InvalidCall(f"{name}: {error}: {data.hex()}", self._offer), None
            return
        except NotExpressible as lost:
            yield from ((NotInSpec(None, *one), None) for one in lost.elements.items())
            return
        read, losses = self._schema.observed(message)
        for fact in wanted.read(read, self._offer):
            yield fact, message
        yield from ((NotInSpec(None, *one), message) for one in losses.items())
