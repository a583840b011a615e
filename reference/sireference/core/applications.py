"""Submission and removal of applications."""

from collections.abc import Iterator
from itertools import chain, islice

from sireference.core import allocation_end, application_lifecycle, namespace_quota, queues
from sireference.core.gang import submission
from sireference.core.model import (
    AcceptedApplication,
    Effect,
    NewApplication,
    RejectedApplication,
    ReleasedAllocation,
    RemoveApplication,
    partition_name,
    quoted,
)
from sireference.core.names import too_long
from sireference.core.placement import NoQueueError, place
from sireference.core.state import user_group_log
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import TerminationType


def submit(rm: ResourceManager, new: NewApplication, now: float) -> list[Effect]:
    """Accept an application or reject it with a reason: exactly one verdict (SI-APP-004)."""

    def rejected(reason: str) -> list[Effect]:
        rm.callbacks.event_log.rejected(new, reason)
        return [RejectedApplication(rm.rm_id, new.application_id, reason)]

    partition = rm.partitions.get(partition_name(new.partition))
    names = (new.application_id, new.queue, new.user, *new.groups)
    are_too_long = too_long(rm.settings.longest_name, *names)
    reason = next(chain(are_too_long, objections(partition, new)), "")
    if reason or partition is None:
        return rejected(reason)
    try:
        leaf = place(partition, new)
    except NoQueueError as why:
        return rejected(str(why))
    before = leaf.maximum, leaf.guaranteed, leaf.most_applications
    namespace_quota.apply(leaf, new)
    reason = next(submission.objections(leaf, new), "")
    if reason:
        leaf.limit(*before)
        queues.tidy(partition, leaf, now)
        return rejected(reason)
    if before != (leaf.maximum, leaf.guaranteed, leaf.most_applications):
        partition.preemptors.limits_changed()
    quotas = queues.enter(leaf, new)
    application = Application(new, partition.number(), leaf, quotas)
    partition.applications[new.application_id] = application
    forget(partition, new.application_id)
    partition.event_log.submitted(application)
    user_group_log.linked(partition.event_log, application)
    return [AcceptedApplication(rm.rm_id, new.application_id)]


def objections(partition: Partition | None, new: NewApplication) -> Iterator[str]:
    """Return why the application cannot be accepted in any queue; empty if it can."""
    if not new.application_id:
        yield "the application has no id"
    if partition is None:
        yield f"there is no partition {quoted(new.partition)}"
    elif partition.is_draining:
        yield f"partition {quoted(partition.name)} is drained"
    elif new.application_id in partition.applications:
        yield f"application {quoted(new.application_id)} exists already"


def forget(partition: Partition, application_id: str) -> None:
    """Forget a finished application with this id."""
    finished = partition.finished.pop(application_id, None)
    if finished is not None:
        finished.timer.cancel()


def remove(rm: ResourceManager, request: RemoveApplication, now: float) -> list[Effect]:
    """Remove an application with all its asks and allocations; unknown ids are ignored.

    Each allocation that ends is reported with STOPPED_BY_RM, because the RM caused it (C-02). No
    state is reported: the RM has removed the application.
    """
    partition = rm.partitions.get(partition_name(request.partition))
    if partition is None:
        return []
    application = partition.applications.get(request.application_id)
    if application is None:
        return []
    asks, held = _asks_and_allocations(partition, application, request.at_most)
    if len(asks) + len(held) == len(application.pending) + application.held:
        del partition.applications[request.application_id]
    for pending in asks:
        partition.asks.drop(pending)
    releases: list[Effect] = []
    went_on: list[Effect] = []
    for allocation in held:
        went_on += allocation_end.end(partition, allocation, TerminationType.STOPPED_BY_RM, now)
        release = allocation.release(TerminationType.STOPPED_BY_RM, "the application was removed")
        releases.append(ReleasedAllocation(rm.rm_id, release))
    if request.application_id in partition.applications:
        return allocation_end.in_order([], releases, went_on)  # the rest follows
    partition.event_log.left(application, "removed by the RM")
    application_lifecycle.retire(partition, application, now)
    partition.event_log.removed(application, "removed by the RM")
    return allocation_end.in_order([], releases, went_on)


def _asks_and_allocations(
    partition: Partition, application: Application, at_most: int | None
) -> tuple[list[PendingAsk], list[Allocation]]:
    """Return its asks, then its allocations, at most ``at_most`` together."""
    asks = list(islice(application.pending.values(), at_most))
    left = None if at_most is None else at_most - len(asks)
    return asks, list(islice(partition.allocations.of(application).values(), left))
