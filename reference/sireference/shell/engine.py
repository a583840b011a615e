"""The loop's side of the core: events go in, effects reach the streams, deadlines are kept."""

import asyncio
from typing import Final

import grpc

from sireference.clock import Clock, VirtualClock
from sireference.codec import Codec
from sireference.core.model import (
    Answer,
    Call,
    Configured,
    ConnectionLost,
    Effect,
    Event,
    Refused,
    Register,
    Registered,
    Settings,
    ShutDown,
)
from sireference.core.scheduler import Scheduler
from sireference.shell.counters import Counters
from sireference.shell.extension.callback_table import CallbackTable
from sireference.shell.logs import LOGGER, fields
from sireference.shell.options import Limits
from sireference.shell.streams import Ending, StreamTable

_DOES_NOT_READ: Final = (
    "the resource manager does not read what it is told; it has to register again"
)


class Engine:
    """Owns the scheduler; every call has to come from the one event loop."""

    def __init__(
        self, codec: Codec, settings: Settings, clock: Clock, streams: StreamTable, limits: Limits
    ) -> None:
        self.codec = codec
        self.scheduler = Scheduler(settings)
        self.clock = clock
        self.callbacks = CallbackTable(codec.revision, limits)
        self._streams = streams
        self._limits = limits
        self._alarm: asyncio.TimerHandle | None = None
        self.counters = Counters()

    def serves(self, rm_id: str) -> bool:
        """Whether this RM is registered and running."""
        return self.scheduler.serves(rm_id)

    def handle(self, event: Event) -> Refused | None:
        """Let the core handle ``event``; the refusal, if it was one."""
        effects = self.scheduler.handle(event, self.clock.now())
        if isinstance(event, Register | ShutDown):
            self.callbacks.end(event.rm_id, "the registration it belongs to is over")
        if isinstance(event, Register | ShutDown | ConnectionLost):
            self._streams.begin_anew(event.rm_id)
            LOGGER.info("resource manager: %s", type(event).__name__, extra=fields(rm=event.rm_id))
        return self._carry_out(effects)

    def advance_to(self, moment: float) -> None:
        """Let virtual time pass until ``moment``; each deadline is kept when it comes."""
        clock = self.clock
        if not isinstance(clock, VirtualClock):
            raise TypeError("only a virtual clock can be moved on")
        while (deadline := self.scheduler.next_deadline()) is not None and deadline <= moment:
            clock.move_to(deadline)
            self._ring()
        clock.move_to(moment)

    def _carry_out(self, effects: list[Effect]) -> Refused | None:
        refused: Refused | None = None
        answers: dict[tuple[str, str], list[Answer]] = {}
        method_of = self.codec.method_of
        for effect in effects:
            if isinstance(effect, Refused):
                refused = effect
                self.counters.refused += 1
            elif isinstance(effect, Call):
                self.counters.tell([effect])
                self.callbacks.deliver(effect, self.handle)
            elif not isinstance(effect, Registered | Configured):
                answers.setdefault((effect.rm_id, method_of(effect)), []).append(effect)
        for (rm_id, method), said in answers.items():
            self.counters.tell(said)
            responses = self.codec.responses(method, said)
            self._streams.deliver(rm_id, method, [one.SerializeToString() for one in responses])
        self._set_alarm()
        for rm_id in {rm_id for rm_id, _ in answers}:
            if self._streams.waiting(rm_id) > self._limits.outbox_bytes:
                self._give_up(rm_id)
        return refused

    def _give_up(self, rm_id: str) -> None:
        """Too much waits for an RM that does not read: it is lost, as if its connection were."""
        LOGGER.warning(_DOES_NOT_READ, extra=fields(rm=rm_id))
        if self.serves(rm_id):
            self.handle(ConnectionLost(rm_id))
        for stream in self._streams.of(rm_id):
            self._streams.unbind(stream)
            stream.break_off(Ending(grpc.StatusCode.RESOURCE_EXHAUSTED, _DOES_NOT_READ))

    def _set_alarm(self) -> None:
        deadline = self.scheduler.next_deadline()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if deadline is None:
            return
        patience = max(0.0, deadline - self.clock.now())
        if patience == 0.0 or not isinstance(self.clock, VirtualClock):
            self._alarm = asyncio.get_running_loop().call_later(patience, self._ring)

    def _ring(self) -> None:
        self._carry_out(self.scheduler.handle_timeout(self.clock.now()))
