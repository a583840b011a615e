"""Mutants of how gangs are accepted and gather their placeholders."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from sireference.codec import r2024_10
from sireference.configuration.model import SortPolicy
from sireference.core import (
    application_lifecycle,
    applications,
    asks,
    releases,
    scheduling_pass,
)
from sireference.core.gang import placeholders, replacement, submission, timeout
from sireference.core.model import (
    AcceptedApplication,
    Ask,
    Effect,
    RejectedApplication,
    RejectedAsk,
    quoted,
)
from sireference.core.resources import Resource
from sireference.core.state.wait_queue import WaitQueue
from sireference.core.states import ApplicationState

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of


@mutant(
    "gang-holds-up-its-queue",
    "While a gang waits for its placeholders nothing else in its queue is served.",
    breaks=("SI-GANG-010",),
)
@instead_of(placeholders.closed_gate)
def _(patch: Patch, original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
    application = ask_group.application
    first = application.leaf.gathering.first()
    if first is not None and first is not application:
        patch.fires()
        return application.leaf.gathering.younger
    return original(partition, ask_group)


@mutant(
    "gang-size-is-its-memory",
    "Only the memory of a placeholderAsk is compared with the quota of its queue.",
    breaks=("SI-GANG-003",),
)
@instead_of(submission.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], leaf: Any, new: Any) -> Iterator[str]:
    total = new.placeholder_ask
    if total is None or not total.amounts.get("memory"):
        return original(leaf, new)
    memory = Resource({"memory": total.amounts["memory"]})
    found = list(original(leaf, replace(new, placeholder_ask=memory)))
    if not found and list(original(leaf, new)):
        patch.fires()
    return iter(found)


def _fair_queues_take(patch: Patch, is_taken: Callable[[Any], bool]) -> None:
    """Let queues with the policy fair accept some gangs."""

    def objections(original: Callable[..., Iterator[str]], leaf: Any, new: Any) -> Iterator[str]:
        for why in original(leaf, new):
            if "fairly" in why and is_taken(new):
                patch.fires()
            else:
                yield why

    patch.instead_of(submission.objections, objections)


mutant("fair-queues-take-hard-gangs", "Fair queues take hard gangs.", breaks=("SI-GANG-006",))(
    partial(_fair_queues_take, is_taken=lambda new: new.gang_style.casefold() == "hard")
)
mutant(
    "fair-queues-take-gangs-without-memory",
    "Fair queues take gangs whose placeholderAsk names no memory.",
    breaks=("SI-GANG-006",),
)(partial(_fair_queues_take, is_taken=lambda new: not new.placeholder_ask.amounts.get("memory")))


@mutant(
    "placeholder-ask-is-a-limit",
    "A gang gets no more than it announced.",
    breaks=("SI-GANG-011",),
)
@instead_of(scheduling_pass.find)
def _(patch: Patch, original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
    application = ask_group.application
    total = application.submitted.placeholder_ask
    if total is not None and not ask_group.need.stays_within(application.used, total):
        patch.fires()
        return partition.node_index.waiting
    return original(partition, ask_group)


@mutant(
    "later-placeholders-refused",
    "Once a gang has a placeholder, further placeholder asks are rejected.",
    breaks=("SI-GANG-018",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
    for one in rm.partitions.values():
        application = one.applications.get(ask.application_id)
        if ask.is_placeholder and application is not None and application.placeholders_held:
            patch.fires()
            return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, "too late")]
    return original(rm, ask, now)


@mutant(
    "flag-without-group-counts",
    "An ask with the placeholder flag is a placeholder even without a task group.",
    breaks=("SI-GANG-028",),
)
@instead_of(r2024_10.ask)
def _(patch: Patch, original: Callable[..., Ask], message: Any) -> Ask:
    ask = original(message)
    if not message.placeholder or message.taskGroupName:
        return ask
    patch.fires()
    return replace(ask, placeholder=True, task_group="none")


@mutant(
    "group-without-flag-recovers-a-placeholder",
    "An existing allocation of a task group is treated as a placeholder.",
    breaks=("SI-REC-012",),
)
@instead_of(r2024_10.allocation)
def _(patch: Patch, original: Callable[..., Any], message: Any, *args: Any, **more: Any) -> Any:
    allocation = original(message, *args, **more)
    if message.placeholder or not message.taskGroupName:
        return allocation
    patch.fires()
    return replace(allocation, ask=replace(allocation.ask, placeholder=True))


@mutant(
    "gang-timer-restarts",
    "Each placeholder restarts the timer of its gang.",
    breaks=("SI-GANG-031",),
)
def _(patch: Patch) -> None:
    def watch(original: Callable[..., None], partition: Any, application: Any, now: float) -> None:
        gang = partition.gangs.get(application)
        if gang is not None and gang.timer is not None and not application.has_begun:
            patch.fires()
            gang.stop_timer()
        original(partition, application, now)

    patch.instead_of(timeout.watch, watch)


@mutant(
    "placeholder-ask-again-restarts-the-timeout",
    "A pending placeholder ask that comes again restarts the timeout of its gang.",
    breaks=("SI-GANG-031",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
    for partition in rm.partitions.values():
        application = partition.applications.get(ask.application_id)
        gang = partition.gangs.get(application)
        if gang is not None and gang.timer is not None and ask.key in application.pending:
            patch.fires()
            gang.stop_timer()
    return original(rm, ask, now)


def restart_timeout(patch: Patch, partition: Any, live: Any, now: float) -> None:
    """Start the timeout of a placeholder's gang again, if it runs."""
    gang = partition.gangs.get(live.application)
    if live.is_placeholder and gang is not None and gang.timer is not None:
        patch.fires()
        gang.stop_timer()
        timeout.watch(partition, live.application, now=now)


