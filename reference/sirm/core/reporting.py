"""Reporting: everything the scheduler does not have yet, once the verdicts it depends on are there.

After a registration that is the complete state; later, what is new. The order is: nodes and
applications, then the allocations of running containers, then requests.
"""

from collections.abc import Iterator

from sirm.core import applications, foreign, gangs, nodes, requests
from sirm.core.cluster import Container, Node
from sirm.core.model import Update
from sirm.core.state import State
from sirm.core.states import Verdict


def due(state: State) -> list[Update]:
    """Return the reports that can be sent now; each is returned once in a registration."""
    if not state.is_registered:
        return []
    return [
        *new_applications(state),
        *new_nodes(state),
        *foreign.due(state),
        *existing_allocations(state),
        *new_requests(state),
    ]


def new_applications(state: State) -> Iterator[Update]:
    """Yield applications, before anything that names them (SI-APP-016, SI-REC-005)."""
    knowledge = state.knowledge
    for application_id, application in knowledge.new_applications.items():
        knowledge.applications[application_id] = Verdict.AWAITED
        yield applications.addition(application)
    knowledge.new_applications.clear()


def new_nodes(state: State) -> Iterator[Update]:
    """Yield nodes, those that are cordoned as well (SI-NODE-014)."""
    knowledge = state.knowledge
    for node in list(knowledge.new_nodes.values()):
        if may_create(state, node):
            del knowledge.new_nodes[node.node_id]
            knowledge.nodes[node.node_id] = Verdict.AWAITED
            yield from _creation(state, node)


def may_create(state: State, node: Node) -> bool:
    """Return whether nothing that is reported with the node waits for a verdict."""
    if not state.rules.allocations_with_node:
        return True
    verdicts = state.knowledge.applications
    on_node = state.cluster.on_node(node.node_id)
    return all(
        verdicts.get(one.application.application_id) is not Verdict.AWAITED for one in on_node
    )


def _creation(state: State, node: Node) -> Iterator[Update]:
    for report in nodes.creation(state, node):
        for allocation in report.allocations:
            _sent(state, state.cluster.containers[allocation.container.key])
        yield report


def existing_allocations(state: State) -> Iterator[Update]:
    """Yield running containers, after the verdicts on their nodes and applications (SI-REC-024)."""
    for container in list(state.knowledge.existing.values()):
        if may_be_reported(state, container):
            _sent(state, container)
            yield requests.allocation(container)


def may_be_reported(state: State, container: Container) -> bool:
    """Return whether both verdicts are there."""
    application_id = container.application.application_id
    return state.accepts_node(container.node_id) and state.accepts_application(application_id)


def new_requests(state: State) -> Iterator[Update]:
    """Yield requests for waiting containers, once no running container is left to report.

    Otherwise something new could be placed where a running container already is.
    """
    if any(will_be_reported(state, one) for one in state.knowledge.existing.values()):
        return
    for (application_id, placeholders), members in list(state.knowledge.waiting.items()):
        if may_request(state, application_id, placeholders=placeholders):
            for container in list(members.values()):
                _sent(state, container)
                yield requests.request(container)


def may_request(state: State, application_id: str, *, placeholders: bool) -> bool:
    """Return whether the application is accepted, and its gang so far."""
    application = state.cluster.applications[application_id]
    is_accepted = state.accepts_application(application_id)
    return is_accepted and gangs.may_request(application, placeholders=placeholders)


def will_be_reported(state: State, container: Container) -> bool:
    """Return whether a running container only waits for a verdict."""
    return state.knowledge.nodes.get(container.node_id) is not Verdict.REJECTED


def _sent(state: State, container: Container) -> None:
    state.knowledge.drop(container)
    state.knowledge.sent.add(container.key)
