"""Containers: waiting, running, stopping, over."""

from sirm.core import application_end, confirmations
from sirm.core.cluster import Application, Cluster, Container
from sirm.core.model import Effect, Group, Notice, RefusedError, Resource
from sirm.core.state import State
from sirm.core.states import ContainerState, ContainerTrigger


def create(
    cluster: Cluster, application: Application, group: Group, *, placeholder: bool = False
) -> Container:
    """Return a new waiting container; the first real one is the originator."""
    container = Container(
        key=cluster.new_key(application.application_id),
        application=application,
        group=group,
        resource=group.resource,
        placeholder=placeholder,
        originator=not placeholder and not application.has_originator,
    )
    if placeholder:
        application.missing_placeholders += 1
    else:
        application.has_originator = True
    application.containers[container.key] = container
    cluster.containers[container.key] = container
    return container


def may_run_on(state: State, container: Container, node_id: str) -> bool:
    """Return whether a container may run on a node: there is one, and the user allows it."""
    allowed = container.group.allowed_nodes
    return node_id in state.cluster.nodes and (not allowed or node_id in allowed)


def start(
    state: State, container: Container, node_id: str, identity: str, now: float
) -> list[Effect]:
    """Start a container where the scheduler placed it."""
    container.move(ContainerTrigger.ALLOCATED)
    container.node_id = node_id
    container.identity = identity
    state.cluster.allocated[identity] = container
    if container.placeholder:
        container.application.missing_placeholders -= 1
    if container.group.runs is not None and not container.placeholder:
        state.cluster.exits_at(now + container.group.runs, container)
    return [Notice(f"{_name(container)} started on {node_id}")]


def stop(state: State, container: Container, now: float) -> list[Effect]:
    """Stop a running container, which may take a while; give up a waiting one at once."""
    match container.state:
        case ContainerState.WAITING:
            return give_up(state, container)
        case ContainerState.RUNNING:
            container.move(ContainerTrigger.STOP)
            state.cluster.exits_at(now + container.group.stopping, container)
            return gone(state, container) if container.group.stopping <= 0 else []
        case _:
            return []


def give_up(state: State, container: Container) -> list[Effect]:
    """Give up a waiting container, and withdraw its request."""
    container.move(ContainerTrigger.GIVEN_UP)
    if container.key in state.knowledge.sent:
        state.knowledge.withdrawn.add(container.key)
    return _over(state, container, "given up")


def gone(state: State, container: Container) -> list[Effect]:
    """Handle the end of a container on its node."""
    container.move(ContainerTrigger.GONE)
    return _over(state, container, f"gone from {container.node_id}")


def exited(state: State, key: str) -> list[Effect]:
    """Handle the exit of a container. Raises RefusedError if it does not run."""
    container = state.cluster.find(key)
    if container is None or not container.is_allocated:
        raise RefusedError(f'container "{key}" does not run')
    return gone(state, container)


def resize(container: Container, resource: Resource) -> None:
    """Give a container another size; its key stays."""
    container.resource = resource


def forget(state: State, container: Container) -> None:
    """Note that the scheduler does not hold a container: nothing is reported or released."""
    state.knowledge.sent.discard(container.key)
    state.knowledge.drop(container)


def _over(state: State, container: Container, how: str) -> list[Effect]:
    state.cluster.containers.pop(container.key)
    state.cluster.allocated.pop(container.identity, None)
    container.application.containers.pop(container.key)
    state.knowledge.drop(container)
    return [
        *confirmations.last_release(state, container),
        Notice(f"{_name(container)} {how}"),
        *application_end.settle(state, container.application),
    ]


def _name(container: Container) -> str:
    kind = "placeholder" if container.placeholder else "container"
    return f"{kind} {container.key}"
