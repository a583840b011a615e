"""An RM without gRPC: steps of users and of a scheduler, and what they make the RM send."""

from typing import TypeVar

from sirm.core import model as m
from sirm.core.cluster import Cluster
from sirm.core.rm import ResourceManager
from sirm.core.state import Settings
from sirm.core.states import ContainerState

Kind = TypeVar("Kind")

BIG = {"memory": 100, "vcore": 100}


class Driven:
    """An RM at a time of its own; every step returns the effects."""

    def __init__(
        self, rules: m.Rules | None = None, cluster: Cluster | None = None, **settings: float
    ) -> None:
        self.cluster = cluster or Cluster()
        self.rm = ResourceManager(self.cluster, rules, Settings(**settings))  # type: ignore[arg-type]  # attempts is an int
        self.now = 0.0

    def handles(self, *events: m.Event) -> list[m.Effect]:
        return self.rm.handle(events, self.now)

    def passes(self, seconds: float) -> list[m.Effect]:
        self.now += seconds
        return self.rm.handle_timeout(self.now)

    def registers(self) -> list[m.Effect]:
        return self.handles(m.Started()) + self.handles(m.Registered())

    def restarts(self) -> list[m.Effect]:
        """Start another instance on the same cluster."""
        self.rm = ResourceManager(self.cluster, self.rm.state.rules)
        return self.registers()

    def has_node(self, node_id: str = "n1", *, cordoned: bool = False) -> None:
        self.handles(m.AddNode(node_id, BIG, cordoned=cordoned))
        self.handles(m.AcceptedNode(node_id))

    def submits(
        self, application_id: str, *groups: m.Group, gang_style: str = ""
    ) -> list[m.Effect]:
        workload = m.Workload(application_id, groups, gang_style=gang_style)
        return self.handles(m.Submit(workload))

    def accepts(self, application_id: str) -> list[m.Effect]:
        return self.handles(m.AcceptedApplication(application_id))

    def runs(self, application_id: str = "a1", *, containers: int = 1, **group: float) -> list[str]:
        """Have an application whose containers run on n1; return their keys."""
        if "n1" not in self.cluster.nodes:
            self.has_node()
        self.submits(application_id, m.Group({"memory": 1}, containers, **group))  # type: ignore[arg-type]  # numbers only
        keys = requested(self.accepts(application_id))
        for key in keys:
            self.allocates(key)
        return keys

    def has_gang(self, *groups: m.Group, gang_style: str = "") -> list[str]:
        """Have an accepted gang on n1; return the keys of its placeholders."""
        self.has_node()
        self.submits("g1", *groups, gang_style=gang_style)
        return requested(self.accepts("g1"))

    def allocates(self, key: str, node_id: str = "n1") -> list[m.Effect]:
        container = self.cluster.containers.get(key)
        application_id = container.application.application_id if container else "a1"
        return self.handles(m.Allocated(key, application_id, node_id, f"id of {key}"))

    def releases(
        self, key: str, why: m.Termination, covered: m.Covered = m.Covered.BOTH
    ) -> list[m.Effect]:
        return self.handles(m.Released("a1", why, covered, key=key))

    def state(self, key: str) -> ContainerState | None:
        container = self.cluster.containers.get(key)
        return container.state if container else None


def of(effects: list[m.Effect], kind: type[Kind]) -> list[Kind]:
    """Return the effects of one kind."""
    return [effect for effect in effects if isinstance(effect, kind)]


def requested(effects: list[m.Effect]) -> list[str]:
    """Return the keys of requests."""
    return [effect.container.key for effect in of(effects, m.RequestAllocation)]


def reported(effects: list[m.Effect]) -> list[str]:
    """Return the keys of reported allocations."""
    return [effect.container.key for effect in of(effects, m.ReportAllocation)]


def released(effects: list[m.Effect]) -> list[tuple[str, m.Termination]]:
    """Return keys and types of releases."""
    return [(effect.key, effect.termination) for effect in of(effects, m.Release)]


def updates(effects: list[m.Effect]) -> list[m.Effect]:
    """Return what is sent on update streams."""
    return [one for one in effects if not isinstance(one, m.Notice | m.Register | m.Disconnect)]
