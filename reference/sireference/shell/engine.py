"""The event loop's side of the core: passes events in, delivers effects, keeps deadlines."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import grpc

from sireference.clock import Clock, VirtualClock
from sireference.codec import Codec
from sireference.core.counts import Counts, count
from sireference.core.model import (
    Answer,
    Call,
    ConnectionLost,
    Effect,
    Event,
    Refused,
    Register,
    Settings,
    ShutDown,
    is_answer,
)
from sireference.core.scheduler import Scheduler
from sireference.core.snapshot import Snapshot
from sireference.core.state.resource_manager import ResourceManager
from sireference.shell import gc_tuning
from sireference.shell.callback_table import CallbackTable
from sireference.shell.configuration_locks import ConfigurationLocks
from sireference.shell.counters import Counters
from sireference.shell.jobs import PAUSE, Job, Jobs
from sireference.shell.logs import LOGGER, fields
from sireference.shell.options import Limits
from sireference.shell.recent import RecentEvents
from sireference.shell.streams import Ending, OpenStream, StreamTable

Result = TypeVar("Result")
_REREGISTERED: Final = Ending(
    grpc.StatusCode.ABORTED, "its registration has ended: the RM registered again"
)
_DOES_NOT_READ: Final = "the resource manager does not read its messages; it has to register again"


class Measuring(Protocol):
    """An observer that measures latencies."""

    def received(self, method: str) -> Callable[[], None]:
        """Note a message of this method; call the result once all answers are sent."""

    def scheduling_pass(self) -> AbstractContextManager[Any]:
        """Return a context manager around a scheduling pass."""


class Engine:
    """Owns the scheduler; every call has to come from the one event loop."""

    def __init__(
        self, codec: Codec, settings: Settings, clock: Clock, streams: StreamTable, limits: Limits
    ) -> None:
        self.codec = codec
        self.scheduler = Scheduler(settings)
        self.clock = clock
        self.callbacks = CallbackTable(codec, limits)
        self._streams = streams
        self.limits = limits
        self.configuration_locks = ConfigurationLocks()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sireference")
        self._jobs = Jobs(self.scheduler.hold, self._idle)
        self._snapshots: dict[str, asyncio.Future[Snapshot]] = {}  # under construction
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_is_for = 0.0
        self._ended: dict[str, list[OpenStream]] = {}  # by registrations that are not answered yet
        self.counters = Counters()
        self.recent = RecentEvents()
        self.is_serving = False  # between start and stop of the server
        self._measuring: Measuring | None = None

    def measure(self, measuring: Measuring) -> None:
        """Report latencies to ``measuring`` from now on."""
        self._measuring = measuring
        self.scheduler.around_pass = measuring.scheduling_pass

    def received(self, method: str) -> Callable[[], None] | None:
        """Note a message of this method; return what to call once all answers are sent."""
        return None if self._measuring is None else self._measuring.received(method)

    def serves(self, rm_id: str) -> bool:
        """Return whether this RM is registered and running."""
        return self.scheduler.serves(rm_id)

    def handle(self, event: Event) -> "asyncio.Future[Refused | None]":
        """Handle ``event`` in the core; return the refusal, if it is refused."""
        return self.take(event.rm_id, (event,))

    async def ended_streams(self, rm_id: str) -> None:
        """Wait for the end of streams closed by the registration, so that its answer comes last."""
        for stream in self._ended.pop(rm_id, ()):
            await stream.is_over.wait()

    def report(self, event: Event) -> None:
        """Handle ``event`` in the core, ignoring a refusal."""
        handled = self.handle(event)
        if handled.done():
            handled.result()

    def take(self, rm_id: str, events: Iterable[Event]) -> "asyncio.Future[Refused | None]":
        """Handle the RM's events in order until one is refused.

        This happens at once, unless there are many or earlier ones are still being handled: then it
        happens in chunks, and no other event of this RM is handled meanwhile.
        """
        return self._jobs.begin(rm_id, self._handling(self.scheduler.rms.known(rm_id), events))

    def snapshot(self, rm_id: str) -> "asyncio.Future[Snapshot]":
        """Return what is held for this RM at one moment.

        Callers share a snapshot that is being taken, because the RM does not change meanwhile.
        """
        taking = self._snapshots.get(rm_id)
        if taking is None or taking.done():
            taking = self._jobs.begin(rm_id, self.scheduler.taking_snapshot(rm_id))
            self._snapshots[rm_id] = taking
            taking.add_done_callback(partial(self._taken, rm_id))
        return asyncio.shield(taking)

    def _taken(self, rm_id: str, taking: "asyncio.Future[Snapshot]") -> None:
        if self._snapshots.get(rm_id) is taking:
            del self._snapshots[rm_id]

    async def in_thread(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return the result of ``work``, run on a thread; it must not touch the core."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(work, *arguments))

    def stop(self) -> None:
        """Stop all work on threads."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def all_counts(self) -> list[Counts]:
        """Yield the object counts of each RM, as of when it is counted."""
        all_counts = []
        for rm in self.scheduler.rms.all():
            all_counts.append(count(rm))
            await asyncio.sleep(0)
        return all_counts

    async def advance_to(self, moment: float) -> None:
        """Advance virtual time to ``moment``; each deadline is handled at its time."""
        clock = self.clock
        if not isinstance(clock, VirtualClock):
            raise TypeError("only a virtual clock can be advanced")
        await self._jobs.all_done()
        while (deadline := self.scheduler.next_deadline()) is not None and deadline <= moment:
            clock.move_to(deadline)
            self._keep_deadlines()
        clock.move_to(moment)

    def _handling(
        self, life: ResourceManager | None, events: Iterable[Event]
    ) -> Job[Refused | None]:
        """Handle in chunks for the RM's registration; a new registration drops the rest."""
        for event in events:
            for chunk in self.scheduler.chunks(event):
                is_meant = self.scheduler.rms.known(chunk.rm_id) is life
                if not is_meant and not isinstance(chunk, Register):
                    return None
                refused = self._handle(chunk)
                if refused is not None:
                    return refused
                if getattr(chunk, "more_follows", False):
                    yield
        return None

    def _handle(self, event: Event) -> Refused | None:
        now = self.clock.now()
        effects = self.scheduler.handle(event, now)
        self.recent.event(event, now)
        if isinstance(event, Register | ShutDown):
            self.callbacks.end(event.rm_id, "its registration has ended")
        if isinstance(event, Register):
            ended = self._streams.end_all(event.rm_id, _REREGISTERED)
            self._ended.setdefault(event.rm_id, []).extend(ended)
        if isinstance(event, Register | ShutDown | ConnectionLost):
            self._streams.restart_history(event.rm_id)
            LOGGER.info("resource manager: %s", type(event).__name__, extra=fields(rm=event.rm_id))
            gc_tuning.collect_frozen()
        return self.carry_out(effects)

    def _idle(self, rm_id: str) -> None:
        self.scheduler.go_on(rm_id)
        self._set_alarm()

    def carry_out(self, effects: list[Effect]) -> Refused | None:
        """Deliver answers and calls; return the refusal, if there is one."""
        self.recent.effects(effects, self.clock.now())
        refused: Refused | None = None
        answers: dict[tuple[str, str], list[Answer]] = {}
        method_of = self.codec.method_of
        for effect in effects:
            if is_answer(effect):
                answers.setdefault((effect.rm_id, method_of(effect)), []).append(effect)
            elif isinstance(effect, Refused):
                refused = effect
                self.counters.refused += 1
            elif isinstance(effect, Call):
                self.counters.report([effect])
                self.callbacks.deliver(effect, self.report)
        lost: set[str] = set()
        for (rm_id, method), given in answers.items():
            if rm_id not in lost and not self._deliver(rm_id, method, given):
                lost.add(rm_id)
        self._set_alarm()
        return refused

    def _deliver(self, rm_id: str, method: str, given: list[Answer]) -> bool:
        """Queue the answers, message by message; return whether the RM's backlog allows all.

        Each is counted when it is made: the size of the next one is not known before.
        """
        self.counters.report(given)
        for response in self.codec.responses(method, given):
            self._streams.deliver(rm_id, method, [response.SerializeToString()])
            if self._streams.waiting(rm_id) > self.limits.outbox_bytes:
                self._give_up(rm_id)
                return False
        return True

    def _give_up(self, rm_id: str) -> None:
        """Treat an RM with too large a backlog as lost, as if its connection had broken."""
        LOGGER.warning(_DOES_NOT_READ, extra=fields(rm=rm_id))
        if self.serves(rm_id):
            self._handle(ConnectionLost(rm_id))
        for stream in self._streams.of(rm_id):
            self._streams.unbind(stream)
            stream.break_off(Ending(grpc.StatusCode.RESOURCE_EXHAUSTED, _DOES_NOT_READ))

    def _set_alarm(self) -> None:
        deadline = self.scheduler.next_deadline()
        if self._alarm is not None:
            if deadline == self._alarm_is_for:
                return
            self._alarm.cancel()
            self._alarm = None
        if deadline is None:
            return
        timeout = max(0.0, deadline - self.clock.now())
        if timeout == 0.0 or not isinstance(self.clock, VirtualClock):
            later = max(timeout, PAUSE)  # a long pass may have work left
            self._alarm = asyncio.get_running_loop().call_later(later, self._keep_deadlines)
            self._alarm_is_for = deadline

    def _keep_deadlines(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self.carry_out(self.scheduler.handle_timeout(self.clock.now()))
