"""What is sent once a container is gone: the confirmation of a release, or a release."""

from sirm.core.cluster import Container
from sirm.core.model import Release, Termination
from sirm.core.state import State


def last_release(state: State, container: Container) -> list[Release]:
    """Return the release that ends a container, none if the scheduler no longer holds it.

    A release begun by the scheduler is confirmed once the container is gone (SI-REL-008,
    SI-REL-024); otherwise the RM releases what the scheduler holds.
    """
    knowledge = state.knowledge
    is_held = container.key in knowledge.sent
    knowledge.sent.discard(container.key)
    knowledge.resizing.pop(container.key, None)
    began = knowledge.releases.pop(container.key, None)
    if began is not None:
        return [confirmation(container, began)]
    return [origination(container)] if is_held else []


def confirmation(container: Container, began: Termination) -> Release:
    """Return the confirmation of a release: the same subject and the same type."""
    return release(container, began)


def origination(container: Container) -> Release:
    """Return a release begun by the RM: STOPPED_BY_RM, never another type (SI-REL-012)."""
    return release(container, Termination.STOPPED_BY_RM)


def release(container: Container, termination: Termination) -> Release:
    """Return the release of this container."""
    application_id = container.application.application_id
    return Release(application_id, container.key, container.identity, termination)
