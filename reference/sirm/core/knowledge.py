"""What the RM knows of the scheduler in this registration; the next one begins without it."""

from dataclasses import dataclass, field

from sirm.core.cluster import Application, Cluster, Container, ForeignContainer, Node
from sirm.core.model import Resource, Termination
from sirm.core.states import Verdict


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
    new_containers: dict[str, dict[str, Container]] = field(default_factory=dict)  # by application
    new_foreign: dict[str, ForeignContainer] = field(default_factory=dict)  # by name

    def report(self, container: Container) -> None:
        """Have a container reported as soon as the verdicts it depends on are there."""
        of_application = self.new_containers.setdefault(container.application.application_id, {})
        of_application[container.key] = container

    def drop(self, container: Container) -> None:
        """Forget that a container is to be reported."""
        application_id = container.application.application_id
        waiting = self.new_containers.get(application_id, {})
        waiting.pop(container.key, None)
        if not waiting:
            self.new_containers.pop(application_id, None)


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