@mutant(
    "stopped-placeholder-restarts-the-timeout",
    "The timeout of a gang starts again when the RM stops one of its placeholders.",
    breaks=("SI-GANG-031",),
)
@instead_of(releases.stop)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    effects = original(partition, live, *rest)
    restart_timeout(patch, partition, live, now=rest[1])
    return effects


@mutant(
    "gang-time-from-submission",
    "The timer of a gang starts with its submission.",
    breaks=("SI-GANG-031",),
)
def _(patch: Patch) -> None:
    submitted: dict[int, tuple[Any, float]] = {}

    def submit(original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
        effects = original(rm, new, now)
        for one in rm.partitions.values():
            application = one.applications.get(new.application_id)
            if application is not None:
                submitted.setdefault(id(application), (application, now))
        return effects

    def watch(original: Callable[..., None], partition: Any, application: Any, now: float) -> None:
        _, since = submitted.get(id(application), (None, now))
        gang = partition.gangs.get(application)
        if gang is not None and gang.timer is None and since < now:
            patch.fires()
        original(partition, application, since)

    patch.instead_of(applications.submit, submit)
    patch.instead_of(timeout.watch, watch)


@mutant(
    "nodes-limit-gangs",
    "A gang that exceeds all current nodes is rejected.",
    breaks=("SI-GANG-051",),
)
def _(patch: Patch) -> None:
    def objections(partition: Any, new: Any) -> Iterator[str]:
        total = new.placeholder_ask
        if partition is not None and total is not None and not total.fits(partition.total):
            patch.fires()
            yield "the nodes are too small for the gang"

    def submit(original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
        for reason in objections(rm.partitions.get(new.partition), new):
            return [RejectedApplication(rm.rm_id, new.application_id, reason)]
        return original(rm, new, now)

    patch.instead_of(applications.submit, submit)


@mutant("gangs-nowhere", "No queue accepts gangs.", breaks=("SI-GANG-007",))
@instead_of(submission.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], leaf: Any, new: Any) -> Iterator[str]:
    yield from original(leaf, new)
    if new.placeholder_ask is not None:
        patch.fires()
        yield "gangs are not supported"


@mutant(
    "use-limits-gangs",
    "A gang that exceeds the free part of its quota is rejected.",
    breaks=("SI-GANG-004",),
)
@instead_of(submission.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], leaf: Any, new: Any) -> Iterator[str]:
    yield from original(leaf, new)
    total = new.placeholder_ask
    for queue in leaf.path if total is not None else ():
        if not queue.has_capacity(total):
            patch.fires()
            yield "the gang does not fit now"


@mutant(
    "gang-waits-for-ever",
    "A gang without timeout waits for its placeholders for ever.",
    breaks=("SI-GANG-064",),
)
def _(patch: Patch) -> None:
    def watch(original: Callable[..., None], partition: Any, application: Any, now: float) -> None:
        if application.submitted.execution_timeout > 0:
            original(partition, application, now)
        elif application.state is ApplicationState.ACCEPTED:
            patch.fires()

    patch.instead_of(timeout.watch, watch)


@mutant(
    "no-group-is-a-group",
    "A real ask without task group replaces a flagged ask without one.",
    breaks=("SI-GANG-028",),
)
def _(patch: Patch) -> None:
    flagged: set[str] = set()

    def read(original: Callable[..., Ask], message: Any) -> Ask:
        if message.placeholder and not message.taskGroupName:
            flagged.add(message.allocationKey)
        return original(message)

    def choose(original: Callable[..., Any], partition: Any, pending: Any) -> Any:
        if not pending.ask.task_group and pending.ask.key not in flagged:
            for live in partition.allocations.of(pending.application).values():
                if live.record.ask.key in flagged and live.open_release is None:
                    patch.fires()
                    return live
        return original(partition, pending)

    patch.instead_of(r2024_10.ask, read)
    patch.instead_of(replacement.choose, choose)


