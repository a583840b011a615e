"""Short lifecycles of applications, asks, nodes and resource managers, each in steps.

Many run at a time, with interleaved steps, so that they overlap in every way.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from sireference.configuration.parsing import parse_configuration
from sireference.core.model import (
    Answered,
    Ask,
    AskReleaseRequest,
    Callback,
    ConnectionLost,
    Effect,
    Event,
    NewAllocation,
    NewApplication,
    NodeInfo,
    OneAllocation,
    OneOfKey,
    PredicatesQuestion,
    PreemptionQuestion,
    Register,
    ReleasedAllocation,
    ReleaseRequest,
    RemoveApplication,
    Settings,
    ShutDown,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)
from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
)
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from sireference.core.states import NodeAction, TerminationType

PARTITION: Final = "default"
STOPPED_BY_RM: Final = TerminationType.STOPPED_BY_RM
STEADY: Final = ("plain", "questioned")  # resource managers that stay, with waiting asks
SHORT: Final = tuple(f"short-{number}" for number in range(10))  # those that come and go
LEAVES: Final = ("fifo", "fair", "stateaware", "limited")
NODES: Final = 20
NODE: Final = 100  # memory
NEVER: Final = 1_000  # memory that no node has
TICK: Final = 0.02  # seconds that pass with each step
QUEUES: Final = parse_configuration(
    """
partitions:
  - name: default
    preemption: {enabled: true}
    placementrules: [{name: provided, create: true}]
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: fifo, properties: {application.sort.policy: fifo}}
          - {name: fair, properties: {application.sort.policy: fair}}
          - {name: stateaware, properties: {application.sort.policy: stateaware}}
          - name: limited
            maxapplications: 4
            resources: {max: {memory: 200}}
            limits: [{limit: anybody, users: ["*"], maxresources: {memory: 100}}]
          - {name: gangs, resources: {max: {memory: 400}}}
          - {name: dynamic, parent: true}
