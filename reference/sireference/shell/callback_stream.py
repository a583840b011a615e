"""The stream on which one RM takes callbacks: calls with and without answers."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from siwire.ext import extension_pb2 as ext

from sireference.shell.streams import OpenStream

Kind: TypeAlias = "ext.CallbackKind.ValueType"
Answer: TypeAlias = ext.FromRm.Answer
Listener = Callable[[Answer], None]

_METHOD: Final = "Callbacks"
_NO_ANSWER: Final = "the resource manager did not answer in time"


class CallbackStream(OpenStream):
    """A stream after its offer of ``kinds``; no answer within ``timeout`` is a refusal."""

    def __init__(self, rm_id: str, kinds: Iterable[Kind], timeout: float) -> None:
        super().__init__(_METHOD)
        self.owner = rm_id
        self.kinds = frozenset(kinds)
        self._timeout = timeout
        self._open: dict[int, tuple[Listener, asyncio.TimerHandle]] = {}
        self._calls = 0

    def call(
        self, kind: Kind, payloads: Iterable[ext.SiPayload] = (), listener: Listener | None = None
    ) -> None:
        """Send one call; ``listener`` gets the answer, if one is expected."""
        self._calls += 1
        if listener is not None:
            silence = Answer(call_id=self._calls, ok=False, text=_NO_ANSWER)
            alarm = asyncio.get_running_loop().call_later(self._timeout, self.answer, silence)
            self._open[self._calls] = (listener, alarm)
        is_question = listener is not None
        message = ext.ToRm(
            call_id=self._calls, kind=kind, payloads=payloads, answer_expected=is_question
        )
        self.put([message.SerializeToString()])

    def answer(self, answer: Answer) -> None:
        """Handle an answer; ignore one that is not (or no longer) expected."""
        listener, alarm = self._open.pop(answer.call_id, (None, None))
        if listener is not None and alarm is not None:
            alarm.cancel()
            listener(answer)

    def hang_up(self) -> None:
        """Drop all expected answers; the core asks again."""
        for _, alarm in self._open.values():
            alarm.cancel()
        self._open.clear()
