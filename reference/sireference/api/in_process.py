"""In-process scheduler: the common part of the APIs of all revisions."""

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, ClassVar, Self

import msgspec
from google.protobuf.message import Message
from siwire import Capability, Revision

from sireference.api.callback import SIError, StateDumpPlugin
from sireference.api.calls import Calls, Responses
from sireference.api.deadline_thread import DeadlineThread
from sireference.clock import Clock, SystemClock
from sireference.codec import NoPolicyError, Policies, codec_for
from sireference.codec.extra_config import without_secrets
from sireference.configuration.problems import ConfigurationError
from sireference.core.model import (
    Answer,
    Answered,
    Call,
    Effect,
    Event,
    Refused,
    Settings,
    ShutDown,
    is_answer,
)
from sireference.core.scheduler import Scheduler


class InProcess:
    """Common part of the APIs of all revisions; a context manager that ends with ``close``.

    Calls are allowed from any thread. They are served one at a time, and each returns when all its
    effects have been delivered by callback, on the calling thread. Calls from inside a callback
    return at once, and their effects are delivered after all earlier ones.
    """

    _is_of_one_stream: ClassVar[bool]

    def __init__(
        self,
        revision: Revision,
        policies: Policies | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        *,
        show_extra_config: bool = False,
    ) -> None:
        """Create it; without ``clock`` use system time and a thread for deadlines.

        A caller that passes a clock must call ``keep_deadlines`` when a deadline has come. With
        ``show_extra_config`` the state dump includes all of the RMs' ``extraConfig``, with secrets.
        Raises ValueError for a revision with another API.
        """
        if revision.can(Capability.ONE_UPDATE_STREAM) is not self._is_of_one_stream:
            other = "SchedulerAPI" if self._is_of_one_stream else "OneStreamAPI"
            raise ValueError(f"{revision.name} has the calls of {other}")
        self.revision = revision
        self._codec = codec_for(revision, policies)
        self._scheduler = Scheduler(settings)
        self._shows_extra_config = show_extra_config
        self._clock = clock or SystemClock()
        self._calls = Calls(self._codec.callbacks, self._answered)
        self._rms: dict[str, object] = {}
        self._to_report: deque[Call | Responses] = deque()
        self._is_calling = False
        self._is_stopped = False
        self._lock = threading.RLock()
        self._deadlines: DeadlineThread | None = None
        if clock is None:
            self._deadlines = DeadlineThread(
                self._clock, self._lock, self.next_deadline, self.keep_deadlines
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop handling deadlines; later callbacks only answer calls of the RM."""
        with self._lock:
            if self._deadlines is not None:
                self._deadlines.stop()

    def _stop(self) -> None:
        """Drop everything, including undelivered effects."""
        with self._lock:
            self.close()
            self._is_stopped = True
            self._calls.stop()
            self._to_report.clear()
            self._rms.clear()
            for rm in self._scheduler.rms.all():
                self._scheduler.handle(ShutDown(rm.rm_id), self._clock.now())

    def next_deadline(self) -> float | None:
        """Return when ``keep_deadlines`` has something to do, by the clock; None if never."""
        with self._lock:
            return None if self._is_stopped else self._scheduler.next_deadline()

    def keep_deadlines(self) -> None:
        """Handle all deadlines that are due."""
        with self._lock:
            if not self._is_stopped:
                self._report(self._scheduler.handle_timeout(self._clock.now()))

    def state_dump(self) -> str:
        """Return the state as JSON, including what RMs with a state dump add."""
        with self._lock:
            held = [self._scheduler.snapshot(rm.rm_id) for rm in self._scheduler.rms.all()]
            if not self._shows_extra_config:
                held = list(map(without_secrets, held))
            state = {
                "revision": self.revision.name,
                "now": self._clock.now(),
                "resource_managers": held,
                "dumps": {
                    rm_id: _dump(rm)
                    for rm_id, rm in self._rms.items()
                    if isinstance(rm, StateDumpPlugin)
                },
            }
            return msgspec.json.encode(state).decode()

    def _register(self, request: Message, rm: object) -> Message:
        self._check(request, "RegisterResourceManagerRequest")
        with usable():
            event = self._codec.register(request)
        with self._lock:
            self._refuse_if_stopped()
            taken = self._calls.taken_by(rm)
            effects = self._scheduler.handle(replace(event, callbacks=taken), self._clock.now())
            _raise_refusal(effects)
            self._rms[event.rm_id] = rm
            others = (one for one in self._to_report if one.rm_id != event.rm_id)
            self._to_report = deque(others)  # the earlier registration has ended
            self._report(effects)
        response: Message = self.revision.si.RegisterResourceManagerResponse()
        return response

    def _update(self, method: str, request: Message, kind: str) -> None:
        self._check(request, kind)
        with self._lock:
            for event in self._codec.events(method, request):
                self._handle(event)

    def _handle(self, event: Event) -> None:
        with self._lock:
            self._refuse_if_stopped()
            now = self._clock.now()
            effects = self._scheduler.handle(event, now)
            self._report(effects)
            _raise_refusal(effects)
            self._finish(now)

    def _finish(self, now: float) -> None:
        """Continue passes that stopped before everything was placed."""
        while (deadline := self.next_deadline()) is not None and deadline <= now:
            self._report(self._scheduler.handle_timeout(now))

    def _answered(self, answer: Answered) -> None:
        """Handle an answer; ignore it if the RM has registered again."""
        self._report(self._scheduler.handle(answer, self._clock.now()))

    def _refuse_if_stopped(self) -> None:
        if self._is_stopped:
            raise SIError("the scheduler was stopped")

    def _check(self, message: Message, kind: str) -> None:
        """Reject messages of another revision: their fields have other meanings."""
        if not isinstance(message, getattr(self.revision.si, kind)):
            revision = self.revision.name
            needed = f"{'an' if kind[0] in 'AU' else 'a'} {kind} of {revision}"
            raise TypeError(f"{needed} is needed, not {type(message).__name__}")

    def _report(self, effects: Iterable[Effect]) -> None:
        if self._is_stopped:
            return
        self._to_report.extend(self._calls_for(effects))
        if self._deadlines is not None:
            self._deadlines.changed()
        if self._is_calling:  # the thread that delivers handles these next
            return
        self._is_calling = True
        try:
            while self._to_report:
                item = self._to_report.popleft()
                self._calls.make(self._rms[item.rm_id], item)
        finally:
            self._is_calling = False

    def _calls_for(self, effects: Iterable[Effect]) -> list[Call | Responses]:
        """Group answers by method, after the calls in their order."""
        calls: list[Call | Responses] = []
        answers: dict[tuple[str, str], list[Answer]] = {}
        for effect in effects:
            if isinstance(effect, Call):
                calls.append(effect)
            elif is_answer(effect):
                where = (effect.rm_id, self._codec.method_of(effect))
                answers.setdefault(where, []).append(effect)
        for (rm_id, method), given in answers.items():
            calls.append(Responses(rm_id, method, tuple(self._codec.responses(method, given))))
        return calls


@contextmanager
def usable() -> Iterator[None]:
    """Turn any error of a configuration into an SIError."""
    try:
        yield
    except (ConfigurationError, NoPolicyError) as why:
        raise SIError(str(why)) from why


def _raise_refusal(effects: Iterable[Effect]) -> None:
    for effect in effects:
        if isinstance(effect, Refused):
            raise SIError(effect.reason)


def _dump(rm: StateDumpPlugin) -> Any:
    """Return the RM's state dump as parsed JSON, or the reason why there is none."""
    try:
        return msgspec.json.decode(rm.get_state_dump())
    except (SIError, msgspec.DecodeError) as why:
        return {"error": str(why)}
