"""Foreign containers: what others hold on the RM's nodes, by the constants of the SI."""

from collections.abc import Iterator

from sirm.core.cluster import ForeignContainer
from sirm.core.model import (
    AddForeign,
    Effect,
    RefusedError,
    Release,
    ReportForeign,
    Termination,
    Update,
)
from sirm.core.state import State


def add(state: State, event: AddForeign) -> list[Effect]:
    """Add a container of others. Raises RefusedError if that is not possible."""
    cluster = state.cluster
    if not state.rules.reports_foreign:
        raise RefusedError("this revision has no foreign allocations")
    if event.node_id not in cluster.nodes:
        raise RefusedError(f'there is no node "{event.node_id}"')
    if event.name in cluster.foreign:
        raise RefusedError(f'foreign container "{event.name}" exists')
    key = cluster.new_key(event.name)
    foreign = ForeignContainer(key, event.name, event.node_id, event.resource, event.is_static)
    cluster.foreign[event.name] = foreign
    state.knowledge.new_foreign[event.name] = foreign
    return []


def remove(state: State, name: str) -> list[Effect]:
    """Remove a container of others. Raises RefusedError if there is none."""
    foreign = state.cluster.foreign.pop(name, None)
    if foreign is None:
        raise RefusedError(f'there is no foreign container "{name}"')
    state.knowledge.new_foreign.pop(name, None)
    if foreign.key not in state.knowledge.sent:
        return []
    state.knowledge.sent.discard(foreign.key)
    return [Release("", foreign.key, foreign.key, Termination.STOPPED_BY_RM)]


def due(state: State) -> Iterator[Update]:
    """Yield foreign containers whose node is accepted (SI-FOR-011)."""
    for foreign in list(state.knowledge.new_foreign.values()):
        if state.accepts_node(foreign.node_id):
            del state.knowledge.new_foreign[foreign.name]
            state.knowledge.sent.add(foreign.key)
            yield ReportForeign(foreign.key, foreign.node_id, foreign.resource, foreign.is_static)
