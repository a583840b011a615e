"""The resource manager: events and the time as input, effects as output."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from sirm.core import (
    applications,
    containers,
    foreign,
    nodes,
    registration,
    releases,
    reporting,
    requests,
    updates,
)
from sirm.core import model as m
from sirm.core.cluster import Cluster
from sirm.core.state import Settings, State
from sirm.core.states import ConnectionState


class ResourceManager:
    """One instance of the RM on its cluster. ``now`` is in seconds and never decreases."""

    def __init__(
        self, cluster: Cluster, rules: m.Rules | None = None, settings: Settings | None = None
    ) -> None:
        self.state = State(cluster, rules or m.Rules(), settings or Settings())

    def handle(self, events: Iterable[m.Event], now: float) -> list[m.Effect]:
        """Return the effects of events in sending order.

        Raises RefusedError for an action that is not possible; it changes nothing.
        """
        effects: list[m.Effect] = []
        for event in events:
            effects += _apply(self.state, event, now)
        return effects + list(reporting.due(self.state))

    def next_deadline(self) -> float | None:
        """Return when ``handle_timeout`` has something to do, None if never."""
        exit_ = self.state.cluster.next_exit()
        deadlines = (exit_[0] if exit_ is not None else None, self.state.register_at)
        return min((one for one in deadlines if one is not None), default=None)

    def handle_timeout(self, now: float) -> list[m.Effect]:
        """Return the effects of the deadlines that are due."""
        state = self.state
        effects: list[m.Effect] = []
        while (due := state.cluster.next_exit()) is not None and due[0] <= now:
            effects += containers.gone(state, due[1])
        if state.register_at is not None and state.register_at <= now:
            effects += registration.register(state)
        return effects + list(reporting.due(state))

    @property
    def has_given_up(self) -> bool:
        """Return whether the scheduler could not be reached for too long."""
        return self.state.connection is ConnectionState.GIVEN_UP


def _apply(state: State, event: m.Event, now: float) -> list[m.Effect]:
    if type(event) in FROM_SCHEDULER:
        state.failures = 0
    return RULES[type(event)](state, event, now)


def reset(state: State, now: float) -> list[m.Effect]:
    """Remove everything: applications, whose containers are gone at once, then nodes."""
    effects: list[m.Effect] = []
    for application in list(state.cluster.applications.values()):
        if not application.is_over:
            effects += applications.end_by_user(state, application.application_id, now)
    for container in list(state.cluster.containers.values()):
        effects += containers.gone(state, container)
    for name in list(state.cluster.foreign):
        effects += foreign.remove(state, name)
    for node_id in list(state.cluster.nodes):
        effects += nodes.remove(state, node_id)
    state.cluster.applications.clear()
    return effects


# Each event and its rule

Rule: TypeAlias = Callable[[State, Any, float], list[m.Effect]]

CONNECTION: Final[Mapping[type, Rule]] = {
    m.Started: lambda state, _, __: registration.register(state),
    m.Registered: lambda state, _, __: registration.registered(state),
    m.ConnectionLost: lambda state, event, now: registration.lost(state, event.reason, now),
}
FROM_SCHEDULER: Final[Mapping[type, Rule]] = {
    m.AcceptedNode: lambda state, event, _: nodes.accepted(state, event),
    m.RejectedNode: lambda state, event, _: nodes.rejected(state, event),
    m.AcceptedApplication: lambda state, event, _: applications.accepted(state, event),
    m.RejectedApplication: lambda state, event, now: applications.rejected(state, event, now),
    m.UpdatedApplication: lambda state, event, now: applications.updated(state, event, now),
    m.Allocated: lambda state, event, now: requests.allocated(state, event, now),
    m.RejectedRequest: lambda state, event, now: requests.rejected(state, event, now),
    m.Released: lambda state, event, now: releases.release(state, event, now),
    m.ResyncRequested: lambda state, _, now: registration.resync(state, now),
}
ACTIONS: Final[Mapping[type, Rule]] = {
    m.AddNode: lambda state, event, _: nodes.add(state, event),
    m.Cordon: lambda state, event, _: nodes.cordon(state, event.node_id),
    m.Uncordon: lambda state, event, _: nodes.uncordon(state, event.node_id),
    m.ResizeNode: lambda state, event, _: nodes.resize(state, event),
    m.RemoveNode: lambda state, event, _: nodes.remove(state, event.node_id),
    m.Submit: lambda state, event, _: applications.submit(state, event.workload),
    m.EndApplication: lambda state, event, now: applications.end_by_user(
        state, event.application_id, now
    ),
    m.ContainerExited: lambda state, event, _: containers.exited(state, event.key),
    m.ResizeContainer: lambda state, event, _: updates.resize(state, event),
    m.AddForeign: lambda state, event, _: foreign.add(state, event),
    m.RemoveForeign: lambda state, event, _: foreign.remove(state, event.name),
    m.Reset: lambda state, _, now: reset(state, now),
}
RULES: Final = {**CONNECTION, **FROM_SCHEDULER, **ACTIONS}
