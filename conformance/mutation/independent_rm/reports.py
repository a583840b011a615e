"""What the RM sends: what exists and was not sent yet."""

import asyncio
import contextlib
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from siwire.r2024_10 import si_pb2 as si

from mutation.independent_rm.session import (
    ALLOCATION,
    APPLICATION,
    NODE,
    RM_ID,
    Confirmation,
    Sent,
    Session,
    State,
)
from mutation.independent_rm.world import Application, Container, Node, Phase, keys

_AFTER_RESET: Final = 1  # the kit restarts the RM after each reset
_UNDRAINED_AFTER: Final = 0.7  # seconds
_AT_ONCE: Final = 0.5
_ON_THE_WAY: Final = 0.05
_ASKS_AFTER: Final = 2.0
_STOPPED: Final = "STOPPED_BY_RM"


class Reports(State):
    """Compares what exists with what was sent, and queues the rest."""

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
                async with asyncio.timeout(0.1):  # wait_for may ignore that the session ends
                    await self.changed.wait()

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
            if "key-used-twice" in self.on and self._ended_keys and live:
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
