"""What exists on the RM's side and survives its restart: nodes, applications, containers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from uuid import uuid4

from siwire.ext import extension_pb2 as ext

Amounts = Mapping[str, int]
_FINAL = ("Failing", "Failed", "Completed", "Expired", "Killed", "Rejected")


class Phase(Enum):
    """Where a container stands."""

    WAITING = ext.ContainerView.WAITING
    STARTED = ext.ContainerView.STARTED
    STOPPING = ext.ContainerView.STOPPING
    OVER = ext.ContainerView.PHASE_UNSPECIFIED


@dataclass(eq=False)
class Container:
    """A container, or a placeholder."""

    key: str
    application: str
    group: str
    placeholder: bool
    shape: ext.Workload.Group
    originator: bool = False
    resource: dict[str, int] = field(default_factory=dict)
    node: str = ""
    phase: Phase = Phase.WAITING
    placed: bool = False  # it has been allocated, whatever came after
    stops_at: float = 0.0

    @property
    def on_node(self) -> bool:
        """Whether it takes capacity of its node."""
        return self.phase in (Phase.STARTED, Phase.STOPPING)

    def ends(self) -> None:
        """End at once."""
        self.phase = Phase.OVER


@dataclass(eq=False)
class Application:
    """An application as its user submitted it."""

    id: str
    workload: ext.Workload
    containers: list[Container] = field(default_factory=list)
    state: str = "New"
    over: bool = False
    ending: bool = False  # its user ended it
    empty_since: float = 0.0

    @property
    def gang(self) -> bool:
        """Whether it has task groups."""
        return any(group.task_group for group in self.workload.groups)

    @property
    def placeholders_placed(self) -> bool:
        """Whether each placeholder has been allocated."""
        return all(one.placed for one in self.containers if one.placeholder)

    def update(self, state: str) -> None:
        """Take over a state of the scheduler's; a final one ends everything."""
        self.state = state
        if state in _FINAL:
            self.end()

    def end(self) -> None:
        """End the application and all that is left of it."""
        self.over = True
        for one in self.containers:
            one.ends()

    def may_ask(self, one: Container) -> bool:
        """Return whether ``one`` may be asked for: in a gang, real members come last."""
        soft = self.workload.gang_style != "Hard"
        return (
            one.placeholder
            or not one.group
            or self.placeholders_placed
            or (soft and self.state == "Resuming")
        )


@dataclass(eq=False)
class Node:
    """A node."""

    id: str
    attributes: dict[str, str]
    capacity: dict[str, int]
    cordoned: bool


@dataclass(eq=False)
class Foreign:
    """A container of somebody else."""

    key: str
    node: str
    resource: dict[str, int]
    static: bool


@dataclass
class World:
    """All of it."""

    nodes: dict[str, Node] = field(default_factory=dict)
    applications: dict[str, Application] = field(default_factory=dict)
    foreign: dict[str, Foreign] = field(default_factory=dict)
    restarts: int = 0  # since a reset
    registrations: int = 0  # the same

    def containers(self) -> list[Container]:
        """Return the containers that are not over."""
        every = (one for app in self.applications.values() for one in app.containers)
        return [one for one in every if one.phase is not Phase.OVER]

    def container(self, key: str) -> Container | None:
        """Return the container with this key, unless it is over."""
        return next((one for one in self.containers() if one.key == key), None)

    def submit(self, workload: ext.Workload, keys: Iterable[str]) -> Application:
        """Add an application with its containers, each of which takes one of ``keys``."""
        app = Application(workload.application_id, workload)
        names = iter(keys)
        for placeholder in (True, False):
            for group in workload.groups:
                if placeholder and not group.task_group:
                    continue
                gang = bool(group.task_group)
                number = group.real_containers if gang and not placeholder else group.members
                app.containers += [
                    Container(
                        *(next(names), app.id, group.task_group, placeholder, group),
                        resource=dict(group.resource),
                    )
                    for _ in range(number)
                ]
        first = next((one for one in app.containers if not one.placeholder), None)
        if first is not None:
            first.originator = True
        self.applications[app.id] = app
        return app

    def free(self, node: str, without: Iterable[str] = ()) -> dict[str, int]:
        """Return what is free on a node once the containers with these keys are gone."""
        left = dict(self.nodes[node].capacity)
        gone = set(without)
        held = [
            one.resource
            for one in self.containers()
            if one.on_node and one.node == node and one.key not in gone
        ]
        held += [one.resource for one in self.foreign.values() if one.node == node]
        for resource in held:
            for name, amount in resource.items():
                left[name] = left.get(name, 0) - amount
        return left


def keys(application: str, switches: frozenset[str]) -> Iterable[str]:
    """Yield keys of containers, by the strategy in ``switches``."""
    if "application-keys" in switches:
        yield application
    for number in count(1):
        if "odd-keys" in switches:
            yield f"{uuid4()} / \u00e9\u4e2d\t'\"\\%s{{}}:{application}#{number}"
        elif "long-keys" in switches:
            yield f"{application}-{number}-" + uuid4().hex * 40
        else:
            yield f"{application}.{number}.{uuid4().hex[:8]}"
