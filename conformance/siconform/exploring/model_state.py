"""Model state of an RM: the objects it has added and the allocations it holds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from siconform.protocol.application_states import OVER
from siconform.protocol.handles import Application, Ask, Gang, Node
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationUpdated,
    Released,
)
from siconform.rm.resource_manager import ResourceManager

T = TypeVar("T")


@dataclass
class ModelState:
    """The state, with lists in the order of the messages.

    Nodes, applications and asks follow the RM's own messages only, so that the same steps lead to
    the same choices regardless of the scheduler's answers. Only what is recovered depends on them:
    a scheduler may reject what exists of an application that ended.
    """

    rm: ResourceManager
    nodes: list[Node] = field(default_factory=list)
    draining: set[Node] = field(default_factory=set)
    decommissioned_nodes: list[Node] = field(default_factory=list)
    applications: list[Application] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    released: set[str] = field(default_factory=set)  # identities the RM released
    recovered: list[Allocated] = field(default_factory=list)  # on nodes that were accepted

    def allocations(self) -> list[Allocated]:
        """Return the live allocations as far as the RM knows, ordered by ask."""
        ended = {received.identity for received in self.rm.observe(Released())} | self.released
        keys = [ask.sent.key for ask in self.asks]
        announced = (one for one in self.rm.observe(Allocated()) if one.key in keys)
        return [
            one
            for one in (*sorted(announced, key=lambda one: keys.index(one.key)), *self.recovered)
            if one.identity not in ended
            and one.node in self.nodes
            and one.application in self.applications
        ]

    def running_applications(self) -> list[Application]:
        """Return the applications that are accepted and, by their last state, not over."""
        accepted = {received.application for received in self.rm.observe(ApplicationAccepted())}
        states = {one.application: one.state for one in self.rm.observe(ApplicationUpdated())}
        return [
            application
            for application in self.applications
            if application in accepted and not OVER.accepts(states.get(application))
        ]

    def recovers(self, node: Node, existing: Sequence[Allocated]) -> None:
        """Add an accepted node with the allocations that exist on it."""
        self.nodes.append(node)
        self.recovered += existing

    def gangs(self) -> list[Gang]:
        """Return the applications that are gangs."""
        return [application for application in self.applications if isinstance(application, Gang)]

    def resizes(self, node: Node, capacity: dict[str, int]) -> None:
        """Set the node's capacity."""
        self.nodes[self.nodes.index(node)] = Node(node, capacity)

    def loses_node(self, node: Node) -> None:
        """Move a node to the decommissioned ones."""
        self.nodes.remove(node)
        self.draining.discard(node)
        self.decommissioned_nodes.append(node)

    def loses_application(self, application: Application) -> None:
        """Remove the application and its asks."""
        self.applications.remove(application)
        self.asks = [ask for ask in self.asks if ask.sent.application != application]


def chosen(of: Sequence[T], number: int) -> T | None:
    """Return the element with this index, modulo the length; None if there is none."""
    return of[number % len(of)] if of else None
