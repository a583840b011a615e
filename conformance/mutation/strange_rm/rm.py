"""The RM: it compares what exists with what it sent, and sends the rest."""

import asyncio
import contextlib
import json
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
from siwire import REVISIONS, rpc
from siwire.ext import extension_pb2 as ext
from siwire.r2024_10 import si_pb2 as si

from mutation.strange_rm.world import Application, Container, Foreign, Node, Phase, World, keys

RM_ID: Final = "strange-rm"
NODE, APPLICATION, ALLOCATION = "UpdateNode", "UpdateApplication", "UpdateAllocation"
_REVISION: Final = REVISIONS["2024-10"]
_REQUESTS: Final = {
    NODE: si.NodeRequest,
    APPLICATION: si.ApplicationRequest,
    ALLOCATION: si.AllocationRequest,
}
_THIRD: Final = 3
_AFTER_RESET: Final = 1  # the kit restarts the RM after each reset
_UNDRAINED_AFTER: Final = 0.7  # seconds
_AT_ONCE: Final = 0.5
_ON_THE_WAY: Final = 0.05
_ASKS_AFTER: Final = 2.0
_TRIES_AGAIN_AFTER: Final = 1.5
_EXTRA: Final = b"\xa2\x1f\x03new"  # field 500
_STOPPED: Final = "STOPPED_BY_RM"


@dataclass(eq=False)
class Sent:
    """What one session has sent about a node, an application or a container, and its verdict."""

    at: float
    verdict: bool | None = None
    verdict_at: float = 0.0
    cordoned: bool = False
    view: Any = None
    live: bool = False  # allocated, or reported as existing
    released: bool = False
    rejected: bool = False

    def take(self, *, accepted: bool) -> None:
        """Note a verdict."""
        self.verdict, self.verdict_at = accepted, time.monotonic()


@dataclass(eq=False)
class Confirmation:
    """A release of the scheduler that has yet to be confirmed."""

    release: si.AllocationRelease
    containers: list[Container]
    due: float = 0.0
    repeated: bool = False


@dataclass(eq=False)
class Stream:
    """An update stream: elements that wait, and the call while it is open."""

    waiting: list[tuple[str, Any]] = field(default_factory=list)
    call: Any = None
    used: float = 0.0
    opened: bool = False


@dataclass(eq=False)
class Session:
    """From one registration to the next."""

    nodes: dict[str, Sent] = field(default_factory=dict)
    applications: dict[Application, Sent] = field(default_factory=dict)
    containers: dict[Container, Sent] = field(default_factory=dict)
    foreign: dict[Foreign, Sent] = field(default_factory=dict)
    confirmations: list[Confirmation] = field(default_factory=list)
    streams: dict[str, Stream] = field(default_factory=lambda: {n: Stream() for n in _REQUESTS})
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    silent_until: float = 0.0


