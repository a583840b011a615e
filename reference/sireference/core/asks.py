"""Asks: accepted, replaced by key and withdrawn."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from sireference.core import application_lifecycle, updates
from sireference.core.gang import timeout
from sireference.core.model import (
    AllOfApplication,
    Ask,
    AskReleaseRequest,
    AskSubject,
    EachOfKey,
    Effect,
    Everything,
    OneOfKey,
    RejectedAsk,
    partition_name,
    quoted,
)
from sireference.core.names import too_long
from sireference.core.preemption import cycle
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import (
    ASK_TRANSITIONS,
    ApplicationState,
    AskState,
    AskTrigger,
    fire,
)
from sireference.core.withdrawal import BY_THE_RM, withdraw

_FAILING: Final = ApplicationState.FAILING  # an Enum lookup for every ask is slow


def add(rm: ResourceManager, ask: Ask, now: float) -> list[Effect]:
    """Accept an ask, replacing a pending one with the same key, or reject it with a reason.

    Where the key is the identity, it may name a live allocation, which is then updated.

    ``max_allocations`` is the maximum of the ask as a whole: three requested, one allocated, three
    requested again leaves two. Acceptance has no message; the allocation is the next message.
    """
    partition = rm.partitions.get(partition_name(ask.partition))
    application = partition.applications.get(ask.application_id) if partition else None
    live = updates.of_live(partition, ask.key)
    if partition is not None and live is not None:
        return updates.change(partition, live, ask, now)
    reason = next(objections(partition, application, ask), "")
    if reason or partition is None or application is None:
        fire(ASK_TRANSITIONS, AskState.INITIAL, AskTrigger.REFUSED)
        rm.callbacks.event_log.refused(ask, reason)
        return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, reason)]
    earlier = application.pending.get(ask.key)
    if earlier is None:
        partition.asks.queue_up(application, ask)
    else:  # its place in its group and the allocations made so far stay
        partition.asks.replace(earlier, ask)
    if not application.pending:
        return application_lifecycle.settle(partition, application, now)
    timeout.watch(partition, application, now)
    waiting = application.pending.get(ask.key)
    if waiting is not None:
        cycle.watch(partition, waiting, now)
    return application_lifecycle.has_ask(partition, application, now)


def objections(
    partition: Partition | None, application: Application | None, ask: Ask
) -> Iterator[str]:
    """Return why the ask cannot be accepted; empty if it can."""
    if partition is None:
        yield f"there is no partition {quoted(ask.partition)}"
    else:
        names = (ask.key, ask.application_id, ask.task_group, *ask.resource.amounts)
        yield from too_long(partition.settings.longest_name, *names)
    if not ask.application_id:
        yield "the ask names no application"
    if application is None:
        yield f"there is no application {quoted(ask.application_id)}"
    elif application.state is _FAILING:
        yield f"application {quoted(ask.application_id)} is failing"
    if not ask.key:
        yield "the ask has no allocation key"
    if ask.max_allocations <= 0:
        yield f"at most {ask.max_allocations} allocations are asked for"
    if ask.constraint is not None:
        yield from ask.constraint.objections()
    yield from ask.resource.objections()
    if ask.resource.is_zero():
        yield "no resource is asked for"
    if partition is not None and partition.identifies_by_key:
        yield from _objections_to_key(partition, ask)


def _objections_to_key(partition: Partition, ask: Ask) -> Iterator[str]:
    """Return why the key cannot identify the allocation of ``ask``; empty if it can."""
    if ask.max_allocations > 1:
        yield "a key identifies one allocation"
    if ask.key in partition.foreign:
        yield f"allocation {quoted(ask.key)} is a foreign one"
    for one in partition.asks.with_key(ask.key):
        if one.application_id != ask.application_id:
            yield f"another application asks for allocation {quoted(ask.key)}"


def release(rm: ResourceManager, request: AskReleaseRequest, now: float) -> list[Effect]:
    """Withdraw pending asks and confirm each with the same type (C-04); ignore unknown ones.

    Types that the scheduler creates confirm its own releases: those asks are already gone.
    """
    partition = rm.partitions.get(partition_name(request.partition))
    if partition is None or request.termination not in BY_THE_RM:
        return []
    effects: list[Effect] = []
    for pending in list(islice(meant(partition, request.subject), request.at_most)):
        effects += withdraw(partition, pending, now)
    return effects


def meant(partition: Partition, subject: AskSubject) -> Iterator[PendingAsk]:
    """Return the pending asks that ``subject`` matches, in application order."""
    match subject:
        case OneOfKey(application_id, key):
            application = partition.applications.get(application_id)
            pending = application.pending.get(key) if application is not None else None
            if pending is not None:
                yield pending
        case EachOfKey(key):
            for application in partition.asks.with_key(key):
                yield application.pending[key]
        case AllOfApplication(application_id):
            application = partition.applications.get(application_id)
            if application is not None:
                yield from application.pending.values()
        case Everything():
            for application in list(partition.applications.values()):
                yield from application.pending.values()
