"""The cluster: what lives on while the RM restarts, as in a cluster's own store."""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from sirm.core.model import Group, Resource, Workload
from sirm.core.states import (
    APPLICATION,
    CONTAINER,
    ApplicationState,
    ApplicationTrigger,
    ContainerState,
    ContainerTrigger,
    fire,
)


@dataclass
class Node:
    """A node of the cluster."""

    node_id: str
    capacity: Resource
    attributes: dict[str, str]
    cordoned: bool


@dataclass
class Container:
    """A container of an application; a placeholder is one, too."""

    key: str
    application: "Application"
    group: Group
    resource: Resource
    placeholder: bool = False
    originator: bool = False
    state: ContainerState = ContainerState.WAITING
    node_id: str = ""
    identity: str = ""  # of its allocation
    exits_at: float | None = None

    def move(self, trigger: ContainerTrigger) -> None:
        """Apply a transition."""
        self.state = fire(CONTAINER, self.state, trigger)

    @property
    def is_allocated(self) -> bool:
        """Return whether the container occupies its node."""
        return self.state in (ContainerState.RUNNING, ContainerState.STOPPING)


@dataclass
class Application:
    """An application with its containers."""

    workload: Workload
    containers: dict[str, Container] = field(default_factory=dict)  # that are not over, by key
    has_originator: bool = False
    missing_placeholders: int = 0  # that have not been allocated yet
    state: ApplicationState = ApplicationState.LIVE
    outcome: str = ""  # completed, ended, rejected or failed, once it is over
    is_resumed: bool = False  # a gang that gave up its placeholders: scheduled like any other

    def move(self, trigger: ApplicationTrigger) -> None:
        """Apply a transition."""
        self.state = fire(APPLICATION, self.state, trigger)

    @property
    def application_id(self) -> str:
        """Return the id."""
        return self.workload.application_id

    @property
    def is_over(self) -> bool:
        """Return whether nothing more happens in the application."""
        return self.state is ApplicationState.OVER


@dataclass
class ForeignContainer:
    """A container of no application of this RM."""

    key: str
    name: str
    node_id: str
    resource: Resource
    is_static: bool


class Cluster:
    """Nodes, applications, containers, and when containers end by themselves."""

    def __init__(self, configuration: str = "") -> None:
        self.configuration = configuration  # of the scheduler, which 2021-02 has saved here
        self.nodes: dict[str, Node] = {}
        self.applications: dict[str, Application] = {}
        self.containers: dict[str, Container] = {}  # that are not over, by key
        self.allocated: dict[str, Container] = {}  # those that occupy a node, by identity
        self.foreign: dict[str, ForeignContainer] = {}  # by name
        self._exits: list[tuple[float, str]] = []  # a heap of times and keys
        self._numbers = count(1)

    def new_key(self, name: str) -> str:
        """Return a key that names nothing else, in any application or in none."""
        return f"{name}-{next(self._numbers)}"

    def exits_at(self, time: float, container: Container) -> None:
        """Have a container gone at this time, unless it is over before."""
        container.exits_at = time
        heappush(self._exits, (time, container.key))

    def next_exit(self) -> tuple[float, Container] | None:
        """Return the next container that will be gone, and when."""
        while self._exits:
            time, key = self._exits[0]
            container = self.containers.get(key)
            if container is not None and container.exits_at == time:
                return time, container
            heappop(self._exits)
        return None

    def find(self, key: str, identity: str = "") -> Container | None:
        """Return the container with this key, or with an allocation of this identity.

        A release names the identity up to 2023-12, and the key from 2024-10 on.
        """
        return self.containers.get(key) or self.allocated.get(identity)

    def on_node(self, node_id: str) -> list[Container]:
        """Return the containers that occupy this node."""
        return [one for one in self.allocated.values() if one.node_id == node_id]

    def foreign_on(self, node_id: str) -> list[ForeignContainer]:
        """Return the containers of others on this node."""
        return [one for one in self.foreign.values() if one.node_id == node_id]