"""
)

Lifecycle = Iterator[None]


class Cluster:
    """A scheduler, and resource managers that confirm and answer every request."""

    def __init__(self) -> None:
        self.scheduler = Scheduler(Settings(max_finished=200))
        self.now = 0.0
        self.allocations = 0  # made so far
        self._identities: dict[tuple[str, str], list[str]] = {}  # by RM and application
        self._replies: deque[Event] = deque()
        for rm_id in STEADY:
            self.begin(rm_id)
            self._backlog(rm_id)

    def begin(self, rm_id: str) -> None:
        """Register an RM with nodes; one of those that stay answers questions, too."""
        offers = frozenset(Callback) if rm_id == "questioned" else frozenset()
        self.send(Register(rm_id, QUEUES, callbacks=offers))
        for number in range(NODES):
            self.creates(rm_id, f"node-{number}")

    def _backlog(self, rm_id: str) -> None:
        """Add items that wait for ever: in each leaf an ask of each size in use, and gangs."""
        for leaf in LEAVES:
            self.submits(rm_id, f"waits-{leaf}", f"root.{leaf}", user="waiting")
            for size in (NEVER, NEVER + 1):
                self.asks(rm_id, f"waits-{leaf}", f"waits-{size}", size)
        for number in range(3):
            application_id = f"waits-{number}"
            self.submits(rm_id, application_id, "root.gangs", placeholders=NEVER)
            self.asks(rm_id, application_id, "p", NEVER, placeholder=True, task_group="tg")

    # Requests

    def send(self, event: Event) -> None:
        """Send it to the scheduler, and handle the effects."""
        self._receive(self.scheduler.handle(event, self.now))

    def passes(self) -> None:
        """Advance the clock: confirm and answer open requests, fire deadlines."""
        for _ in range(len(self._replies)):
            self.send(self._replies.popleft())
        end = self.now + TICK
        while (deadline := self.scheduler.next_deadline()) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self._receive(self.scheduler.handle_timeout(self.now))
        self.now = end

    def creates(self, rm_id: str, node_id: str) -> None:
        """Add a node."""
        capacity, zone = Resource({"memory": NODE}), {"zone": node_id[-1]}
        node = NodeInfo(node_id, NodeAction.CREATE, capacity=capacity, attributes=zone)
        self.send(UpdateNodes(rm_id, (node,)))

    def submits(
        self,
        rm_id: str,
        application_id: str,
        queue: str,
        *,
        placeholders: int = 0,
        user: str = "",
    ) -> None:
        """Submit an application; ``placeholders`` is the memory of all of them."""
        total = Resource({"memory": placeholders}) if placeholders else None
        new = NewApplication(application_id, queue, user=user, placeholder_ask=total)
        self.send(UpdateApplications(rm_id, (new,)))

    def removes(self, rm_id: str, application_id: str) -> None:
        """Remove it with everything it has."""
        self.send(UpdateApplications(rm_id, (), (RemoveApplication(application_id),)))
        self._identities.pop((rm_id, application_id), None)

    def asks(
        self, rm_id: str, application_id: str, key: str, memory: int, most: int = 1, **more: Any
    ) -> None:
        """Send an ask, new or as a replacement."""
        need = Resource({"memory": memory})
        ask = Ask(key, application_id, resource=need, max_allocations=most, **more)
        self.send(UpdateAllocations(rm_id, asks=(ask,)))

    def withdraws(self, rm_id: str, application_id: str, key: str) -> None:
        """Withdraw its ask."""
        release = AskReleaseRequest(PARTITION, OneOfKey(application_id, key), STOPPED_BY_RM)
        self.send(UpdateAllocations(rm_id, ask_releases=(release,)))

    def releases(self, rm_id: str, application_id: str) -> None:
        """Release all its allocations."""
        identities = self._identities.pop((rm_id, application_id), [])
        ended = (
            ReleaseRequest(PARTITION, OneAllocation(application_id, one), STOPPED_BY_RM)
            for one in identities
        )
        self.send(UpdateAllocations(rm_id, releases=tuple(ended)))

    # Effects

    def _receive(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case NewAllocation():
                    self.allocations += 1
                    one = effect.allocation
                    of_application = (effect.rm_id, one.ask.application_id)
                    self._identities.setdefault(of_application, []).append(one.identity)
                case ReleasedAllocation():
                    self._released(effect)
                case PredicatesQuestion():
                    suits = effect.number % 4 > 0
                    self._replies.append(Answered(effect.rm_id, effect.number, suits))
                case PreemptionQuestion():
                    self._replies.append(Answered(effect.rm_id, effect.number, suits=True, index=0))

    def _released(self, effect: ReleasedAllocation) -> None:
        release = effect.release
        of_application = (effect.rm_id, release.application_id)
        identities = self._identities.get(of_application, [])
        if release.identity in identities:
            identities.remove(release.identity)
            if not identities:
                del self._identities[of_application]
        if release.termination is not STOPPED_BY_RM:
            named = OneAllocation(release.application_id, release.identity, release.key)
            confirmed = ReleaseRequest(release.partition, named, release.termination)
            self._replies.append(UpdateAllocations(effect.rm_id, releases=(confirmed,)))


def finished(cluster: Cluster, rm_id: str, name: str, leaf: str) -> Lifecycle:
    """An application that is served, or gives up, and completes."""
    cluster.submits(rm_id, name, f"root.{leaf}")
    yield
    cluster.asks(rm_id, name, "k", 5, most=2, execution_timeout=60.0)
    yield
    cluster.withdraws(rm_id, name, "k")
    cluster.releases(rm_id, name)


def removed(cluster: Cluster, rm_id: str, name: str, leaf: str) -> Lifecycle:
    """An application that is removed with an allocation and a waiting ask."""
    cluster.submits(rm_id, name, f"root.{leaf}", user=name)
    yield
    cluster.asks(rm_id, name, "small", 5)
    cluster.asks(rm_id, name, "large", NEVER)
    yield
    cluster.releases(rm_id, name)
    yield
    cluster.removes(rm_id, name)


def withdrawn(cluster: Cluster, rm_id: str, name: str, leaf: str) -> Lifecycle:
    """An ask withdrawn behind one that waits forever."""
    cluster.asks(rm_id, f"waits-{leaf}", name, NEVER)
    yield
    cluster.withdraws(rm_id, f"waits-{leaf}", name)


def replaced(cluster: Cluster, rm_id: str, name: str, leaf: str) -> Lifecycle:
    """An ask that is replaced again and again, with changing sizes."""
    for size in (NEVER, NEVER, NEVER + 1, NEVER):
        cluster.asks(rm_id, f"waits-{leaf}", name, size, priority=size % 2)
        yield
    cluster.withdraws(rm_id, f"waits-{leaf}", name)


def gang(cluster: Cluster, rm_id: str, name: str, leaf: str) -> Lifecycle:
    """A gang whose members replace placeholders."""
    cluster.submits(rm_id, name, f"root.{leaf}", placeholders=20)
    cluster.asks(rm_id, name, "p", 10, most=2, placeholder=True, task_group="tg")
    yield
    cluster.asks(rm_id, name, "m", 10, most=2, task_group="tg")
    yield
    yield
    cluster.releases(rm_id, name)
    yield
    cluster.removes(rm_id, name)


def gang_in_vain(cluster: Cluster, rm_id: str, name: str, _: str) -> Lifecycle:
    """A gang that waits behind others until it is removed."""
    cluster.submits(rm_id, name, "root.gangs", placeholders=NEVER)
    cluster.asks(rm_id, name, "p", NEVER, placeholder=True, task_group="tg")
    cluster.asks(rm_id, name, "m", NEVER, task_group="tg")
    yield
    cluster.removes(rm_id, name)


def on_its_own(cluster: Cluster, rm_id: str, name: str, _: str) -> Lifecycle:
    """An application in a dynamic queue."""
    cluster.submits(rm_id, name, f"root.dynamic.{name}", user=name)
    cluster.asks(rm_id, name, "k", 5)
    cluster.asks(rm_id, name, "large", NEVER)
    yield
    cluster.removes(rm_id, name)


def apart(cluster: Cluster, rm_id: str, name: str, leaf: str) -> Lifecycle:
    """An application whose allocations have anti-affinity to each other."""
    cluster.submits(rm_id, name, f"root.{leaf}")
    of_its_own = TargetExpression("of", values=frozenset((name,)))
    alone = AllocationAffinity("zone", (of_its_own,), max_cardinality=1, required=True)
    constraint = PlacementConstraint(affinity=alone)
    cluster.asks(rm_id, name, "k", 5, most=5, tags={"of": name}, constraint=constraint)
    yield
    cluster.releases(rm_id, name)
    yield
    cluster.removes(rm_id, name)


def urgent(cluster: Cluster, rm_id: str, name: str, leaf: str) -> Lifecycle:
    """An ask that may preempt, on a full node."""
    cluster.submits(rm_id, name, f"root.{leaf}")
    cluster.asks(rm_id, name, "k", NODE, priority=10, required_node="node-0")
    yield
    yield
    cluster.releases(rm_id, name)
    yield
    cluster.removes(rm_id, name)


def node(cluster: Cluster, rm_id: str, name: str, _: str) -> Lifecycle:
    """A node that is created, drained and removed."""
    cluster.creates(rm_id, name)
    yield
    for action in (NodeAction.DRAIN_NODE, NodeAction.DECOMMISSION):
        cluster.send(UpdateNodes(rm_id, (NodeInfo(name, action),)))
        yield


def resource_manager(cluster: Cluster, rm_id: str, name: str, leaf: str) -> Lifecycle:
    """An RM that registers again with a waiting ask, and shuts down or is lost."""
    cluster.begin(rm_id)
    cluster.submits(rm_id, name, f"root.{leaf}")
    cluster.asks(rm_id, name, "small", 5)
    cluster.asks(rm_id, name, "large", NEVER)
    yield
    goes: Event = ShutDown(rm_id) if int(name[-1]) % 2 else ConnectionLost(rm_id)
    cluster.send(goes)
    cluster.removes(rm_id, name)


LIFECYCLES: Final[tuple[Callable[[Cluster, str, str, str], Lifecycle], ...]] = (
    finished,
    removed,
    withdrawn,
    replaced,
    gang,
    gang_in_vain,
    on_its_own,
    apart,
    urgent,
    node,
)
