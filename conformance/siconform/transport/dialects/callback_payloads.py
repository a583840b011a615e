"""The words of callbacks: payloads of one revision become facts, and an answer becomes one."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError, Message
from siwire import Revision
from siwire.ext import extension_pb2 as ext

from siconform.protocol.callbacks import StrangeCall
from siconform.protocol.events import EmptyBatch
from siconform.protocol.notifications import Fact
from siconform.transport.dialects.registry import tables_of
from siconform.transport.dialects.tables import Payload

ReadFact = tuple[Fact, Message | None]
"""A fact and the message it was read from."""


class CallbackPayloads:
    """Reads the calls of one stream of callbacks, the ``offer``-th of its RM."""

    def __init__(self, revision: Revision, offer: int) -> None:
        self._si: Any = revision.si
        self._offer = offer
        self._payloads = tables_of(revision).payloads

    def told(self, call: ext.ToRm) -> Iterator[ReadFact]:
        """Everything one call tells, in its order."""
        if call.kind not in self._payloads:
            yield StrangeCall(f"callback {call.kind} was not offered", self._offer), None
            return
        wanted = self._payloads[call.kind]
        if call.kind == ext.EVENT_BATCH and not call.payloads:
            yield EmptyBatch(self._offer), None
        if call.kind != ext.EVENT_BATCH and len(call.payloads) != 1:
            problem = f"{len(call.payloads)} payloads where one {wanted.message} belongs"
            yield StrangeCall(problem, self._offer), None
            return
        for payload in call.payloads:
            yield from self._read(payload, wanted)

    def answer(self, *, fits: bool, index: int) -> ext.SiPayload:
        """The answer to an eviction check."""
        response = self._si.PreemptionPredicatesResponse(success=fits, index=index)
        return ext.SiPayload(
            full_name=response.DESCRIPTOR.full_name, data=response.SerializeToString()
        )

    def _read(self, payload: ext.SiPayload, wanted: Payload) -> Iterator[ReadFact]:
        name = wanted.message
        if payload.full_name != f"si.v1.{name}":
            problem = f"a payload {payload.full_name} where si.v1.{name} belongs"
            yield StrangeCall(problem, self._offer), None
            return
        try:
            message = getattr(self._si, name).FromString(payload.data)
        except DecodeError as error:
            yield StrangeCall(f"{name}: {error}: {payload.data.hex()}", self._offer), None
            return
        for fact in wanted.read(message, self._offer):
            yield fact, message
