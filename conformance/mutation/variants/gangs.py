"""Permitted variants of gang scheduling: spelling, order, and batches of releases."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any, Final

from sireference.configuration import properties
from sireference.configuration.model import SortPolicy
from sireference.core import (
    allocation_end,
    application_lifecycle,
    asks,
    releases,
    scheduling_pass,
)
from sireference.core.gang import completion, placeholders, submission
from sireference.core.model import (
    AskedAndHeld,
    Effect,
    RejectedAsk,
    ReleasedAllocation,
    ReleasedAsk,
    partition_name,
)
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.node import Node
from sireference.core.state.timers import Timers
from sireference.core.states import ApplicationState, NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.main_revision import NAME, si
from mutation.mutant import variant
from mutation.patching import instead_of

_on_the_wire: Final = partial(variant, revision=NAME)


@_on_the_wire(
    "hard-in-lower-case-only",
    "The gang style hard fails at the timeout; any other spelling is soft.",
    once_failed_by=("SI-GANG-034", "SI-GANG-037"),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        if one.gangSchedulingStyle.lower() == "hard" and one.gangSchedulingStyle != "hard":
            one.gangSchedulingStyle = "soft"


@_on_the_wire(
    "hard-as-a-name-only",
    "The gang style Hard fails at the timeout; any other spelling is soft.",
    once_failed_by=("SI-GANG-034", "SI-GANG-037"),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        if one.gangSchedulingStyle == "hard":
            one.gangSchedulingStyle = "soft"


@variant(
    "all-is-stopped-placeholders-first",
    "A release of everything stops placeholders first: what replaces one is announced, and ends.",
    once_failed_by=("SI-GANG-071",),
    departs_from=("SI-GANG-059",),
    areas=("GANG", "REL"),
)
@instead_of(releases.release)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    effects: list[Effect] = []
    partition = rm.partitions.get(partition_name(request.partition))
    application = partition and partition.applications.get(request.subject.application_id)
    is_stop = request.termination is TerminationType.STOPPED_BY_RM
    if application and is_stop and isinstance(request.subject, AskedAndHeld):
        for live in list(partition.allocations.of(application).values()):
            if live.open_release is TerminationType.PLACEHOLDER_REPLACED:
                patch.fires()
                effects += releases.stop(partition, live, request, now)
    return [*effects, *original(rm, request, now)]


@_on_the_wire(
    "soft-by-name-else-hard",
    "The gang style soft continues; any other spelling fails.",
    once_failed_by=("SI-GANG-035",),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        if one.gangSchedulingStyle != "soft":
            one.gangSchedulingStyle = "hard"


@variant(
    "other-styles-refused",
    "Only the gang styles hard and soft, in this spelling, are accepted.",
    once_failed_by=("SI-GANG-037", "SI-GANG-004", "SI-GANG-007", "SI-GANG-051"),
)
@instead_of(submission.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], leaf: Any, new: Any) -> Iterator[str]:
    yield from original(leaf, new)
    if new.placeholder_ask and new.gang_style not in {"hard", "soft"}:
        patch.fires()
        yield f"unknown gang style {new.gang_style!r}"


@variant(
    "fair-queues-take-none",
    "A FAIR queue takes no application, whether or not it announces a gang.",
    once_failed_by=("SI-APP-001",),
    areas=("GANG", "APP"),
)
@instead_of(submission.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], leaf: Any, new: Any) -> Iterator[str]:
    yield from original(leaf, new)
    if leaf.config.properties.sort_policy is SortPolicy.FAIR and not new.placeholder_ask:
        patch.fires()
        yield f"queue {leaf.name} sorts its applications fairly and accepts none"


@variant(
    "early-real-asks-ignored",
    "A real ask is ignored if a placeholder ask of its gang is pending when it comes.",
    once_failed_by=("SI-GANG-035",),
    areas=("GANG",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    for partition in rm.partitions.values():
        application = partition.applications.get(ask.application_id)
        if application is not None and application.is_gathering and not ask.is_placeholder:
            patch.fires()
            return []
    return original(rm, ask, now)


@variant(
    "no-more-placeholders-than-announced",
    "A placeholder ask is rejected if the gang asks for more than its placeholderAsk.",
    once_failed_by=("SI-GANG-043",),
    areas=("GANG",),
)
def _(patch: Patch) -> None:
    asked: dict[Any, dict[str, Resource]] = {}  # of each application, by key

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        for partition in rm.partitions.values():
            application = partition.applications.get(ask.application_id)
            announced = application.submitted.placeholder_ask if application is not None else None
            if announced is None or not ask.is_placeholder:
                continue
            before = asked.setdefault(application, {})
            held = partition.allocations.of(application).values()
            recovered = {one.record.ask.key: one.record.ask.resource for one in held}
            wanted = {**recovered, **before, ask.key: ask.resource}
            if not sum(wanted.values(), NOTHING).fits(announced):
                patch.fires()
                reason = "it is more than was announced"
                return [RejectedAsk(rm.rm_id, ask.key, ask.application_id, reason)]
            before[ask.key] = ask.resource
        return original(rm, ask, now)

    patch.instead_of(asks.add, add)


@variant(
    "gangs-one-after-another",
    "A gang in a FIFO queue gets placeholders only when the older gangs have all of theirs.",
    once_failed_by=("SI-GANG-034", "SI-GANG-035", "SI-GANG-036", "SI-GANG-039"),
)
@instead_of(placeholders.closed_gate)
def _(patch: Patch, original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
    application = ask_group.application
    gathering = application.leaf.gathering
    is_younger = gathering.first() not in (None, application)
    if application.is_gathering and ask_group.key.is_placeholder and is_younger:
        patch.fires()
        return gathering.younger
    return original(partition, ask_group)


@variant(
    "gangs-allocated-whole",
    "A gang gets its first placeholder when all those it has asked for fit the nodes.",
    once_failed_by=("SI-GANG-032", "SI-GANG-033", "SI-GANG-034", "SI-GANG-035"),
    areas=("GANG",),
)
def _(patch: Patch) -> None:
    def find(original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
        found, application = original(partition, ask_group), ask_group.application
        is_first = ask_group.key.is_placeholder and not application.placeholders_held
        if not is_first or not isinstance(found, Node) or _fits_whole(partition, application):
            return found
        patch.fires()
        return partition.node_index.waiting

    def run(original: Original, partition: Any, now: float) -> list[Effect]:
        for application in partition.applications.values():
            for ask_group in list(application.ask_groups.values()):
                if ask_group.key.is_placeholder and not application.placeholders_held:
                    ask_group.wake()
        return original(partition, now)

    patch.instead_of(scheduling_pass.find, find)
    patch.instead_of(scheduling_pass.run, run)


def _fits_whole(partition: Any, application: Any) -> bool:
    """Return whether all pending placeholder asks fit the nodes."""
    asked = (pending for pending in application.pending.values() if pending.ask.is_placeholder)
    return _fit_the_nodes(partition, asked)


def _fit_the_nodes(partition: Any, asked: Iterable[Any]) -> bool:
    """Return whether all that is pending of these asks fits the nodes, the largest first."""
    nodes = partition.nodes.values()
    free = {node: node.free for node in nodes if node.state is NodeState.SCHEDULABLE}
    needs = [one.ask.resource for one in asked for _ in range(one.ask.max_allocations - one.made)]
    for need in sorted(needs, key=lambda need: -sum(need.amounts.values())):
        node = next((node for node, left in free.items() if need.fits(left)), None)
        if node is None:
            return False
        free[node] -= need
    return True


@variant(
    "asks-allocated-whole",
    "An ask for several allocations gets the first when all of them fit the nodes.",
    once_failed_by=("SI-ASK-004", "SI-ASK-005", "SI-NODE-006", "SI-GANG-032", "SI-GANG-033"),
    areas=("ASK", "NODE", "REL", "GANG", "ALLOC"),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def find(original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
        found, first = original(partition, ask_group), ask_group.first()
        if not isinstance(found, Node) or first.made or _fit_the_nodes(partition, [first]):
            return found
        patch.fires()
        return partition.node_index.waiting

    def run(original: Original, partition: Any, now: float) -> list[Effect]:
        for application in partition.applications.values():
            for ask_group in list(application.ask_groups.values()):
                if any(pending.ask.max_allocations > 1 for pending in ask_group):
                    ask_group.wake()
        return original(partition, now)

    patch.instead_of(scheduling_pass.find, find)
    patch.instead_of(scheduling_pass.run, run)


@variant(
    "fair-by-default",
    "A queue is fair unless its configuration says otherwise.",
    once_failed_by=(
        "SI-GANG-003",
        "SI-GANG-004",
        "SI-GANG-010",
        "SI-GANG-011",
        "SI-GANG-026",
        "SI-GANG-027",
    ),
)
@instead_of(properties.inherit)
def _(patch: Patch, original: Callable[..., Any], above: Any, written: Any) -> Any:
    patch.fires()
    found = original(above, written)
    return replace(found, sort_policy=written.sort_policy or SortPolicy.FAIR)


@variant(
    "asks-of-a-gang-released-in-one",
    "All asks of an application are released by one message without a key.",
    once_failed_by=("SI-GANG-033", "SI-GANG-064", "SI-REL-020"),
)
@instead_of(application_lifecycle.withdraw)
def _(patch: Patch, original: Original, partition: Any, asks: Any, *rest: Any) -> list[Effect]:
    application = asks[0].application if asks else None
    is_all = application is not None and len(asks) == len(application.pending)
    effects = original(partition, asks, *rest)
    received = [effect for effect in effects if isinstance(effect, ReleasedAsk)]
    if not is_all or not received:
        return effects
    patch.fires()
    one = replace(received[0], release=replace(received[0].release, key=""))
    return [one, *(effect for effect in effects if effect not in received)]


@variant(
    "placeholders-released-one-by-one",
    "Unused placeholders are released one by one, each after the last is gone.",
    once_failed_by=("SI-GANG-034", "SI-GANG-035", "SI-GANG-037", "SI-GANG-044", "SI-GANG-045"),
)
def _(patch: Patch) -> None:
    def first_of(partition: Any, live: list[Any]) -> list[Effect]:
        open_ones = [one for one in live if one.open_release is TerminationType.TIMEOUT]
        left = [one for one in live if one.open_release is None and one.is_placeholder]
        if open_ones or not left:
            return []
        if len(left) > 1:
            patch.fires()
        release = partition.ask_for_release(left[0], TerminationType.TIMEOUT, "it is not needed")
        for one in left[1:]:
            partition.gangs[one.application].mark(one)
        return [ReleasedAllocation(partition.rm_id, release)]

    def withdraw(
        original: Original, partition: Any, asks: Any, live: list[Any], why: str
    ) -> list[Effect]:
        real = [one for one in live if not one.is_placeholder]
        return original(partition, asks, real, why) + first_of(partition, live)

    def clear_up(original: Callable[..., Any], partition: Any, application: Any) -> Any:
        gang = partition.gangs.get(application)
        if gang is None or not application.placeholders_held:
            return original(partition, application)
        gang.is_clearing_up = True
        return first_of(partition, list(partition.allocations.of(application).values()))

    def end(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        effects = original(partition, live, *rest)
        application = live.application
        is_failing = application.state is ApplicationState.FAILING
        if application.application_id in partition.applications and (
            is_failing or placeholders.are_given_up(partition, application)
        ):
            effects += first_of(partition, list(partition.allocations.of(application).values()))
        return effects

    patch.instead_of(application_lifecycle.withdraw, withdraw)
    patch.instead_of(completion.clear_up, clear_up)
    patch.instead_of(allocation_end.end, end)


@variant(
    "one-replacement-at-a-time",
    "A gang replaces one placeholder at a time.",
    once_failed_by=("SI-GANG-023",),
)
def _(patch: Patch) -> None:
    def closed_gate(original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
        application = ask_group.application
        gang = partition.gangs.get(application)
        is_open = any(
            live.open_release is TerminationType.PLACEHOLDER_REPLACED
            for live in partition.allocations.of(application).values()
        )
        if is_open and gang is not None and gang.replaceable.get(ask_group.key.replaces):
            patch.fires()
            return gang.unsettled
        return original(partition, ask_group)

    def end(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        effects = original(partition, live, *rest)
        gang = partition.gangs.get(live.application)
        for ask_group in list(gang.unsettled) if gang is not None else ():
            ask_group.wake()
        return effects

    patch.instead_of(placeholders.closed_gate, closed_gate)
    patch.instead_of(allocation_end.end, end)


@variant(
    "timers-tick-each-second",
    "Timeouts are checked once a second.",
    once_failed_by=("SI-GANG-031",),
)
@instead_of(Timers.set)
def _(patch: Patch, original: Callable[..., Any], timers: Any, deadline: float, due: Any) -> Any:
    patch.fires()
    return original(timers, ceil(deadline), due)
