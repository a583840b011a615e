"""The service ``siconform.ext.v1.SchedulerExtension``, on the scheduler's address."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import grpc
from siwire.ext import extension_pb2 as ext

from sireference.clock import VirtualClock
from sireference.codec import NoPolicyError
from sireference.codec.extra_config import without_secrets
from sireference.configuration.problems import ConfigurationError
from sireference.core.counts import count
from sireference.core.model import UpdateConfiguration, quoted
from sireference.core.snapshot import Snapshot
from sireference.seconds import LONGEST_SECONDS
from sireference.shell.engine import Engine
from sireference.shell.extension.callback_service import CallbackService
from sireference.shell.extension.facets import facets, milliseconds
from sireference.shell.extension.views import metrics_result, serialized, state_dump
from sireference.shell.options import Access
from sireference.shell.sharing import Sharing

SERVICE: Final = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]

Behaviour = Callable[[Any, Any], Awaitable[Any]]


class ExtensionService:
    """The calls of the extension. gRPC answers others UNIMPLEMENTED."""

    def __init__(self, engine: Engine, callbacks: CallbackService, access: Access) -> None:
        self._engine = engine
        self._callbacks = callbacks
        self._shows_extra_config = access.shows_extra_config
        self._serialized: Sharing[int, bytes] = Sharing()  # by identity of what is held

    def behaviours(self) -> dict[str, Behaviour]:
        """Return the methods by name."""
        behaviours: dict[str, Behaviour] = {
            "Describe": self.describe,
            "Snapshot": self.snapshot,
            "ReadMetrics": self.read_metrics,
            "Callbacks": self._callbacks.callbacks,
            "ApplyConfiguration": self.apply_configuration,
        }
        if isinstance(self._engine.clock, VirtualClock):
            behaviours["AdvanceClock"] = self.advance_clock
        return behaviours

    async def describe(self, request: ext.DescribeQuery, _context: Any) -> ext.Facets:
        """Return the supported facets and the timers."""
        is_virtual = isinstance(self._engine.clock, VirtualClock)
        scheduler = self._engine.scheduler
        rm = scheduler.rms.known(request.rm_id)
        settings = scheduler.settings if rm is None else rm.settings
        described = facets(self._engine.codec.revision, settings, is_virtual=is_virtual)
        callbacks = self._engine.callbacks
        described.callbacks.extend(callbacks.kinds)
        described.timers.callback_answer = milliseconds(callbacks.timeout)
        return described

    async def snapshot(self, request: ext.SnapshotQuery, _context: Any) -> bytes:
        """Return the state of one RM, with the RM's own state dump if it has one.

        It may be large, so it is serialised outside the loop.
        """
        held = await self._engine.snapshot(request.rm_id)
        given = await self._serialized.get(id(held), partial(self._serialize, held))
        dump = await self._engine.callbacks.state_dump(request.rm_id)
        if dump is not None:  # concatenated messages are merged
            given += ext.SnapshotResult(raw_json=state_dump(dump)).SerializeToString()
        return given

    async def _serialize(self, held: Snapshot) -> bytes:
        snapshot = held if self._shows_extra_config else without_secrets(held)
        return await self._engine.in_thread(serialized, snapshot)

    async def read_metrics(self, request: ext.MetricsQuery, context: Any) -> ext.MetricsResult:
        """Return the outstanding demand of one RM, and counters."""
        await self._known(request.rm_id, context)
        scheduler = self._engine.scheduler
        (known,) = (one for one in scheduler.rms.all() if one.rm_id == request.rm_id)
        outstanding = scheduler.outstanding(request.rm_id)
        return metrics_result(outstanding, count(known), self._engine.counters)

    async def _known(self, rm_id: str, context: Any) -> None:
        if not self._engine.scheduler.rms.known(rm_id):
            problem = f"resource manager {quoted(rm_id)} is not registered"
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, problem)

    async def apply_configuration(
        self, request: ext.ConfigurationChange, context: Any
    ) -> ext.ConfigurationOutcome:
        """Replace the configuration of one RM, or return what is wrong with it."""
        read = self._engine.codec.policies.configuration
        group, extra = request.policy_group, dict(request.extra)
        try:
            async with self._engine.configuration_locks.held_for(request.rm_id, request.config):
                await self._known(request.rm_id, context)
                configuration = await asyncio.to_thread(read, group, request.config)
                refused = await self._engine.handle(
                    UpdateConfiguration(request.rm_id, configuration, group, extra)
                )
        except (ConfigurationError, NoPolicyError) as why:
            return ext.ConfigurationOutcome(reason=str(why))
        if refused is not None:
            return ext.ConfigurationOutcome(reason=refused.reason)
        return ext.ConfigurationOutcome(applied=True)

    async def advance_clock(self, request: ext.ClockStep, context: Any) -> ext.ClockResult:
        """Advance time, handling every deadline at its moment."""
        if request.milliseconds < 0:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "time cannot go back")
        moment = self._engine.clock.now() + request.milliseconds / 1000
        if moment > LONGEST_SECONDS:  # it does not fit into nanoseconds since 1970
            problem = f"{quoted(str(request.milliseconds))} milliseconds lead beyond the year 2262"
            await context.abort(grpc.StatusCode.OUT_OF_RANGE, problem)
        await self._engine.advance_to(moment)
        return ext.ClockResult(now_milliseconds=round(self._engine.clock.now() * 1000))