class Rm:
    """One RM, connected to one scheduler."""

    def __init__(self, scheduler: str, switches: frozenset[str], world: World) -> None:
        self.scheduler, self.on, self.world = scheduler, switches, world
        self.session: Session | None = None
        self.registrations = 0
        self.changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._started = 0
        self._messages = 0
        self._aborts = 0
        self._early: dict[Application, float] = {}
        self._last_type = si.UNKNOWN_TERMINATION_TYPE
        self._later: list[tuple[float, si.Allocation]] = []  # of mutants
        self._resized: set[Container] = set()
        self._ended_keys = 0

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
                *(self._sends(channel, session, name) for name in _REQUESTS),
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
                    await stream.call.write(_REQUESTS[name](rmID=RM_ID))
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
        message = _REQUESTS[name](rmID=RM_ID)
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

    # What goes

    async def _reconciles(self, session: Session) -> None:
        while True:
            self.changed.clear()
            now = time.monotonic()
            if now >= session.silent_until:
                self._nodes(session, now)
                self._applications(session, now)
                self._containers(session, now)
                self._foreign(session, now)
                self._confirm(session, now)
                for due in [one for one in self._later if one[0] <= now]:
                    self._later.remove(due)
                    session.streams[ALLOCATION].waiting.append(("allocations", due[1]))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.changed.wait(), 0.1)

    def _nodes(self, session: Session, now: float) -> None:
        out = session.streams[NODE].waiting
        nodes = list(self.world.nodes.values())
        for node in reversed(nodes) if "alphabetical" in self.on else nodes:
            sent = session.nodes.get(node.id)
            if sent is None:
                undecided = any(one.verdict is None for one in session.nodes.values())
                late = (
                    "cordoned-late" in self.on and node.cordoned and self.world.registrations == 1
                )
                if not late and not (undecided and "waits-each" in self.on):
                    session.nodes[node.id] = self._create(out, node, now)
            elif sent.verdict is not False:
                self._update(session, node, sent, now)
        for name, sent in list(session.nodes.items()):
            if name in self.world.nodes:
                continue
            del session.nodes[name]
            if sent.verdict is not False:
                gone = Node(name, sent.view[0], sent.view[1], cordoned=False)
                out.append(("nodes", self._node(gone, "DECOMISSION")))

    def _create(self, out: list[tuple[str, Any]], node: Node, now: float) -> Sent:
        draining = node.cordoned and "create-then-drain" not in self.on
        draining = draining or "all-draining" in self.on
        out.append(("nodes", self._node(node, "CREATE_DRAIN" if draining else "CREATE")))
        sent = Sent(now, cordoned=draining, view=(dict(node.attributes), dict(node.capacity)))
        if node.cordoned and not draining:
            out.append(("nodes", self._node(node, "DRAIN_NODE")))
            sent.cordoned = True
        return sent

    def _update(self, session: Session, node: Node, sent: Sent, now: float) -> None:
        out = session.streams[NODE].waiting
        view = (dict(node.attributes), dict(node.capacity))
        beat = "heartbeats" in self.on and sent.verdict and now - sent.at > 1
        if view != sent.view or beat:
            sent.at, sent.view = now, view
            out.append(("nodes", self._node(node, "UPDATE")))
        held = [one for one in self.world.containers() if one.on_node and one.node == node.id]
        filled = all(one in session.containers for one in held)
        settled = sent.verdict and now - sent.verdict_at > _UNDRAINED_AFTER and filled
        if node.cordoned and not sent.cordoned:
            sent.cordoned = True
            out.append(("nodes", self._node(node, "DRAIN_NODE")))
            if "waits-after-drain" in self.on:
                session.silent_until = now + 8
        elif sent.cordoned and not node.cordoned and (settled or "all-draining" not in self.on):
            if "never-undrains" in self.on and self.world.restarts > _AFTER_RESET:
                return
            sent.cordoned = False
            out.append(("nodes", self._node(node, "DRAIN_TO_SCHEDULABLE")))

    def _node(self, node: Node, action: str) -> si.NodeInfo:
        info = si.NodeInfo(nodeID=node.id, action=si.NodeInfo.ActionFromRM.Value(action))
        if action in ("CREATE", "CREATE_DRAIN", "UPDATE") or "update-with-state" in self.on:
            info.attributes.update(node.attributes)
            if "own-attributes" in self.on:
                info.attributes.update({"strange.example/zone": "z 1", "plain": "", "\u00e9": "x"})
            info.schedulableResource.CopyFrom(self._resource(node.capacity, pods=110))
        return info

    def _applications(self, session: Session, now: float) -> None:
        out = session.streams[APPLICATION].waiting
        apps = list(self.world.applications.values())
        undecided = any(sent.verdict is None for sent in session.applications.values())
        for app in reversed(apps) if "alphabetical" in self.on else apps:
            if app.over or app in session.applications:
                continue
            if undecided and "waits-each" in self.on:
                break
            near = [a for a in session.applications.values() if now - a.at < _AT_ONCE]
            if "early-when-two" in self.on and near and app not in self._early:
                self._early[app] = now
                for one in app.containers:
                    if app.may_ask(one):
                        session.streams[ALLOCATION].waiting.append(
                            ("allocations", self._allocation(one))
                        )
            if now - self._early.get(app, 0.0) < _AT_ONCE:
                continue
            undecided = True
            session.applications[app] = Sent(now)
            out.append(("new", self._addition(app)))
        for app, sent in list(session.applications.items()):
            if sent.verdict is not False and not app.over and self._finished(app, now):
                app.over = True
                out.append(
                    (
                        "remove",
                        si.RemoveApplicationRequest(
                            applicationID=app.id, partitionName=self._partition()
                        ),
                    )
                )

    def _finished(self, app: Application, now: float) -> bool:
        if any(one.phase is not Phase.OVER for one in app.containers):
            app.empty_since = 0.0
            return False
        app.empty_since = app.empty_since or now
        if app.ending or "removes-at-once" in self.on:
            return True
        return "never-removes" not in self.on and now - app.empty_since > 1

    def _addition(self, app: Application) -> si.AddApplicationRequest:
        work = app.workload
        new = si.AddApplicationRequest(
            applicationID=app.id,
            queueName=work.queue,
            partitionName=self._partition(),
            ugi=si.UserGroupInformation(user=work.user, groups=["users"]),
            gangSchedulingStyle=work.gang_style or ("Soft" if app.gang else ""),
        )
        if "own-tags" in self.on:
            new.tags.update({"strange.example/team/name": "a b", "namespace": "default"})
        total: dict[str, int] = defaultdict(int)
        for group in work.groups:
            if not group.task_group:
                continue
            for name, amount in self._resource(group.resource).resources.items():
                total[name] += amount.value * group.members
        if "sum-of-first-types" in self.on and app.gang:
            total = {n: a for n, a in total.items() if n in work.groups[0].resource}
        if app.gang:
            new.placeholderAsk.CopyFrom(
                si.Resource(resources={n: si.Quantity(value=a) for n, a in total.items()})
            )
            new.executionTimeoutMilliSeconds = work.placeholder_timeout_milliseconds
        return new

    def _may_go(self, session: Session, one: Container, *, existing: bool) -> bool:
        """Whether the verdicts on which this allocation depends have come."""
        app = self.world.applications[one.application]
        added = session.applications.get(app)
        if added is None or app.over:
            return False
        if existing:
            node = session.nodes.get(one.node)
            if node is None or not node.verdict:
                return False
            return bool(added.verdict) or "node-verdict-only" in self.on
        if "never-waits" in self.on:
            return added.verdict is not False and time.monotonic() - added.at > _ON_THE_WAY
        return bool(added.verdict)

    def _containers(self, session: Session, now: float) -> None:
        out = session.streams[ALLOCATION].waiting
        for one in self.world.containers():
            if one.phase is Phase.STOPPING and one.stops_at <= now:
                one.ends()
                continue
            sent = session.containers.get(one)
            if sent is None and self._may_go(session, one, existing=one.on_node):
                if one.on_node:
                    session.containers[one] = Sent(now, live=True)
                    out.append(("allocations", self._allocation(one)))
                elif self._wanted(session, one):
                    session.containers[one] = Sent(now)
                    out.append(("allocations", self._allocation(one)))
            elif sent is not None and one.phase is Phase.WAITING:
                self._again(session, one, sent, now)
        for one, sent in session.containers.items():
            if one.phase is Phase.OVER and not sent.released:
                sent.released = True
                self._ended_keys += 1
                self._release(session, one.key, one.application, self._type_of(one))

    def _type_of(self, one: Container) -> str:
        app = self.world.applications.get(one.application)
        if "originates-timeout" in self.on and app and app.ending and one.placeholder:
            return "TIMEOUT"
        if "untyped-after-resize" in self.on and one in self._resized:
            return "UNKNOWN_TERMINATION_TYPE"
        return _STOPPED

    def _wanted(self, session: Session, one: Container) -> bool:
        app = self.world.applications[one.application]
        one_each = "one-waiting" in self.on and self.world.registrations > 1 and not one.placeholder
        if one_each and any(c.application == one.application for c in session.containers):
            return False
        if "group-by-group" in self.on and one.group and not one.placeholder:
            same = [c for c in app.containers if c.placeholder and c.group == one.group]
            return all(c.placed for c in same)
        return app.may_ask(one)

    def _again(self, session: Session, one: Container, sent: Sent, now: float) -> None:
        if sent.rejected:
            if "new-key" in self.on and now - sent.verdict_at > _ASKS_AFTER:
                del session.containers[one]
                one.key = next(iter(keys(one.application + "-again", frozenset())))
        elif "asks-again" in self.on and now - sent.at > 1:
            sent.at = now
            session.streams[ALLOCATION].waiting.append(("allocations", self._allocation(one)))

    def resized(self, one: Container) -> None:
        """Report the new size of a running container."""
        self._resized.add(one)
        if self.session is not None and one in self.session.containers:
            out = self.session.streams[ALLOCATION].waiting
            out.append(("allocations", self._allocation(one)))

    def _allocation(self, one: Container) -> si.Allocation:
        group = one.group
        if "group-of-first" in self.on and group and not one.placeholder:
            group = self.world.applications[one.application].containers[0].group
        made = si.Allocation(
            allocationKey=one.key,
            applicationID=one.application,
            nodeID=one.node,
            partitionName=self._partition(),
            resourcePerAlloc=self._resource(one.resource, pods=1),
            priority=one.shape.priority,
            taskGroupName=group,
            placeholder=one.placeholder,
            originator=one.originator,
            preemptionPolicy=si.PreemptionPolicy(allowPreemptSelf=True, allowPreemptOther=True),
            allocationTags={f"example.com/label/{n}": v for n, v in one.shape.labels.items()},
        )
        if "own-tags" in self.on:
            made.allocationTags.update(
                {
                    "strange.example/a.b/c-d": "",
                    "strange.example/name": "\u4e2d",
                    "creationTime": "7",
                }
            )
        if (
            one.node
            and "second-restart-loses-flag" in self.on
            and self.world.restarts > _AFTER_RESET + 1
        ):
            made.placeholder = False
        if one.node and "loses-labels" in self.on and one.shape.priority:
            made.allocationTags.clear()
        app = self.world.applications[one.application]
        if one.node and "loses-second-priority" in self.on and one is not app.containers[0]:
            made.priority = 0
        return made

    def _release(self, session: Session, key: str, app: str, kind: str = _STOPPED) -> None:
        session.streams[ALLOCATION].waiting.append(
            (
                "releases",
                si.AllocationRelease(
                    partitionName=self._partition(),
                    applicationID=app,
                    allocationKey=key,
                    terminationType=si.TerminationType.Value(kind),
                    message="ended",
                ),
            )
        )

    def _confirm(self, session: Session, now: float) -> None:
        out = session.streams[ALLOCATION].waiting
        late = 2.0 if "confirms-late" in self.on else 0.0
        together = bool({"confirms-together", "confirms-reversed"} & self.on)
        for one in session.confirmations:
            if not one.due and all(c.phase is Phase.OVER for c in one.containers):
                one.due = now + (late or (0.4 if together else 0.0))
        due = [one for one in session.confirmations if one.due and one.due <= now]
        if together and due:  # also those that are nearly due
            due = [one for one in session.confirmations if one.due and not one.repeated]
        for one in reversed(due) if "confirms-reversed" in self.on else due:
            session.confirmations.remove(one)
            made = si.AllocationRelease()
            made.CopyFrom(one.release)
            if "previous-type" in self.on and self._last_type:
                made.terminationType = self._last_type
            self._last_type = one.release.terminationType
            out.append(("releases", made))
            if "confirms-twice" in self.on and not one.repeated:
                again = Confirmation(one.release, one.containers, now + 1, repeated=True)
                session.confirmations.append(again)

    def _foreign(self, session: Session, now: float) -> None:
        out = session.streams[ALLOCATION].waiting
        for one in self.world.foreign.values():
            node = session.nodes.get(one.node)
            ready = node is not None and (node.verdict or "foreign-first" in self.on)
            if one in session.foreign or not ready:
                continue
            session.foreign[one] = Sent(now)
            key = one.key
            live = [c.key for c in self.world.containers() if c.on_node]
            if "key-in-two-hands" in self.on and self._ended_keys and live:
                key = live[-1]
            restarted = self.world.restarts > _AFTER_RESET
            static = one.static and not ("static-lost" in self.on and restarted)
            made = si.Allocation(
                allocationKey=key,
                nodeID=one.node,
                partitionName=self._partition(),
                resourcePerAlloc=self._resource(one.resource, pods=1),
                allocationTags={"foreign": "static" if static else "default"},
            )
            if "fair-tags" in self.on:
                made.priority = 7
                made.preemptionPolicy.allowPreemptOther = True
                made.allocationTags["example.com/owner/name"] = "somebody"
            out.append(("allocations", made))
        for one in [
            gone
            for gone in session.foreign
            if gone.key not in {left.key for left in self.world.foreign.values()}
        ]:
            del session.foreign[one]
            if one.node in self.world.nodes:
                self._release(session, one.key, "")

    def _partition(self) -> str:
        if "partition-empty" in self.on:
            return ""
        return f"[{RM_ID}]default" if "partition-full" in self.on else "default"

    def _resource(self, amounts: Mapping[str, int], pods: int = 1) -> si.Resource:
        extra = {"pods": pods} if "extra-types" in self.on else {}
        return si.Resource(
            resources={n: si.Quantity(value=a) for n, a in {**amounts, **extra}.items()}
        )

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
