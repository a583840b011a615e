"""An ordinary day of an RM: nodes, applications, gangs, and what goes wrong with them.

It is not made for mutants: whatever is here an RM does for its own sake.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from siconform.expecting.barriers import NOTHING
from siconform.protocol.availability import lacking
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AllocationRejected,
    PreemptionPolicy,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.queue_configurations import (
    POLICY_GROUP,
    QueueConfiguration,
    conformance_queues,
)
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    Registration,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import AllOf, OneAllocation, OneAsk
from siconform.transport.connection import BARRIER_PREFIX
from siwire import Capability
from siwire.constants import ALLOC_TYPE_DEFAULT, FOREIGN

from mutation.recorded import Link

UNSENT: Final = QueueConfiguration("", POLICY_GROUP)
_PART: Final = "default"
_OFTEN: Final = 20  # rounds of confirmations in a wait
_YES: Final = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)
_KEPT: Final = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=False)
_STOPPED: Final = Termination.STOPPED_BY_RM


class WorkingRm:
    """An RM that confirms what the scheduler releases, after a while.

    One that ``has_barriers`` waits as the kit's RM does: until all it sent is processed.
    """

    def __init__(self, rm_id: str, link: Link, *, has_barriers: bool = False) -> None:
        self._rm_id = rm_id
        self._has_barriers = has_barriers
        self._barriers = 0
        self._link = link
        self._has_sent: set[UpdateKind] = set()
        self.live: dict[str, Allocated] = {}  # by identity
        self._to_confirm: list[Released] = []

    def register(self) -> None:
        """Register; what runs goes on."""
        queues = conformance_queues()
        is_sent = self._link.revision.can(Capability.CONFIGURATION_IN_REGISTRATION)
        sent = (queues, {"version": "1"}) if is_sent else (UNSENT, {})
        self._link.register(Registration(self._rm_id, "1.0", queues.policy_group, *sent))
        self._to_confirm.clear()

    def send(self, *requests: Request) -> None:
        """Send these, of one stream in one message each, without what the revision lacks."""
        for kind in UpdateKind:
            some = [self._fitting(one) for one in requests if one.kind is kind]
            if some:
                self._link.send(kind, some)
        self._read()

    def wait(self, seconds: float = 0.3) -> None:
        """Let time pass, and confirm meanwhile."""
        self._pass(seconds / 2)
        for _ in range(_OFTEN):
            confirmed, self._to_confirm = self._to_confirm, []
            for one in confirmed:
                subject = OneAllocation(one.application, one.identity, one.key)
                self.send(ReleaseRequest(subject, one.termination))
            self._pass(seconds / 2)
            if not self._to_confirm:
                break
        if self._has_barriers:
            self._raise_barriers()

    def node(self, name: str, action: Action, memory: int | None = None, **more: Any) -> None:
        """Send an action on a node; one that comes draining is drained where that is no action."""
        can = self._link.revision.can(Capability.CREATE_DRAIN)
        if action is Action.CREATE_DRAINING and not can:
            self.send(_node(name, Action.CREATE, memory, **more))
            action, memory = Action.DRAIN, None
        self.send(_node(name, action, memory, **more))

    def app(self, name: str, queue: str = "plain", **more: Any) -> None:
        """Add an application."""
        self.send(_app(name, queue, **more))

    def ask(self, app: str, *keys: str, memory: int = 2, **more: Any) -> None:
        """Ask for allocations of one size."""
        self.send(*(_ask(app, key, memory, **more) for key in keys))

    def stop(self, *keys: str) -> None:
        """Release these if they are allocated, else withdraw them."""
        for key in keys:
            found = [one for one in self.live.values() if one.key == key]
            if found:
                subject = OneAllocation(found[0].application, found[0].identity, key)
                self.send(ReleaseRequest(subject, _STOPPED))
            else:
                self.send(AskReleaseRequest(OneAsk(key.partition(".")[0], key), _PART))

    def stop_all(self, app: str) -> None:
        """Release everything of an application."""
        self.send(ReleaseRequest(AllOf(app), _STOPPED), AskReleaseRequest(AllOf(app), _PART))

    def remove(self, *apps: str) -> None:
        """Remove applications."""
        self.send(*(ApplicationRemoval(app, _PART) for app in apps))

    def resize(self, key: str, memory: int) -> None:
        """Update an allocation in place."""
        for one in [one for one in self.live.values() if one.key == key]:
            changed = replace(one, resource={**one.resource, "memory": memory})
            self.send(AllocationUpdate(changed))

    def foreign(self, key: str, node: str, memory: int) -> None:
        """Report a foreign allocation, or its new amount or node."""
        tags = {FOREIGN: ALLOC_TYPE_DEFAULT}
        self.send(ForeignAllocationRequest(key, node, _PART, _size(memory), tags))

    def end_foreign(self, key: str) -> None:
        """Report the end of a foreign allocation."""
        if self._link.revision.name >= "2024":
            self.send(ReleaseRequest(OneAllocation("", key, key), _STOPPED))

    def recover(self, nodes: Mapping[str, int], *apps: ApplicationRequest) -> None:
        """Register again and report what runs."""
        self.register()
        running = list(self.live.values())
        self.live.clear()
        is_early = self._link.revision.name < "2023-08"
        for app in apps if is_early else ():
            self.send(app)
        for name, memory in nodes.items():
            here = tuple(one for one in running if one.node == name)
            more = {"existing": here} if is_early else {}
            self.node(name, Action.CREATE, memory, **more)
        for app in () if is_early else apps:
            self.send(app)
        for one in () if is_early else running:
            self.send(ExistingAllocationRequest(one))
        self.live.update({one.identity: one for one in running if one.node in nodes})
        self.wait()

    def _raise_barriers(self) -> None:
        self._barriers += 1
        name, nowhere = f"{BARRIER_PREFIX}{self._barriers}", f"{BARRIER_PREFIX}nowhere"
        attributes = {"si/node-partition": nowhere}
        self.send(
            NodeRequest(name, Action.CREATE, NOTHING, attributes=attributes),
            ApplicationRequest(name, "root.plain", nowhere, user="barrier"),
            AskRequest(name, nowhere, _PART, _size(1)),
        )

    def _fitting(self, request: Any) -> Any:
        names = set(lacking(request, self._link.revision.name))
        own = {one.name: one.default for one in fields(request) if one.name in names}
        return replace(request, **own)

    def _pass(self, seconds: float) -> None:
        self._link.passes(seconds)
        self._read()

    def _read(self) -> None:
        while self._link.facts:
            match self._link.facts.pop(0):
                case Allocated() as new:
                    self.live[new.identity] = new
                case Released() as ended:
                    if ended.termination in BY_THE_SCHEDULER and ended.identity in self.live:
                        self._to_confirm.append(ended)
                    if ended.identity:
                        self.live.pop(ended.identity, None)
                    else:
                        self._forget(ended.application)
                case AllocationRejected(key=key):
                    self.live.pop(key, None)

    def _forget(self, app: str) -> None:
        self.live = {name: one for name, one in self.live.items() if one.application != app}


def _size(memory: int) -> dict[str, int]:
    return {"memory": memory, "vcore": memory}


def _node(name: str, action: Action, memory: int | None = None, **more: Any) -> NodeRequest:
    capacity = None if memory is None else _size(memory)
    return NodeRequest(name, action, capacity, **{"attributes": {"zone": "a"}, **more})


def _app(name: str, queue: str, **more: Any) -> ApplicationRequest:
    usual = {"partition": _PART, "user": "alice", "groups": ("staff",)}
    return ApplicationRequest(name, f"root.{queue}", **{**usual, **more})


def _ask(app: str, key: str, memory: int, **more: Any) -> AskRequest:
    return AskRequest(key, app, _PART, _size(memory), **{"preemption_policy": _YES, **more})


def work(rm: WorkingRm, link: Link) -> None:
    """Work from the registration of an RM to the removal of everything."""
    rm.register()
    _nodes_join(rm)
    _batch(rm)
    _queues_fill(rm)
    _updates(rm)
    _maintenance(rm)
    _gangs(rm)
    _preemption(rm)
    _foreign(rm)
    _ends_of_applications(rm)
    _mistakes(rm)
    queues = conformance_queues()
    link.configure(queues.replace("memory: 10", "memory: 12"), queues.policy_group)
    rm.wait()
    _recovery(rm)
    _closing(rm)


def _nodes_join(rm: WorkingRm) -> None:
    rm.send(*(_node(f"n{number}", Action.CREATE, 20) for number in (1, 2)))
    rm.node("n3", Action.CREATE_DRAINING, 20)
    rm.wait()


def _batch(rm: WorkingRm) -> None:
    rm.app("job0")
    rm.app("job1", tags={"team": "red"})
    rm.app("job4", groups=())
    rm.app("job2", "quota", user="bob", groups=())
    rm.app("job3", "dev.jobs", tags={"namespace": "dev"})
    rm.ask("job3", "job3.a")
    rm.ask("job1", "job1.a", "job1.b", memory=4, tags={"example.org/pod": "x"})
    rm.ask("job2", *(f"job2.{number}" for number in range(6)), memory=3, priority=1)
    rm.wait()  # the quota of the queue is full: some wait
    rm.node("n3", Action.UNDRAIN)
    rm.wait()
    rm.stop("job1.a", "job2.0")
    rm.wait()
    rm.ask("job2", "job2.late", memory=2, priority=5)
    rm.ask("job2", "job2.huge", memory=100)
    rm.wait()
    rm.stop("job2.huge", "job2.late", "job2.5")
    rm.wait()
    rm.stop("job2.1", "job2.2")
    rm.ask("job1", "job1.a", memory=2)  # the key again, for a new container
    rm.wait()
    rm.stop_all("job2")
    rm.remove("job0", "job2", "job3", "job4")
    rm.wait()
    rm.app("job2", "quota", user="bob", groups=())
    rm.ask("job2", "job2.0", memory=4)
    rm.wait()
    rm.remove("job2")
    rm.wait()


def _queues_fill(rm: WorkingRm) -> None:
    rm.app("red1", "parent.left")
    rm.app("blue1", "parent.right")
    rm.app("single1", "single", user="intern")
    rm.app("single2", "single", user="intern")
    rm.app("fair1", "fair")
    rm.ask("blue1", *(f"blue1.{number}" for number in range(5)), memory=3)
    rm.ask("red1", *(f"red1.{number}" for number in range(5)), memory=3)
    rm.ask("single1", "single1.a", "single1.b")
    rm.ask("single2", "single2.a")
    rm.ask("fair1", "fair1.a")
    rm.wait()
    rm.stop("blue1.0", "red1.1", "single1.a")
    rm.wait()
    rm.remove("single1")
    rm.wait()
    rm.remove("red1", "blue1", "single2", "fair1")
    rm.wait()


def _updates(rm: WorkingRm) -> None:
    rm.app("change")
    rm.ask("change", "change.big", memory=30)  # on no node
    rm.ask("change", "change.a", "change.b", memory=3)
    rm.wait()
    rm.ask("change", "change.big", memory=5)  # it can be smaller
    rm.wait()
    rm.resize("change.a", 5)
    rm.wait()
    rm.resize("change.a", 1)
    rm.wait()
    rm.ask("change", "change.c", memory=12)
    rm.wait()
    rm.remove("change")
    rm.wait()


def _maintenance(rm: WorkingRm) -> None:
    rm.app("web", "other")
    rm.ask("web", *(f"web.{number}" for number in range(8)), memory=4)
    rm.wait()
    rm.node("n1", Action.DRAIN)
    rm.wait()
    rm.ask("web", *(f"web.more{number}" for number in range(6)), memory=5)
    rm.wait()  # the rest waits for n1
    rm.node("n1", Action.UPDATE, 24)
    rm.wait()
    rm.node("n1", Action.UNDRAIN)
    rm.wait()
    rm.node("n2", Action.UPDATE, 8)  # less than is used
    rm.wait()
    rm.stop(*(f"web.{number}" for number in range(4)))
    rm.ask("web", "web.again", memory=3)
    rm.wait()
    rm.node("n2", Action.UPDATE, 20)
    rm.node("n2", Action.UPDATE, attributes={"zone": "b"})
    rm.wait()
    rm.node("n3", Action.DRAIN)
    rm.node("n3", Action.DECOMMISSION)
    rm.wait()
    rm.ask("web", "web.last1", "web.last2", memory=6)
    rm.wait()
    rm.send(_node("n3", Action.CREATE, 20), _node("n3", Action.DRAIN))
    rm.wait()
    rm.send(_node("n1", Action.DRAIN), _node("n3", Action.UNDRAIN))
    rm.ask("web", "web.tail")
    rm.wait()
    rm.node("n1", Action.UNDRAIN)
    rm.wait()
    rm.remove("web")
    rm.wait(2.0)


def _gang(rm: WorkingRm, name: str, style: str, asked: int, memory: int = 3) -> None:
    rm.app(name, "gangs.first", placeholder_ask=_size(memory * asked), gang_style=style)
    keys = [f"{name}.p{number}" for number in range(asked)]
    rm.ask(name, *keys, memory=memory, task_group="workers", placeholder=True)
    rm.wait()


def _gangs(rm: WorkingRm) -> None:
    _gang(rm, "gang1", "Soft", 3)
    rm.ask("gang1", "gang1.driver", memory=1, originator=True)
    members = [f"gang1.{number}" for number in range(3)]
    rm.ask("gang1", *members, memory=3, task_group="workers")
    rm.wait()
    rm.ask("gang1", "gang1.extra", memory=3, task_group="workers")
    rm.wait()
    for name, style in (("gang2", "Soft"), ("gang3", "Hard")):
        _gang(rm, name, style, 5, 12)  # more than fits
        rm.wait(4.0)  # the placeholders time out
        rm.ask(name, f"{name}.0", f"{name}.1", memory=2)
        rm.wait()
        if style == "Hard":  # it has failed: another attempt
            _gang(rm, name, style, 5, 12)
        rm.remove(name)
        rm.wait()
    _gang(rm, "gang4", "Soft", 2)
    rm.ask("gang4", "gang4.0", memory=2, task_group="workers")
    rm.wait(4.0)  # one placeholder is not needed
    _gang(rm, "gang5", "Hard", 2)
    rm.stop("gang5.p0")
    rm.wait()
    rm.stop_all("gang5")
    rm.remove("gang1", "gang4", "gang5")
    rm.wait()


def _preemption(rm: WorkingRm) -> None:
    rm.app("low", "preemption.taking")
    rm.app("high", "preemption.entitled")
    rm.ask("low", "low.kept", memory=2, preemption_policy=_KEPT)
    rm.ask("low", *(f"low.{number}" for number in range(4)), memory=2)
    rm.wait()
    rm.ask("high", "high.0", "high.1", memory=2, priority=10)
    rm.wait()
    rm.remove("low", "high")
    rm.wait()


def _foreign(rm: WorkingRm) -> None:
    rm.app("next", "other")
    rm.foreign("system1", "n1", 16)
    rm.foreign("system2", "n2", 16)
    rm.ask("next", *(f"next.{number}" for number in range(5)), memory=6)
    rm.wait()
    rm.foreign("system1", "n1", 4)
    rm.wait()
    rm.foreign("system2", "n3", 16)  # it moved
    rm.wait()
    rm.end_foreign("system1")
    rm.wait()
    rm.stop_all("next")
    rm.ask("next", *(f"next.more{number}" for number in range(8)), memory=7)
    rm.wait()
    rm.end_foreign("system2")
    rm.remove("next")
    rm.wait()


def _ends_of_applications(rm: WorkingRm) -> None:
    rm.app("short", timeout_ms=2000)
    rm.app("done")
    rm.ask("short", "short.0")
    rm.ask("done", "done.0")
    rm.wait()
    rm.stop("done.0")
    rm.wait(1.0)
    rm.ask("done", "done.1")
    rm.wait()
    rm.stop("done.1")
    rm.wait(3.0)  # one has completed, the other is over time
    rm.app("done")
    rm.ask("done", "done.2")
    rm.wait()
    rm.remove("done", "short")
    rm.wait()


def _mistakes(rm: WorkingRm) -> None:
    rm.app("twice", "quota")
    rm.app("elsewhere", partition="gpu")
    rm.app("lost", "nowhere")
    rm.ask("lost", "lost.0")
    rm.node("n1", Action.CREATE, 40, attributes={"zone": "z"})
    rm.node("n9", Action.UPDATE, 40)
    rm.node("n9", Action.DRAIN)
    rm.ask("twice", "twice.0", "twice.1", "twice.2", memory=4)
    rm.foreign("system3", "n9", 4)
    rm.wait()
    rm.remove("twice", "unknown")
    rm.ask("twice", "twice.late")
    rm.stop("twice.late")
    rm.wait()


def _recovery(rm: WorkingRm) -> None:
    rm.app("stays", "parent.right")
    rm.ask("stays", *(f"stays.{number}" for number in range(3)), memory=4)
    _gang(rm, "gang6", "Soft", 2)
    rm.wait()
    gang = _app("gang6", "gangs.first", placeholder_ask=_size(6), gang_style="Soft")
    rm.recover({"n1": 20, "n2": 20, "n3": 20}, _app("stays", "parent.right"), gang)
    rm.ask("gang6", "gang6.0", "gang6.1", memory=3, task_group="workers")
    rm.ask("stays", "stays.more", memory=4)  # the queue is full
    rm.app("new", "other")
    rm.ask("new", *(f"new.{number}" for number in range(7)), memory=9)
    rm.wait()
    rm.stop("stays.0")
    rm.stop_all("new")
    rm.wait()


def _closing(rm: WorkingRm) -> None:
    rm.app("batch9")
    rm.ask("batch9", *(f"batch9.{number}" for number in range(20)), memory=4)
    rm.wait()
    rm.node("n2", Action.DECOMMISSION)
    rm.wait()
    rm.stop_all("batch9")
    rm.wait()
    rm.remove("batch9", "stays", "gang6", "new")
    for name in ("n1", "n3"):
        rm.node(name, Action.DRAIN)
        rm.wait()
        rm.node(name, Action.DECOMMISSION)
    rm.wait(3.0)
