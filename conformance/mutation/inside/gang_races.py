"""Mutants of gangs combined with other events: other nodes, stops, updates, a second wait."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from sireference.configuration.model import SortPolicy
from sireference.core import (
    allocations,
    application_lifecycle,
    applications,
    asks,
    releases,
    withdrawal,
)
from sireference.core.gang import completion, replacement, submission, timeout
from sireference.core.model import (
    AllOfApplication,
    AskedAndHeld,
    Effect,
    ReleasedAsk,
    partition_name,
)
from sireference.core.resources import Resource
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.states import ApplicationState, NodeState, TerminationType

from mutation.inside import Original, Patch
from mutation.inside.swaps import after_replacement, places_beyond_capacity
from mutation.mutant import mutant
from mutation.patching import instead_of

_REPLACED = TerminationType.PLACEHOLDER_REPLACED


@mutant(
    "stateaware-takes-no-gangs",
    "A StateAware queue rejects gangs.",
    breaks=("SI-GANG-007",),
)
@instead_of(submission.objections)
def _(patch: Patch, original: Callable[..., Iterator[str]], leaf: Any, new: Any) -> Iterator[str]:
    yield from original(leaf, new)
    if new.placeholder_ask and leaf.config.properties.sort_policy is SortPolicy.STATE_AWARE:
        patch.fires()
        yield "gangs are for FIFO queues"


@mutant(
    "newest-placeholder-is-taken",
    "A real ask replaces the newest placeholder, regardless of its task group.",
    breaks=("SI-GANG-017",),
)
@instead_of(replacement.choose)
def _(patch: Patch, original: Callable[..., Any], partition: Any, pending: Any) -> Any:
    found = original(partition, pending)
    if found is None:
        return None
    groups = partition.gangs[pending.application].replaceable.values()
    newest = max((live for group in groups for live in group.values()), key=lambda o: o.number)
    if newest.record.ask.task_group != found.record.ask.task_group:
        patch.fires()
    return newest


@mutant(
    "real-placed-elsewhere",
    "The real allocation goes to another node than its placeholder if it fits there.",
    breaks=("SI-GANG-021",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
    pending = partition.replacements.by_placeholder.get(gone)
    others = [
        node
        for node in partition.nodes.values()
        if pending is not None
        and node is not gone.node
        and node.state is NodeState.SCHEDULABLE
        and node.can_take(pending.ask.resource)
    ]
    if not others:
        return original(partition, gone, now)
    patch.fires()
    partition.replacements.resume(gone)
    return allocations.make(partition, pending, others[0], now)


@mutant(
    "hard-gang-keeps-its-asks",
    "When a hard gang fails, its pending asks are not released.",
    breaks=("SI-GANG-033",),
)
@instead_of(application_lifecycle.fail)
def _(patch: Patch, original: Original, *args: Any) -> list[Effect]:
    effects = original(*args)
    received: list[Effect] = [e for e in effects if not isinstance(e, ReleasedAsk)]
    if len(received) < len(effects):
        patch.fires()
    return received


@mutant(
    "complete-hard-gang-fails",
    "At the timeout a hard gang fails although it is complete, if it is unused.",
    breaks=("SI-GANG-039",),
)
def _(patch: Patch) -> None:
    def expire(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        is_hard = application.submitted.gang_style.casefold() == "hard"
        if is_hard and application.state is ApplicationState.ACCEPTED and not application.pending:
            patch.fires()
            partition.gangs[application].timer = None
            return application_lifecycle.fail(
                partition, application, now, "it was not used in time"
            )
        return original(partition, application, now)

    patch.instead_of(timeout.expire, expire)


@mutant(
    "leftovers-keep-from-waiting",
    "Leftover placeholders keep an application from waiting until the placeholder timeout.",
    breaks=("SI-GANG-042",),
)
def _(patch: Patch) -> None:
    def keeps(_: Callable[..., bool], application: Any) -> bool:
        if not application.placeholders_held:
            return False
        patch.fires()
        return True

    def expire(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        effects = original(partition, application, now)
        if not application.has_begun or application.is_active:
            return effects
        left = list(partition.allocations.of(application).values())
        return effects + application_lifecycle.withdraw(partition, [], left, "it is not needed")

    patch.instead_of(completion.keeps_from_waiting, keeps)
    patch.instead_of(timeout.expire, expire)


@mutant(
    "stopped-in-replacement-is-credited-twice",
    "A placeholder the RM stops during its replacement is credited to the quota twice.",
    breaks=("SI-GANG-071",),
)
@instead_of(releases.stop)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    if live.open_release is _REPLACED:
        patch.fires()
        live.application.quotas.unbook(live.record.ask.resource)
    return original(partition, live, *rest)


@mutant(
    "smaller-real-ask-leaks",
    "The rest of a placeholder with a smaller replacement is never free again.",
    breaks=("SI-GANG-071",),
)
def _(patch: Patch) -> None:
    def holds_the_rest(live: Any, gone: Any) -> None:
        was, now = gone.record.ask.resource, live.record.ask.resource
        if now != was:
            patch.fires()
            live.application.quotas.book(was - now)

    after_replacement(patch, holds_the_rest)


@mutant(
    "withdrawn-in-replacement-leaks",
    "If the real ask was withdrawn, the capacity of its placeholder is never free again.",
    breaks=("SI-GANG-071",),
)
@instead_of(releases.confirmed)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    is_for_no_client = live not in partition.replacements.by_placeholder
    if live.open_release is _REPLACED and is_for_no_client:
        patch.fires()
        live.application.quotas.book(live.record.ask.resource)
    return original(partition, live, *rest)


@mutant(
    "update-in-replacement-lost",
    "An ask that is updated while its placeholder is replaced is served as it was before.",
    breaks=("SI-ASK-003", "SI-ASK-032"),
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    if earlier.awaiting:
        patch.fires()
        return
    original(asks, earlier, ask)


@mutant(
    "waiting-counts-from-the-first",
    "The second wait of an application is timed from its first.",
    breaks=("SI-APP-029",),
)
def _(patch: Patch) -> None:
    begun: dict[int, tuple[Any, float]] = {}

    def enter(original: Callable[..., None], partition: Any, application: Any, now: float) -> None:
        if application.state is not ApplicationState.COMPLETING:
            original(partition, application, now)
            return
        _, first = begun.setdefault(id(application), (application, now))
        if first < now:
            patch.fires()
        original(partition, application, first)

    patch.instead_of(application_lifecycle.enter, enter)


@mutant(
    "waiting-is-for-good",
    "An ask is served while its application is Completing, without making it Running.",
    breaks=("SI-APP-028",),
)
def _(patch: Patch) -> None:
    def has_ask(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        if application.state is not ApplicationState.COMPLETING:
            return original(partition, application, now)
        patch.fires()
        return []

    patch.instead_of(application_lifecycle.has_ask, has_ask)


@mutant(
    "one-ask-of-a-gang-released",
    "Of several pending asks of a gang only the first release is reported.",
    breaks=("SI-GANG-033",),
)
@instead_of(application_lifecycle.withdraw)
def _(patch: Patch, original: Original, *args: Any) -> list[Effect]:
    effects = original(*args)
    received = [effect for effect in effects if isinstance(effect, ReleasedAsk)]
    if len(received) > 1:
        patch.fires()
    return [effect for effect in effects if effect not in received[1:]]


@mutant(
    "ordinary-asks-go-with-a-gang",
    "Asks of a gang without task group are dropped at its timeout.",
    breaks=("SI-GANG-035",),
)
def _(patch: Patch) -> None:
    def withdraw(
        original: Original, partition: Any, asks: list[Any], held: list[Any], reason: str
    ) -> list[Effect]:
        applications = {pending.application for pending in asks}
        others = [
            pending
            for application in applications
            for pending in application.pending.values()
            if not pending.ask.task_group
        ]
        if others:
            patch.fires()
            original(partition, others, [], reason)
        return original(partition, asks, held, reason)

    patch.instead_of(application_lifecycle.withdraw, withdraw)


@mutant(
    "placeholder-asks-stay",
    "A pending placeholder ask cannot be withdrawn while its application holds placeholders.",
    breaks=("SI-REL-015",),
)
@instead_of(withdrawal.withdraw)
def _(patch: Patch, original: Original, partition: Any, pending: Any, now: float) -> list[Effect]:
    if not pending.ask.is_placeholder or not pending.application.placeholders_held:
        return original(partition, pending, now)
    patch.fires()
    return []


@mutant(
    "release-of-everything-spares-placeholder-asks",
    "A release without key does not withdraw pending placeholder asks.",
    breaks=("SI-REL-029",),
)
@instead_of(releases.pending_meant)
def _(patch: Patch, original: Callable[..., Any], application: Any, subject: Any) -> Any:
    pending = original(application, subject)
    return _without(patch, pending, subject, lambda one: one.ask.is_placeholder)


@mutant(
    "withdrawal-of-all-spares-placeholder-asks",
    "An ask release without key does not withdraw pending placeholder asks.",
    breaks=("SI-REL-016",),
    revision="2023-12",
)
@instead_of(asks.meant)
def _(patch: Patch, original: Callable[..., Any], partition: Any, subject: Any) -> Any:
    pending = original(partition, subject)
    return iter(_without(patch, pending, subject, lambda one: one.ask.is_placeholder))


def _without(
    patch: Patch, pending: Iterable[Any], subject: Any, is_spared: Callable[[Any], bool]
) -> list[Any]:
    """Leave these asks out, unless they are named."""
    meant = list(pending)
    if not isinstance(subject, AskedAndHeld | AllOfApplication):
        return meant
    others = [one for one in meant if not is_spared(one)]
    if len(others) < len(meant):
        patch.fires()
    return others


def _counts_other_types(patch: Patch, counts: Callable[[int], bool]) -> None:
    """Count what a replaced placeholder had more of the types other than memory, if ``counts``."""

    def holds_other_types(live: Any, gone: Any) -> None:
        more = (gone.record.ask.resource - live.record.ask.resource).amounts
        others = {name: n for name, n in more.items() if name != "memory" and counts(n)}
        if others:
            patch.fires()
            live.node.book(Resource(others))

    after_replacement(patch, holds_other_types)


@mutant(
    "devices-of-a-placeholder-leak",
    "Of a replaced placeholder only memory and vcores are free again.",
    breaks=("SI-GANG-071",),
)
def _(patch: Patch) -> None:
    def holds_devices(live: Any, gone: Any) -> None:
        held = gone.record.ask.resource.amounts
        devices = {name: n for name, n in held.items() if name not in ("memory", "vcore")}
        if devices:
            patch.fires()
            live.node.book(Resource(devices))

    after_replacement(patch, holds_devices)


mutant(
    "vcores-of-a-placeholder-leak",
    "Of a placeholder with a smaller replacement only the rest of its memory is free again.",
    breaks=("SI-GANG-071",),
)(partial(_counts_other_types, counts=lambda more: more > 0))
mutant(
    "vcores-of-a-placeholder-stay-counted",
    "A replacement that is larger in vcores only counts the vcores of its placeholder.",
    breaks=("SI-GANG-071",),
)(partial(_counts_other_types, counts=lambda more: more < 0))


@mutant(
    "release-of-everything-spares-parked-asks",
    "A release without key does not withdraw an ask that waits for the end of a placeholder.",
    breaks=("SI-GANG-059",),
)
@instead_of(releases.pending_meant)
def _(patch: Patch, original: Callable[..., Any], application: Any, subject: Any) -> Any:
    return _without(patch, original(application, subject), subject, lambda one: one.awaiting)


@mutant(
    "withdrawal-of-all-spares-parked-asks",
    "An ask release without key does not withdraw an ask that waits for the end of a placeholder.",
    breaks=("SI-GANG-059",),
    revision="2023-12",
)
@instead_of(asks.meant)
def _(patch: Patch, original: Callable[..., Any], partition: Any, subject: Any) -> Any:
    pending = original(partition, subject)
    return iter(_without(patch, pending, subject, lambda one: one.awaiting))


@mutant(
    "grown-real-ask-placed-without-capacity",
    "A real ask that grew during its replacement goes to that node even if it does not fit.",
    breaks=("SI-GANG-025",),
)
def _(patch: Patch) -> None:
    updated: set[str] = set()

    def put(original: Callable[..., None], pending: Any, earlier: Any, ask: Any) -> None:
        updated.add(ask.key)
        original(pending, earlier, ask)

    patch.quietly().instead_of(PendingAsks.replace, put)
    places_beyond_capacity(patch, lambda _partition, pending, _: pending.ask.key in updated)


@mutant(
    "real-ask-placed-over-foreign",
    "A real ask replaces its placeholder even if a foreign allocation took the capacity meanwhile.",
    breaks=("SI-FOR-005",),
)
def _(patch: Patch) -> None:
    places_beyond_capacity(patch, lambda held, _, gone: bool(held.foreign.on(gone.node)))


@mutant(
    "real-ask-placed-over-occupied",
    "A real ask replaces its placeholder even if others occupied the capacity meanwhile.",
    breaks=("SI-NODE-021",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    places_beyond_capacity(patch, lambda *found: not found[-1].node.occupied.is_zero())


@mutant(
    "real-ask-lost-on-a-draining-node",
    "A real ask is never allocated if the node of its placeholder is draining at the confirmation.",
    breaks=("SI-GANG-025",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
    if gone.node.state is not NodeState.DRAINING:
        return original(partition, gone, now)
    if partition.replacements.resume(gone) is not None:
        patch.fires()
    return []


@mutant(
    "placeholder-asks-end-no-waiting",
    "An application that is waiting goes on waiting when a placeholder is asked for.",
    breaks=("SI-GANG-043",),
)
def _(patch: Patch) -> None:
    asked: list[bool] = []  # whether the ask being added is of a placeholder

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        asked[:] = [ask.is_placeholder]
        return original(rm, ask, now)

    def has_ask(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        if application.state is not ApplicationState.COMPLETING or not any(asked):
            return original(partition, application, now)
        patch.fires()
        return []

    patch.quietly().instead_of(asks.add, add)
    patch.instead_of(application_lifecycle.has_ask, has_ask)


@mutant(
    "early-real-asks-stop-the-timeout",
    "A gang for which a real ask came early never times out.",
    breaks=("SI-GANG-032",),
)
@instead_of(timeout.expire)
def _(
    patch: Patch, original: Original, partition: Any, application: Any, now: float
) -> list[Effect]:
    asks_left = application.pending.values()
    if application.is_gathering and not all(one.ask.is_placeholder for one in asks_left):
        patch.fires()
        return []
    return original(partition, application, now)


@mutant(
    "resumed-is-never-waiting",
    "A gang of style soft that timed out stays Running when nothing of it is left.",
    breaks=("SI-GANG-035",),
)
def _(patch: Patch) -> None:
    resumed: set[Any] = set()

    def expire(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        effects = original(partition, application, now)
        if application.state is ApplicationState.RESUMING:
            resumed.add(application.application_id)
        return effects

    def end(original: Callable[..., Any], partition: Any, application: Any) -> Any:
        is_running = application.state is ApplicationState.RUNNING
        if is_running and application.application_id in resumed:
            patch.fires()
            return None, ""
        return original(partition, application)

    patch.quietly().instead_of(timeout.expire, expire)
    patch.instead_of(application_lifecycle.end, end)


@mutant(
    "failing-application-is-not-removed",
    "The removal of an application that is failing is ignored.",
    breaks=("SI-APP-020",),
)
@instead_of(applications.remove)
def _(patch: Patch, original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
    partition = rm.partitions.get(partition_name(request.partition))
    application = partition and partition.applications.get(request.application_id)
    if application is not None and application.state is ApplicationState.FAILING:
        patch.fires()
        return []
    return original(rm, request, now)


@mutant(
    "grown-real-ask-passes-its-queue",
    "A real ask that grew during its replacement is allocated beyond the quota of its queue.",
    breaks=("SI-CFG-008",),
)
def _(patch: Patch) -> None:
    updated: set[str] = set()

    def put(original: Callable[..., None], pending: Any, earlier: Any, ask: Any) -> None:
        updated.add(ask.key)
        original(pending, earlier, ask)

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        pending = partition.replacements.by_placeholder.get(gone)
        if pending is None or pending.ask.key not in updated:
            return original(partition, gone, now)
        need = pending.ask.resource
        if not gone.node.can_take(need) or gone.application.can_take(need):
            return original(partition, gone, now)
        patch.fires()
        partition.replacements.resume(gone)
        return allocations.make(partition, pending, gone.node, now)

    patch.quietly().instead_of(PendingAsks.replace, put)
    patch.instead_of(replacement.go_on, go_on)
