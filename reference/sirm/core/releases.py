"""Releases by the scheduler: carried out, and confirmed once the container is gone."""

from sirm.core import containers
from sirm.core.cluster import Container
from sirm.core.model import Covered, Effect, Release, Released, Termination
from sirm.core.state import State
from sirm.core.states import ContainerState


def release(state: State, event: Released, now: float) -> list[Effect]:
    """Handle a release: the end of containers, or the confirmation of one by the RM."""
    if event.termination is Termination.STOPPED_BY_RM:
        return confirmed(state, event, now)
    subjects = covered(state, event)
    if not subjects and _names_one(event):
        return unknown(event)
    effects: list[Effect] = []
    for container in subjects:
        effects += carry_out(state, container, event.termination, now)
    return effects


def covered(state: State, event: Released) -> list[Container]:
    """Return the containers of a release; without identity all of the application (SI-REL-022)."""
    if _names_one(event):
        found = state.cluster.find(event.key, event.identity)
        return [found] if found is not None and _covers(event, found) else []
    application = state.cluster.applications.get(event.application_id)
    members = list(application.containers.values()) if application is not None else []
    return [one for one in members if _covers(event, one)]


def carry_out(
    state: State, container: Container, termination: Termination, now: float
) -> list[Effect]:
    """Stop a container; it is confirmed with the type of the release (SI-REL-008, SI-REL-024)."""
    state.knowledge.releases[container.key] = termination
    if not container.placeholder:
        container.application.outcome = "failed"
    return containers.stop(state, container, now)


def confirmed(state: State, event: Released, now: float) -> list[Effect]:
    """Do not answer a confirmation (SI-REL-010).

    It usually finds the container gone. One that still runs ended with its node or application
    (C-02): it is stopped without a further release.
    """
    effects: list[Effect] = []
    for container in covered(state, event):
        if container.state is ContainerState.RUNNING:
            containers.forget(state, container)
            effects += containers.stop(state, container, now)
    return effects


def unknown(event: Released) -> list[Effect]:
    """Confirm the release of a container that is gone already, unless it has no type."""
    if event.termination is Termination.UNSET:
        return []
    return [Release(event.application_id, event.key, event.identity, event.termination)]


def _names_one(event: Released) -> bool:
    return bool(event.key or event.identity)


def _covers(event: Released, container: Container) -> bool:
    match event.covered:
        case Covered.ALLOCATIONS:
            return container.is_allocated
        case Covered.REQUESTS:
            return container.state is ContainerState.WAITING
        case Covered.BOTH:
            return True
