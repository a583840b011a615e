"""The stream on which an RM takes callbacks: calls are recorded and answered."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import grpc
from siwire.ext import extension_pb2 as ext

from siconform.protocol.callbacks import (
    Answered,
    CallbacksEnded,
    CallbacksOffered,
    EvictionCheck,
    PlacementCheck,
)
from siconform.protocol.facets import Facet
from siconform.protocol.notifications import Fact
from siconform.recording.history import History
from siconform.transport.connection import is_barrier
from siconform.transport.dialects import Dialect
from siconform.transport.dialects.callback_payloads import CallbackPayloads
from siconform.transport.extension import Extension
from siconform.transport.extension_messages import CALLBACKS

_OVER: Final = object()

Answers = Callable[[Fact], Answered]
"""Answers of the RM to checks."""


class CallbackStream:
    """One offer of an RM. Every call is in the history before it is answered."""

    def __init__(
        self,
        extension: Extension,
        dialect: Dialect,
        history: History,
        *,
        rm_id: str,
        facets: Sequence[Facet],
        offer: int,
        answers: Answers,
    ) -> None:
        self._payloads = CallbackPayloads(dialect.schema, dialect.payloads, offer)
        self._history = history
        self._rm_id = rm_id
        self._offer = offer
        self._answers = answers
        self._was_cut = False
        self._holds = threading.Event()
        self._outgoing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        kinds = [kind for kind, facet in CALLBACKS.items() if facet in facets]
        self._outgoing.put(ext.FromRm(offer=ext.FromRm.Offer(rm_id=rm_id, kinds=kinds)))
        offered = CallbacksOffered(tuple(facet.value for facet in facets), offer)
        history.add(rm_id, [offered], sent_by_rm=True)
        self._calls = extension.opens_callbacks(self._sent())
        self._listener = threading.Thread(
            target=self._listen, name=f"{rm_id} callbacks {offer}", daemon=True
        )
        self._listener.start()

    def holds(self, timeout: float) -> bool:
        """Wait for the scheduler to accept the offer, which is optional; return whether it did."""
        return self._holds.wait(timeout)

    def cut(self) -> None:
        """Take no more callbacks; nothing is recorded afterwards."""
        self._was_cut = True
        self._calls.cancel()
        self._outgoing.put(_OVER)

    def _sent(self) -> Iterator[ext.FromRm]:
        while (item := self._outgoing.get()) is not _OVER:
            yield item

    def _listen(self) -> None:
        status, details = "OK", ""
        try:
            self._calls.initial_metadata()
            self._holds.set()
            for call in self._calls:
                if not self._was_cut:
                    self._observe(call)
        except grpc.RpcError as error:
            if isinstance(error, grpc.Call):
                status, details = error.code().name, error.details() or ""
        finally:
            self._outgoing.put(_OVER)
            if not self._was_cut:
                ended = CallbacksEnded(status, details, self._offer)
                self._history.add(self._rm_id, [ended], sent_by_rm=False)

    def _observe(self, call: ext.ToRm) -> None:
        facts = list(self._payloads.received(call))
        for fact, message in facts:
            self._history.add(
                self._rm_id, [fact], sent_by_rm=False, message=message, barrier=is_barrier
            )
        if call.answer_expected:
            first = facts[0][0] if facts else None
            self._outgoing.put(ext.FromRm(answer=self._answer(call.call_id, first)))

    def _answer(self, call_id: int, received: Fact | None) -> ext.FromRm.Answer:
        if not isinstance(received, (PlacementCheck, EvictionCheck)):
            return ext.FromRm.Answer(call_id=call_id, ok=True)
        answered = self._answers(received)
        self._history.add(
            self._rm_id, [answered], sent_by_rm=True, barrier=lambda _: is_barrier(received)
        )
        if isinstance(received, PlacementCheck):
            return ext.FromRm.Answer(call_id=call_id, ok=answered.fits, text=answered.reason)
        payload = self._payloads.answer(fits=answered.fits, index=answered.index)
        return ext.FromRm.Answer(call_id=call_id, ok=True, payload=payload)
