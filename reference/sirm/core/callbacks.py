"""Callbacks: questions of the scheduler that the RM answers from what it knows of its cluster."""

import json
from collections.abc import Sequence

from sirm.core import containers
from sirm.core.cluster import Cluster
from sirm.core.model import Resource
from sirm.core.state import State


def predicate(state: State, key: str, node_id: str) -> str:
    """Return why a container may not be placed on a node; empty if it may (SI-CB-014)."""
    container = state.cluster.find(key)
    if container is None:
        return f'there is no container "{key}"'
    if not containers.may_run_on(state, container, node_id):
        return f'container "{key}" may not run on node "{node_id}"'
    return ""


def preemption_predicate(
    state: State, key: str, node_id: str, victims: Sequence[str], start_index: int
) -> int | None:
    """Return the index of the last victim that has to go; None if the container never fits.

    The victims 0 to ``start_index`` go in any case, later ones only as far as needed (SI-CB-006).
    """
    container = state.cluster.find(key)
    if container is None or not containers.may_run_on(state, container, node_id):
        return None
    for index in range(max(start_index, 0), len(victims)):
        if fits(container.resource, free(state.cluster, node_id, without=victims[: index + 1])):
            return index
    return None


def free(cluster: Cluster, node_id: str, without: Sequence[str]) -> Resource:
    """Return what a node has left once these containers are gone."""
    left = dict(cluster.nodes[node_id].capacity)
    used = [one.resource for one in cluster.on_node(node_id) if one.key not in without]
    used += [one.resource for one in cluster.foreign_on(node_id) if one.key not in without]
    for resource in used:
        for name, amount in resource.items():
            left[name] = left.get(name, 0) - amount
    return left


def fits(need: Resource, available: Resource) -> bool:
    """Return whether there is enough of every type."""
    return all(amount <= available.get(name, 0) for name, amount in need.items())


def state_dump(state: State) -> str:
    """Return the cluster as the RM sees it, as JSON (SI-CB-010)."""
    cluster = state.cluster
    return json.dumps(
        {
            "connection": state.connection.value,
            "nodes": {
                node.node_id: {"capacity": dict(node.capacity), "cordoned": node.cordoned}
                for node in cluster.nodes.values()
            },
            "applications": {
                one.application_id: one.state.value for one in cluster.applications.values()
            },
            "containers": {
                one.key: {
                    "application": one.application.application_id,
                    "node": one.node_id,
                    "state": one.state.value,
                }
                for one in cluster.containers.values()
            },
        }
    )
