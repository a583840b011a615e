"""Requests: what is sent for waiting containers, and the answers to it."""

from sirm.core import applications, containers, tags
from sirm.core.cluster import Container
from sirm.core.model import (
    Allocated,
    ContainerRecord,
    Effect,
    Notice,
    RejectedRequest,
    Release,
    ReportAllocation,
    RequestAllocation,
    Termination,
)
from sirm.core.state import State
from sirm.core.states import ContainerState


def record(container: Container) -> ContainerRecord:
    """Return a container as every request and every allocation of it describes it.

    An existing allocation so repeats the fields of the original (SI-REC-018), those of its gang
    included (SI-GANG-049, SI-REC-010).
    """
    return ContainerRecord(
        key=container.key,
        application_id=container.application.application_id,
        resource=container.resource,
        tags=tags.tags(container.group.labels),
        priority=container.group.priority,
        task_group=container.group.task_group,
        placeholder=container.placeholder,
        originator=container.originator,
    )


def request(container: Container) -> RequestAllocation:
    """Return the request for a waiting container."""
    return RequestAllocation(record(container))


def allocation(container: Container) -> ReportAllocation:
    """Return the allocation of a running container."""
    return ReportAllocation(record(container), container.node_id, container.identity)


def allocated(state: State, event: Allocated, now: float) -> list[Effect]:
    """Start the container of an allocation, the only positive answer to a request (SI-ASK-021)."""
    container = state.cluster.find(event.key)
    if container is None:
        return _not_wanted(state, event)
    if container.state is not ContainerState.WAITING:
        return []
    if not containers.may_run_on(state, container, event.node_id):
        container.identity = event.identity
        return [
            Notice(f"{event.key} may not run on {event.node_id}"),
            *containers.give_up(state, container),
        ]
    state.knowledge.drop(container)
    return containers.start(state, container, event.node_id, event.identity, now)


def _not_wanted(state: State, event: Allocated) -> list[Effect]:
    """Release an allocation whose container is over; a withdrawn key is released already."""
    if state.rules.key_is_identity and event.key in state.knowledge.withdrawn:
        return []
    stopped = Termination.STOPPED_BY_RM
    return [Release(event.application_id, event.key, event.identity, stopped)]


def rejected(state: State, event: RejectedRequest, now: float) -> list[Effect]:
    """Take a rejection as final: nothing is requested a second time (SI-ASK-023).

    A rejected new size leaves the container as it was (C-49); a running container that the
    scheduler does not accept is stopped. Without one of its placeholders a gang cannot be complete,
    so its application ends.
    """
    container = state.cluster.find(event.key)
    if container is None:
        return []
    before = state.knowledge.resizing.pop(event.key, None)
    if before is not None:
        containers.resize(container, before)
        return [Notice(f"new size of {event.key} rejected: {event.reason}")]
    application = container.application
    application.outcome = "failed"
    containers.forget(state, container)
    effects = [
        Notice(f"{event.key} rejected: {event.reason}"),
        *containers.stop(state, container, now),
    ]
    return effects + (applications.end(state, application, now) if container.placeholder else [])
