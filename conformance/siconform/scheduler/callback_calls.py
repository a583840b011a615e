"""The callbacks of the simulated scheduler: calls on the stream an RM opened, and its answers."""

import threading
from itertools import count
from typing import Final

from siwire.ext import extension_pb2 as ext

from siconform.outcomes import NotOffered
from siconform.protocol.callbacks import CallbacksOffered
from siconform.protocol.notifications import Fact
from siconform.recording.history import History
from siconform.scheduler.server import ServedStream
from siconform.transport.dialects.callback_calls import answer_to, call_with, kind_of_call
from siconform.transport.dialects.schema import Schema
from siconform.transport.extension_messages import CALLBACKS

_NAMES: Final = {
    **{number: facet.value for number, facet in CALLBACKS.items()},
    ext.RM_STATE_DUMP: "state dump",
    ext.STORE_CONFIGURATION: "configuration store",
}


class CallbackCalls:
    """The latest offer of an RM. Calls may be made by several threads at a time."""

    def __init__(self, schema: Schema, history: History) -> None:
        self._schema = schema
        self._history = history
        self._numbers = count(1)
        self._offers = count(1)
        self._stream: ServedStream | None = None
        self._rm_id = ""
        self._kinds: frozenset[ext.CallbackKind.ValueType] = frozenset()
        self._open: dict[int, ext.CallbackKind.ValueType] = {}  # call id -> kind
        self._answers: dict[int, Fact] = {}
        self._changed = threading.Condition()

    @property
    def is_open(self) -> bool:
        """Whether the RM has offered callbacks and not ended that stream."""
        return self._stream is not None and self._stream.open

    def offers(self, kind: ext.CallbackKind.ValueType) -> bool:
        """Return whether the RM takes this callback now."""
        return kind in self._kinds and self.is_open

    def received(self, stream: ServedStream, message: ext.FromRm) -> None:
        """Handle an offer or an answer."""
        with self._changed:
            if message.WhichOneof("body") == "answer":
                self._answered(message.answer)
            else:
                self._offered(stream, message.offer)
            self._changed.notify_all()

    def ends(self) -> None:
        """End the offer: the RM has registered again."""
        with self._changed:
            if self._stream is not None:
                self._stream.end()

    def call(self, *facts: Fact, timeout: float) -> Fact | None:
        """Call the RM; return its answer, None if it gives none or none in time.

        NotOffered if it does not take this callback.
        """
        kind = kind_of_call(facts[0])
        with self._changed:
            stream = self._stream
            if stream is None or not self.offers(kind):
                raise NotOffered(f"the RM does not offer the callback {_NAMES[kind]}")
            number = next(self._numbers)
            call, message = call_with(self._schema, number, facts)
            self._history.add(self._rm_id, facts, sent_by_rm=False, message=message)
            if call.answer_expected:
                self._open[number] = kind
            stream.send(call)
            if not call.answer_expected:
                return None
            self._changed.wait_for(lambda: number in self._answers or not stream.open, timeout)
            return self._answers.pop(number, None)

    def _offered(self, stream: ServedStream, offer: ext.FromRm.Offer) -> None:
        former, self._stream = self._stream, stream
        if former is not None and former is not stream:
            former.end()
        self._rm_id, self._kinds = offer.rm_id, frozenset(offer.kinds)
        names = tuple(_NAMES.get(kind, str(kind)) for kind in offer.kinds)
        offered = CallbacksOffered(names, next(self._offers))
        self._history.add(offer.rm_id, [offered], sent_by_rm=True)

    def _answered(self, answer: ext.FromRm.Answer) -> None:
        kind = self._open.pop(answer.call_id, None)
        if kind is None:
            return  # not a call, or answered already
        fact, message = answer_to(self._schema, kind, answer)
        self._history.add(self._rm_id, [fact], sent_by_rm=True, message=message)
        self._answers[answer.call_id] = fact
