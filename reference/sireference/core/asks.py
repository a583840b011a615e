"""Asks: taken in, replaced by key, withdrawn."""

from collections.abc import Iterator
from itertools import islice

from sireference.core import application_lifecycle
from sireference.core.gang import timeout
from sireference.core.model import (
    Ask,
    AskRelease,
    Effect,
    RejectedAsk,
    ReleasedAsk,
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
    TerminationType,
    fire,
)


def add(rm: ResourceManager, ask: Ask, now: float) -> list[Effect]:
    """Take an ask in, in place of a pending one with the same key; or say why not.

    ``max_allocations`` is the maximum of the ask as a whole: three asked for, one made, three asked
    for again leaves two.
    There is no positive answer: the next thing the RM hears is the allocation.
    """
    partition = rm.partitions.get(partition_name(ask.partition))
    application = partition.applications.get(ask.application_id) if partition else None
    reason = next(_objections(partition, application, ask), "")
    if reason or partition is None or application is None:
        fire(ASK_TRANSITIONS, AskState.INITIAL, AskTrigger.REFUSED)
        rm.callbacks.event_log.refused(ask, reason)
        return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, reason)]
    earlier = application.pending.get(ask.key)
    if earlier is None:
        partition.asks.queue_up(application, ask)
    else:  # its place in its group and the allocations made already stay
        partition.asks.replace(earlier, ask)
    if not application.pending:
        return application_lifecycle.settle(partition, application, now)
    timeout.watch(partition, application, now)
    waiting = application.pending.get(ask.key)
    if waiting is not None:
        cycle.watch(partition, waiting, now)
    return application_lifecycle.has_ask(partition, application, now)


def _objections(
    partition: Partition | None, application: Application | None, ask: Ask
) -> Iterator[str]:
    """Why the ask cannot be taken, nothing if it can."""
    if partition is None:
        yield f"there is no partition {quoted(ask.partition)}"
    else:
        names = (ask.key, ask.application_id, ask.task_group, *ask.resource.amounts)
        yield from too_long(partition.settings.longest_name, *names)
    if not ask.application_id:
        yield "the ask names no application"
    if application is None:
        yield f"there is no application {quoted(ask.application_id)}"
    elif application.state is ApplicationState.FAILING:
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


def release(rm: ResourceManager, request: AskRelease, now: float) -> list[Effect]:
    """Withdraw pending asks and confirm each with the same type (C-04); unknown ones are no matter.

    Types the scheduler creates are confirmations of its own releases: those asks are gone already.
    """
    partition = rm.partitions.get(partition_name(request.partition))
    if partition is None or request.termination not in (
        TerminationType.STOPPED_BY_RM,
        TerminationType.UNSET,
    ):
        return []
    effects: list[Effect] = []
    for application, pending in list(islice(meant(partition, request), request.at_most)):
        partition.asks.drop(pending, AskTrigger.WITHDRAWN)
        effects += application_lifecycle.settle(partition, application, now)
        confirmation = AskRelease(
            partition.name,
            application.application_id,
            pending.ask.key,
            TerminationType.STOPPED_BY_RM,
            "withdrawn as the RM asked",
        )
        effects.append(ReleasedAsk(rm.rm_id, confirmation))
    return effects


def meant(partition: Partition, request: AskRelease) -> Iterator[tuple[Application, PendingAsk]]:
    """The pending asks a release means: key and application narrow it, both are optional."""
    if request.application_id:
        named = partition.applications.get(request.application_id)
        candidates = [named] if named else []
    elif request.key:
        candidates = partition.asks.with_key(request.key)
    else:
        candidates = list(partition.applications.values())
    for application in candidates:
        if request.key:
            pending = application.pending.get(request.key)
            if pending is not None:
                yield application, pending
        else:
            for pending in application.pending.values():
                yield application, pending
