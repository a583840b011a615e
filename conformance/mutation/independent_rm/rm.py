"""The RM: its connection, and what it does with what it receives."""

import asyncio
import contextlib
import json
import time
from typing import Any, Final

import grpc
from siwire import REVISIONS, rpc
from siwire.ext import extension_pb2 as ext
from siwire.r2024_10 import si_pb2 as si

from mutation.independent_rm.reports import Reports
from mutation.independent_rm.session import (
    ALLOCATION,
    APPLICATION,
    NODE,
    REQUESTS,
    RM_ID,
    Confirmation,
    Session,
)
from mutation.independent_rm.world import Application, Container, Phase, keys

_REVISION: Final = REVISIONS["2024-10"]
_THIRD: Final = 3
_TRIES_AGAIN_AFTER: Final = 1.5
_EXTRA: Final = b"\xa2\x1f\x03new"  # field 500


class Rm(Reports):
    """One RM, connected to one scheduler."""

    # Connecting

    def start(self) -> None:
        """Connect, again if it is connected."""
        if self._task is not None:
            self._task.cancel()
        self.session = None
        self._task = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        if "slow" in self.on:
            await asyncio.sleep(1.5)
        while True:
            try:
                async with grpc.aio.insecure_channel(self.scheduler) as channel:
                    await self._register(channel)
                    self.session = Session()
                    await self._serve(channel, self.session)
            except grpc.RpcError:
                pass
            finally:
                self.session = None
            await asyncio.sleep(0.2)

    async def _register(self, channel: grpc.aio.Channel) -> None:
        method = rpc.methods(_REVISION)["RegisterResourceManager"]
        request = si.RegisterResourceManagerRequest(
            rmID=RM_ID, version="0.1", policyGroup="queues", buildInfo={"arch": "any"}
        )
        if "new-rm-version" in self.on:
            request.version = request.buildInfo["build"] = str(time.time())
        await rpc.callable_for(channel, method)(request, timeout=5)
        self.registrations += 1
        self.world.registrations += 1

    async def _serve(self, channel: grpc.aio.Channel, session: Session) -> None:
        tasks = [
            asyncio.create_task(one)
            for one in (
                self._reconciles(session),
                self._callbacks(channel),
                self._reregisters(session),
                *(self._sends(channel, session, name) for name in REQUESTS),
            )
        ]
        try:
            await session.ended.wait()
        finally:
            for task in tasks:
                task.cancel()

    async def _reregisters(self, session: Session) -> None:
        seconds = {"reregisters": 20.0, "reregisters-often": 4.0}
        pause = min((seconds[name] for name in seconds if name in self.on), default=0.0)
        if pause:
            await asyncio.sleep(pause)
            session.ended.set()

    # Streams

    async def _sends(self, channel: grpc.aio.Channel, session: Session, name: str) -> None:
        stream = session.streams[name]
        readers: list[asyncio.Task[None]] = []
        try:
            while True:
                if "batches" in self.on:
                    await asyncio.sleep(0.5)
                else:
                    await asyncio.sleep(0.02)
                at_once = not stream.opened and "lazy-streams" not in self.on
                if stream.call is None and (stream.waiting or at_once):
                    stream.opened = True
                    method = rpc.methods(_REVISION)[name]
                    stream.call = rpc.callable_for(channel, method)()
                    await stream.call.write(REQUESTS[name](rmID=RM_ID))
                    stream.used = time.monotonic()
                    readers.append(asyncio.create_task(self._reads(session, name, stream.call)))
                if stream.waiting and stream.call is not None:
                    elements, stream.waiting = stream.waiting, []
                    if "slow" in self.on:
                        await asyncio.sleep(0.4)
                    size = 1 if "one-element" in self.on else len(elements)
                    for start in range(0, len(elements), size):
                        message = self._message(name, elements[start : start + size])
                        await stream.call.write(message)
                        stream.used = time.monotonic()
                idle = time.monotonic() - stream.used > 1
                if "half-closes" in self.on and stream.call and idle and name == NODE:
                    half_closed, stream.call = stream.call, None
                    await half_closed.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError):
            session.ended.set()
        finally:
            for reader in readers:
                reader.cancel()

    async def _reads(self, session: Session, name: str, call: Any) -> None:
        stream = session.streams[name]
        with contextlib.suppress(grpc.RpcError):
            async for answer in call:
                self._take(session, name, answer)
                self.changed.set()
        if stream.call is not call:  # half-closed
            return
        self._aborts += 1
        if "second-abort" in self.on and self._aborts > 1:
            stream.call, stream.opened = None, False
            return
        session.ended.set()

    def _message(self, name: str, elements: list[tuple[str, Any]]) -> Any:
        message = REQUESTS[name](rmID=RM_ID)
        for kind, element in elements:
            if kind == "releases":
                message.releases.allocationsToRelease.append(element)
            else:
                getattr(message, kind).append(element)
        if "unknown-fields" in self.on:
            message.MergeFromString(_EXTRA)
        self._messages += name == ALLOCATION
        if "other-rm-id" in self.on and name == ALLOCATION and self._messages % 5 == 0:
            message.rmID = RM_ID + "-2"
        return message

    # What comes

    def _take(self, session: Session, name: str, answer: Any) -> None:
        if name == NODE:
            for verdict, ones in ((True, answer.accepted), (False, answer.rejected)):
                for one in ones:
                    if one.nodeID in session.nodes:
                        session.nodes[one.nodeID].take(accepted=verdict)
        elif name == APPLICATION:
            self._take_applications(session, answer)
        else:
            self._take_allocations(session, answer)

    def _take_applications(self, session: Session, answer: si.ApplicationResponse) -> None:
        for verdict, ones in ((True, answer.accepted), (False, answer.rejected)):
            for one in ones:
                app = self.world.applications.get(one.applicationID)
                if app is not None and app in session.applications:
                    session.applications[app].take(accepted=verdict)
                    if not verdict:
                        self._ask_later("asks-rejected", app)
                        app.end()
        for update in answer.updated:
            app = self.world.applications.get(update.applicationID)
            if app is not None and not app.over:
                app.state = update.state
                waiting = [one for one in app.containers if one.phase is Phase.WAITING]
                app.update(update.state)
                if app.over and waiting:
                    self._ask_later("asks-after-end", app)

    def _ask_later(self, switch: str, app: Application) -> None:
        if switch in self.on and app.containers:
            one = next((c for c in app.containers if not c.placeholder), app.containers[0])
            self._later.append((time.monotonic() + _TRIES_AGAIN_AFTER, self._allocation(one)))

    def _take_allocations(self, session: Session, answer: si.AllocationResponse) -> None:
        for rejected in answer.rejectedAllocations:
            one = self.world.container(rejected.allocationKey)
            if one is not None and one in session.containers:
                session.containers[one].rejected = True
                session.containers[one].verdict_at = time.monotonic()
                if "ends-rejected" in self.on:
                    session.containers[one].released = True
                    one.ends()
        for new in answer.new:
            self._take_allocation(session, new)
        stops = [one for one in answer.released if one.terminationType == si.STOPPED_BY_RM]
        if "answers-several" in self.on and len(stops) > 1:
            session.streams[ALLOCATION].waiting += [("releases", stops[-1])]
        started = [one for one in answer.released if one.terminationType != si.STOPPED_BY_RM]
        for number, release in enumerate(started, 1):
            self._take_release(session, release, unconfirmed=number == _THIRD)

    def _take_allocation(self, session: Session, new: si.Allocation) -> None:
        one = self.world.container(new.allocationKey)
        if one is None:
            if new.applicationID:
                self._release(session, new.allocationKey, new.applicationID)
            return
        sent = session.containers.get(one)
        if one.phase is Phase.WAITING:
            one.node, one.phase, one.placed = new.nodeID, Phase.STARTED, True
        if sent is not None:
            sent.live = True

    def _take_release(
        self, session: Session, release: si.AllocationRelease, *, unconfirmed: bool
    ) -> None:
        whole = not release.allocationKey
        app = self.world.applications.get(release.applicationID)
        ones = self._meant(app, release.allocationKey)
        for one in ones:
            self._stop(one)
            if one in session.containers:
                session.containers[one].released = True
            preempted = release.terminationType == si.PREEMPTED_BY_SCHEDULER
            if "resubmits-preempted" in self.on and preempted and app and not one.group:
                self._resubmit(app, one)
            if "asks-again-withdrawn" in self.on and not one.placed:
                self._later.append((time.monotonic() + _TRIES_AGAIN_AFTER, self._allocation(one)))
        if unconfirmed and "third-unconfirmed" in self.on:
            return
        if whole and "confirms-whole" not in self.on:
            for one in ones:
                copy = si.AllocationRelease()
                copy.CopyFrom(release)
                copy.allocationKey = one.key
                session.confirmations.append(Confirmation(copy, [one]))
        else:
            session.confirmations.append(Confirmation(release, ones))

    def _meant(self, app: Application | None, key: str) -> list[Container]:
        """Return what a release is about: without key all of the application."""
        if key:
            by_key = self.world.container(key)
            return [by_key] if by_key else []
        ones = [one for one in app.containers if one.on_node] if app else []
        if "whole-spares-third" in self.on:
            ones = [*ones[:2], *ones[3:]]
        if "stops-other" in self.on and app is not None:
            for one in self.world.containers():
                if one.application != app.id and one.phase is Phase.STARTED:
                    one.phase, one.stops_at = Phase.STOPPING, time.monotonic() + 1
        return ones

    def _resubmit(self, app: Application, one: Container) -> None:
        name = next(iter(keys(app.id + "-again", frozenset())))
        fresh = Container(name, app.id, "", placeholder=False, shape=one.shape)
        fresh.resource = dict(one.resource)
        app.containers.append(fresh)

    def _stop(self, one: Container) -> None:
        if one.phase is Phase.STARTED and one.shape.stopping_milliseconds:
            one.phase = Phase.STOPPING
            one.stops_at = time.monotonic() + one.shape.stopping_milliseconds / 1000
        elif one.phase is not Phase.STOPPING:
            one.ends()

    def stop(self, one: Container) -> None:
        """Stop a container as its user or its application asks for."""
        self._stop(one)
        self.changed.set()

    # Callbacks

    async def _callbacks(self, channel: grpc.aio.Channel) -> None:
        if "no-callbacks" in self.on:
            return
        service = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]
        call = rpc.callable_for(channel, rpc.methods_of(service)["Callbacks"])()
        kinds = [ext.PLACEMENT_CHECK, ext.EVICTION_CHECK, ext.EVENT_BATCH, ext.CONTAINER_STATE]
        offer = ext.FromRm.Offer(rm_id=RM_ID, kinds=[*kinds, ext.RM_STATE_DUMP])
        with contextlib.suppress(grpc.RpcError):
            await call.write(ext.FromRm(offer=offer))
            async for asked in call:
                if asked.answer_expected:
                    await call.write(ext.FromRm(answer=self._answer(asked)))

    def _answer(self, asked: ext.ToRm) -> ext.FromRm.Answer:
        answer = ext.FromRm.Answer(call_id=asked.call_id, ok=True)
        if asked.kind == ext.PLACEMENT_CHECK:
            args = si.PredicatesArgs.FromString(asked.payloads[0].data)
            answer.ok, answer.text = self._may_run(args.allocationKey, args.nodeID)
        elif asked.kind == ext.EVICTION_CHECK:
            data = self._victims(
                si.PreemptionPredicatesArgs.FromString(asked.payloads[0].data)
            ).SerializeToString()
            name = "si.v1.PreemptionPredicatesResponse"
            answer.payload.CopyFrom(ext.SiPayload(full_name=name, data=data))
        elif asked.kind == ext.RM_STATE_DUMP:
            answer.text = json.dumps({"registrations": self.registrations})
        return answer

    def _may_run(self, key: str, node: str) -> tuple[bool, str]:
        one = self.world.container(key)
        if one is None or node not in self.world.nodes:
            return False, "unknown"
        allowed = list(one.shape.allowed_nodes)
        if "any-node" in self.on:
            allowed = allowed[:1]
        return (True, "") if not allowed or node in allowed else (False, "not on this node")

    def _victims(self, args: si.PreemptionPredicatesArgs) -> si.PreemptionPredicatesResponse:
        one = self.world.container(args.allocationKey)
        victims = list(args.preemptAllocationKeys)
        if one is None or not self._may_run(one.key, args.nodeID)[0]:
            return si.PreemptionPredicatesResponse()
        for index in range(max(args.startIndex, 0), len(victims)):
            gone = victims if "never-too-many" in self.on else victims[: index + 1]
            free = self.world.free(args.nodeID, gone)
            if all(amount <= free.get(name, 0) for name, amount in one.resource.items()):
                return si.PreemptionPredicatesResponse(success=True, index=index)
        return si.PreemptionPredicatesResponse()