@mutant(
    "early-real-takes-a-placeholder",
    "A real ask replaces a placeholder of its gang while others are pending.",
    breaks=("SI-GANG-016",),
)
@instead_of(placeholders.closed_gate)
def _(patch: Patch, original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
    application = ask_group.application
    gang = partition.gangs.get(application)
    if application.is_gathering and gang.replaceable.get(ask_group.key.replaces):
        patch.fires()
        return None
    return original(partition, ask_group)


@mutant(
    "next-gang-of-the-id-counts-as-complete",
    "The real asks of a gang are served at once if a gang of its id was complete before.",
    breaks=("SI-GANG-016",),
)
def _(patch: Patch) -> None:
    complete: dict[str, Any] = {}

    def closed_gate(
        original: Callable[..., Any], partition: Any, ask_group: Any
    ) -> WaitQueue[Any] | None:
        gate: WaitQueue[Any] | None = original(partition, ask_group)
        application = ask_group.application
        if ask_group.key.is_placeholder or not application.is_gang:
            return gate
        if gate is None:
            complete.setdefault(application.application_id, application)
        elif complete.get(application.application_id, application) is not application:
            patch.fires()
            return None
        return gate

    patch.instead_of(placeholders.closed_gate, closed_gate)


@mutant(
    "groups-begin-by-themselves",
    "A real ask replaces a placeholder once no placeholder ask of its own group is pending.",
    breaks=("SI-GANG-016",),
)
@instead_of(placeholders.closed_gate)
def _(patch: Patch, original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
    application, group = ask_group.application, ask_group.key.replaces
    missing = {one.ask.task_group for one in application.pending.values() if one.ask.is_placeholder}
    if application.is_gathering and group and missing and group not in missing:
        patch.fires()
        return None
    return original(partition, ask_group)


@mutant(
    "early-real-beside-its-placeholders",
    "A real ask of a gang is allocated if it fits while placeholders are pending.",
    breaks=("SI-GANG-016",),
)
def _(patch: Patch) -> None:
    def is_early(ask_group: Any) -> bool:
        return ask_group.application.is_gathering and not ask_group.key.is_placeholder

    def closed_gate(original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
        return None if is_early(ask_group) else original(partition, ask_group)

    def choose(original: Callable[..., Any], partition: Any, pending: Any) -> Any:
        if pending.application.is_gathering:
            patch.fires()
            return None
        return original(partition, pending)

    patch.instead_of(placeholders.closed_gate, closed_gate)
    patch.instead_of(replacement.choose, choose)


def _passes_its_gang(patch: Patch, passes: Callable[[Ask], bool]) -> None:
    """Place such a real ask as usual while placeholders of its gang are pending."""

    def is_early(ask_group: Any) -> bool:
        application: Any = ask_group.application
        if not application.is_gathering or ask_group.key.is_placeholder:
            return False
        return any(
            one.ask_group is ask_group and passes(one.ask) for one in application.pending.values()
        )

    def closed_gate(original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
        if not is_early(ask_group):
            return original(partition, ask_group)
        patch.fires()
        return None

    def choose(original: Callable[..., Any], partition: Any, pending: Any) -> Any:
        return None if pending.application.is_gathering else original(partition, pending)

    patch.instead_of(placeholders.closed_gate, closed_gate)
    patch.instead_of(replacement.choose, choose)


mutant(
    "originator-passes-its-gang",
    "A real ask of the originator is allocated while placeholders of its gang are pending.",
    breaks=("SI-GANG-016",),
)(partial(_passes_its_gang, passes=lambda ask: ask.originator))
mutant(
    "ask-without-group-passes-its-gang",
    "A real ask without task group is allocated while placeholders of its gang are pending.",
    breaks=("SI-GANG-016",),
)(partial(_passes_its_gang, passes=lambda ask: not ask.task_group))


@mutant(
    "withdrawn-placeholders-are-missing",
    "At the timeout a gang with fewer asks than announced fails.",
    breaks=("SI-GANG-065",),
)
def _(patch: Patch) -> None:
    def expire(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        total, waits = application.submitted.placeholder_ask, application.is_gathering
        if waits or application.has_begun or total is None or total.fits(application.used):
            return original(partition, application, now)
        patch.fires()
        return application_lifecycle.fail(partition, application, now, "the gang is not complete")

    patch.instead_of(timeout.expire, expire)


def _keeps_first(patch: Patch, field: str) -> None:
    """Keep a field of the first gang of an id for all later ones of that id."""
    first: dict[str, Any] = {}

    def submit(original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
        if new.placeholder_ask is None:
            return original(rm, new, now)
        given = getattr(new, field)
        kept = first.setdefault(new.application_id, given)
        if kept != given:
            patch.fires()
        return original(rm, replace(new, **{field: kept}), now)

    patch.instead_of(applications.submit, submit)


mutant(
    "readded-keeps-style",
    "The style of a removed gang holds for the next one of its id.",
    breaks=("SI-GANG-034", "SI-GANG-035"),
)(partial(_keeps_first, field="gang_style"))
mutant(
    "readded-keeps-placeholder-ask",
    "The placeholders of a gang wait for what a removed gang of its id announced.",
    breaks=("SI-GANG-012",),
)(partial(_keeps_first, field="placeholder_ask"))


@mutant(
    "gangs-look-at-their-own-queue-only",
    "A gang that fits the quota of its queue is accepted even if it exceeds its ancestors'.",
    breaks=("SI-GANG-005",),
)
@instead_of(submission.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], leaf: Any, new: Any) -> Iterator[str]:
    above = [f"than queue {quoted(queue.name)} may" for queue in leaf.path[1:]]
    for why in original(leaf, new):
        if any(one in why for one in above):
            patch.fires()
        else:
            yield why


@mutant(
    "gangs-take-turns",
    "The gangs of a queue get their placeholders in turn, one each.",
    breaks=("SI-GANG-052",),
)
def _(patch: Patch) -> None:
    def gathering(application: Any) -> list[Any]:
        applications = application.leaf.gathering.applicants.values()
        return [one for one in applications if one is not application]

    def closed_gate(original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
        application = ask_group.application
        if not application.is_gathering or not ask_group.key.is_placeholder:
            return original(partition, ask_group)
        held = application.placeholders_held
        if any(one.placeholders_held < held for one in gathering(application)):
            patch.fires()
            return application.leaf.gathering.younger
        return None

    def allocated(original: Callable[..., Any], partition: Any, live: Any, now: float) -> Any:
        effects = original(partition, live, now)
        for one in gathering(live.application):
            for ask_group in one.ask_groups.values():
                if ask_group.waits_in is one.leaf.gathering.younger:
                    ask_group.wake()
        return effects

    patch.instead_of(placeholders.closed_gate, closed_gate)
    patch.instead_of(placeholders.allocated, allocated)


@mutant(
    "placeholders-begin-regardless-of-parents",
    "A gang begins once its own queue has capacity for it, even if a parent queue has not.",
    breaks=("SI-GANG-009",),
)
@instead_of(placeholders.closed_gate)
def _(patch: Patch, original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
    gate = original(partition, ask_group)
    if gate in [queue.too_small for queue in ask_group.application.leaf.path[1:]]:
        patch.fires()
        return None
    return gate


@mutant(
    "unannounced-placeholders-rejected",
    "Placeholder asks of an application that did not announce a gang are rejected.",
    breaks=("SI-GANG-053",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
    for one in rm.partitions.values():
        application = one.applications.get(ask.application_id)
        announced = application.submitted.placeholder_ask if application is not None else None
        if application is not None and ask.is_placeholder and announced is None:
            patch.fires()
            return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, "it is not a gang")]
    return original(rm, ask, now)


@mutant(
    "unannounced-placeholders-not-replaced",
    "The placeholders of an application that did not announce a gang are never replaced.",
    breaks=("SI-GANG-053",),
)
@instead_of(replacement.choose)
def _(patch: Patch, original: Callable[..., Any], partition: Any, pending: Any) -> Any:
    chosen = original(partition, pending)
    if chosen is None or pending.application.submitted.placeholder_ask is not None:
        return chosen
    patch.fires()
    return None


def _in_fair_queues(patch: Patch, verdicts: Callable[[Any, Any], list[Effect]]) -> None:
    """Give an ordinary application in a FAIR queue these verdicts instead of one."""

    def submit(original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
        effects = original(rm, new, now)
        for partition in rm.partitions.values():
            application = partition.applications.get(new.application_id)
            if application is None or new.placeholder_ask is not None:
                continue
            if application.leaf.config.properties.sort_policy is SortPolicy.FAIR:
                patch.fires()
                return verdicts(rm, new)
        return effects

    patch.instead_of(applications.submit, submit)


@mutant(
    "fair-queues-are-silent",
    "An ordinary application for a FAIR queue gets no verdict.",
    breaks=("SI-APP-004",),
)
def _(patch: Patch) -> None:
    _in_fair_queues(patch, lambda _rm, _new: [])


@mutant(
    "fair-queues-give-two-verdicts",
    "An ordinary application for a FAIR queue is accepted, and then rejected.",
    breaks=("SI-APP-004",),
)
def _(patch: Patch) -> None:
    def both(rm: Any, new: Any) -> list[Effect]:
        rejected = RejectedApplication(rm.rm_id, new.application_id, "the queue is fair")
        return [AcceptedApplication(rm.rm_id, new.application_id), rejected]

    _in_fair_queues(patch, both)
