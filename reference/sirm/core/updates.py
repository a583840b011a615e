"""Updates of running containers: a new size under the same key."""

from sirm.core import containers, requests
from sirm.core.cluster import Container
from sirm.core.model import Effect, RefusedError, ResizeContainer, Resource
from sirm.core.state import State


def resize(state: State, event: ResizeContainer) -> list[Effect]:
    """Resize a container. Raises RefusedError if that is not possible.

    The scheduler gets the key, the node and the new amount, without a release or a request in
    between (SI-ALLOC-018); for a waiting container the request is updated.
    """
    container = state.cluster.find(event.key)
    if container is None:
        raise RefusedError(f'there is no container "{event.key}"')
    if container.is_allocated and not state.rules.updates_running:
        raise RefusedError("this revision cannot update a running container")
    before = container.resource
    containers.resize(container, event.resource)
    return update(state, container, before)


def update(state: State, container: Container, before: Resource) -> list[Effect]:
    """Report a new size, unless the container was not sent yet."""
    if container.key not in state.knowledge.sent:
        return []  # it is reported with its new size
    if not container.is_allocated:
        return [requests.request(container)]
    state.knowledge.resizing.setdefault(container.key, before)
    return [requests.allocation(container)]
