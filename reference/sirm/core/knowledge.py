"""What the RM knows of the scheduler in this registration; the next one begins without it."""

from dataclasses import dataclass, field
from typing import TypeAlias

from sirm.core.cluster import Application, Cluster, Container, ForeignContainer, Node
from sirm.core.model import Resource, Termination
from sirm.core.states import Verdict

Members: TypeAlias = tuple[str, bool]  # an application, and whether its placeholders are meant


@dataclass
class Knowledge:
    """Verdicts, what has been sent, what is still to be reported, and open releases."""

    nodes: dict[str, Verdict] = field(default_factory=dict)  # of reported nodes
    applications: dict[str, Verdict] = field(default_factory=dict)  # of added applications
    sent: set[str] = field(default_factory=set)  # keys the scheduler holds, foreign ones included
    withdrawn: set[str] = field(default_factory=set)  # keys of requests taken back by the RM
    releases: dict[str, Termination] = field(default_factory=dict)  # to confirm, by key
    resizing: dict[str, Resource] = field(default_factory=dict)  # the size before, by key
    new_nodes: dict[str, Node] = field(default_factory=dict)
    new_applications: dict[str, Application] = field(default_factory=dict)
    existing: dict[str, Container] = field(default_factory=dict)  # running, by key
    waiting: dict[Members, dict[str, Container]] = field(default_factory=dict)
    new_foreign: dict[str, ForeignContainer] = field(default_factory=dict)  # by name

    def report(self, container: Container) -> None:
        """Have a container reported as soon as the verdicts it depends on are there."""
        if container.is_allocated:
            self.existing[container.key] = container
        else:
            self.waiting.setdefault(_members(container), {})[container.key] = container

    def drop(self, container: Container) -> None:
        """Forget that a container is to be reported."""
        self.existing.pop(container.key, None)
        members = self.waiting.get(_members(container), {})
        members.pop(container.key, None)
        if not members:
            self.waiting.pop(_members(container), None)


def _members(container: Container) -> Members:
    return container.application.application_id, container.placeholder


def complete_report(cluster: Cluster) -> Knowledge:
    """Return what is known right after a registration: nothing, so that all is to be reported."""
    knowledge = Knowledge(
        new_nodes=dict(cluster.nodes),
        new_applications={
            name: one for name, one in cluster.applications.items() if not one.is_over
        },
        new_foreign=dict(cluster.foreign),
    )
    for container in cluster.containers.values():
        if not container.application.is_over:
            knowledge.report(container)
    return knowledge
