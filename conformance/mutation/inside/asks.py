"""Mutants of asks: their number, their timeout, their identities."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from sireference.core import allocations, asks, withdrawal
from sireference.core.model import Ask, Effect, NewAllocation, Refused, UpdateAllocations
from sireference.core.scheduler import Scheduler
from sireference.core.state.application import AskGroup, PendingAsk
from sireference.core.state.lazy_heap import SortKey
from sireference.core.state.partition import Partition
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.state.placement_profile import Order

from mutation.inside import Original, Patch
from mutation.mutant import mutant, variant
from mutation.patching import instead_of


def reported_with(patch: Patch, effects: Iterable[Effect], **changed: Any) -> list[Effect]:
    """Return the effects, with allocations reported as if their asks had these values."""
    return [_changed(patch, effect, changed) for effect in effects]


def _changed(patch: Patch, effect: Effect, changed: Mapping[str, Any]) -> Effect:
    if not isinstance(effect, NewAllocation):
        return effect
    before = effect.allocation
    after = replace(before, ask=replace(before.ask, **changed))
    if after != before:
        patch.fires()
    return replace(effect, allocation=after)


@mutant(
    "priority-and-tags-stay",
    "A replacing ask has the priority and tags of the first.",
    breaks=("SI-ASK-029",),
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    if (ask.priority, ask.tags) != (earlier.ask.priority, earlier.ask.tags):
        patch.fires()
    original(asks, earlier, replace(ask, priority=earlier.ask.priority, tags=earlier.ask.tags))


@mutant(
    "lower-number-comes-on-top",
    "An ask whose number is lowered gets the old number and the new one.",
    breaks=("SI-ASK-004", "SI-ASK-005"),
    revision="2023-12",
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    most = earlier.ask.max_allocations
    if ask.max_allocations < most:
        patch.fires()
        ask = replace(ask, max_allocations=most + ask.max_allocations)
    original(asks, earlier, ask)


@mutant(
    "one-timeout-an-ask",
    "Of several allocations of an ask only the first ends at the execution timeout.",
    breaks=("SI-ASK-014",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    watched: set[tuple[str, str]] = set()

    def watch(original: Callable[..., None], partition: Any, live: Any, now: float) -> None:
        ask = live.record.ask
        if (ask.application_id, ask.key) in watched:
            patch.fires()
            return
        if ask.max_allocations > 1:
            watched.add((ask.application_id, ask.key))
        original(partition, live, now)

    patch.instead_of(allocations.watch, watch)


@mutant(
    "no-execution-timeout-of-placeholders",
    "The execution timeout of a placeholder is ignored.",
    breaks=("SI-ASK-014",),
    revision="2023-12",
)
@instead_of(allocations.watch)
def _(patch: Patch, original: Callable[..., None], partition: Any, live: Any, now: float) -> None:
    if not live.is_placeholder:
        original(partition, live, now)
    elif live.record.ask.execution_timeout > 0:
        patch.fires()


@mutant(
    "identity-of-its-key",
    "The identity is the key and a number that starts again with each ask.",
    breaks=("SI-ALLOC-005", "SI-ALLOC-008"),
    revision="2023-12",
)
@instead_of(Partition.new_identity)
def _(patch: Patch, original: Callable[..., str], partition: Any, ask: Ask) -> str:
    pending = partition.applications[ask.application_id].pending[ask.key]
    identity = f"{ask.application_id}/{ask.key}-{pending.made}"
    patch.fires()
    return original(partition, ask) if identity in partition.allocations.all else identity


@mutant(
    "originators-wait",
    "The ask of an originator is neither served nor rejected.",
    breaks=("SI-ASK-024",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Callable[..., Any], rm: Any, ask: Any, now: float) -> Any:
    if ask.originator:
        patch.fires()
        return []
    return original(rm, ask, now)


@variant(
    "asks-for-nothing-are-served",
    "An empty ask is allocated.",
    once_failed_by=("SI-ASK-010", "SI-ASK-022"),
    areas=("ASK", "ALLOC", "REL", "NODE", "RES"),
)
@instead_of(asks.objections)
def _(patch: Patch, original: Callable[..., Any], *args: Any) -> Any:
    for why in original(*args):
        if why == "no resource is asked for":
            patch.fires()
        else:
            yield why


@mutant(
    "orphan-ask-ends-the-stream",
    "An ask without application ends the stream.",
    breaks=("SI-CONN-017",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Ask, now: float) -> list[Effect]:
    if ask.application_id:
        return original(rm, ask, now)
    patch.fires()
    return [Refused(rm.rm_id, "the ask names no application")]


def _later_ones_lack(**lost: Any) -> Callable[[Patch], None]:
    """Report the second and later allocations of an ask with these values instead of its own."""

    @instead_of(allocations.make)
    def make(
        patch: Patch, original: Original, partition: Any, pending: Any, *rest: Any
    ) -> list[Effect]:
        is_first = not pending.made
        effects = original(partition, pending, *rest)
        return effects if is_first else reported_with(patch, effects, **lost)

    return make


mutant(
    "later-allocations-lack-tags",
    "The second and later allocations of an ask lack its tags.",
    breaks=("SI-ALLOC-003",),
    revision="2023-12",
)(_later_ones_lack(tags={}))
mutant(
    "later-allocations-lack-priority",
    "The second and later allocations of an ask lack its priority.",
    breaks=("SI-ALLOC-003",),
    revision="2023-12",
)(_later_ones_lack(priority=0))
mutant(
    "later-placeholders-lack-their-group",
    "Only the first placeholder of an ask is reported with its task group.",
    breaks=("SI-GANG-012",),
    revision="2023-12",
)(_later_ones_lack(task_group=""))
mutant(
    "later-allocations-lack-originator",
    "Only the first allocation of an ask is reported as that of the originator.",
    breaks=("SI-ALLOC-007",),
    revision="2023-12",
)(_later_ones_lack(originator=False))


@mutant(
    "asks-for-several-lack-tags",
    "No allocation of an ask for several has its tags.",
    breaks=("SI-ALLOC-003",),
    revision="2023-12",
)
@instead_of(allocations.make)
def _(patch: Patch, original: Original, partition: Any, pending: Any, *rest: Any) -> list[Effect]:
    is_for_one = pending.ask.max_allocations == 1
    effects = original(partition, pending, *rest)
    return effects if is_for_one else reported_with(patch, effects, tags={})


@mutant(
    "placeholder-of-the-originator-lacks-the-flag",
    "A placeholder is not reported as that of the originator.",
    breaks=("SI-ALLOC-007",),
    revision="2023-12",
)
@instead_of(allocations.make)
def _(patch: Patch, original: Original, partition: Any, pending: Any, *rest: Any) -> list[Effect]:
    effects = original(partition, pending, *rest)
    is_placeholder = pending.ask.is_placeholder
    return reported_with(patch, effects, originator=False) if is_placeholder else effects


@mutant(
    "waited-asks-lack-their-originator",
    "Only the allocation of an ask that did not wait is reported as that of the originator.",
    breaks=("SI-ALLOC-007",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    handled: list[Any] = [None]

    def handle(original: Callable[..., Any], self: Scheduler, event: Any, now: float) -> Any:
        handled[0] = event
        return original(self, event, now)

    def make(original: Original, *request: Any) -> list[Effect]:
        effects = original(*request)
        has_waited = not isinstance(handled[0], UpdateAllocations)
        return reported_with(patch, effects, originator=False) if has_waited else effects

    patch.instead_of(Scheduler.handle, handle)
    patch.instead_of(allocations.make, make)


_TAGS: Final = 16


@mutant(
    "many-tags-are-cut",
    f"An allocation repeats only {_TAGS} tags of its ask.",
    breaks=("SI-ALLOC-003",),
)
@instead_of(allocations.make)
def _(patch: Patch, original: Original, partition: Any, pending: Any, *rest: Any) -> list[Effect]:
    first = dict(sorted(pending.ask.tags.items())[:_TAGS])
    return reported_with(patch, original(partition, pending, *rest), tags=first)


_HIGHEST: Final = 10  # priority


@mutant(
    "high-priorities-are-equal",
    f"Priorities above {_HIGHEST} are all alike.",
    breaks=("SI-ASK-012",),
)
@instead_of(PendingAsk.order)
def _(patch: Patch, original: Callable[..., Order], pending: PendingAsk) -> Order:
    if pending.ask.priority <= _HIGHEST:
        return original(pending)
    patch.fires()
    return -_HIGHEST, pending.number


@mutant(
    "priority-among-equal-asks-only",
    "Asks of different sizes are served in the order in which they came.",
    breaks=("SI-ASK-012",),
)
@instead_of(AskGroup.next_sort_key)
def _(patch: Patch, original: Callable[..., SortKey | None], ask_group: AskGroup) -> SortKey | None:
    in_order = original(ask_group)
    if in_order is None:
        return None
    if ask_group.priority:
        patch.fires()
    return 0, *in_order[1:]


@mutant(
    "priorities-compared-by-subtraction",
    "The difference of two priorities overflows an int32.",
    breaks=("SI-ASK-012",),
)
def _(patch: Patch) -> None:
    class Subtracted(tuple[int, int]):
        __slots__ = ()

        def __lt__(self, other: tuple[int, ...]) -> bool:
            exact = self[0] - other[0]
            wrapped = (exact + 2**31) % 2**32 - 2**31
            if wrapped != exact:
                patch.fires()
            return (wrapped, self[1]) < (0, other[1])

    def order(original: Callable[..., Order], pending: PendingAsk) -> Order:
        return Subtracted(original(pending))

    patch.instead_of(PendingAsk.order, order)


@mutant(
    "real-asks-of-a-gang-in-their-order",
    "Real asks of a task group replace its placeholders in the order in which they came.",
    breaks=("SI-ASK-012",),
)
@instead_of(PendingAsk.order)
def _(patch: Patch, original: Callable[..., Order], pending: PendingAsk) -> Order:
    if pending.ask.is_placeholder or not pending.ask.task_group:
        return original(pending)
    patch.fires()
    return 0, pending.number


def _loses(**lost: Any) -> Callable[[Patch], None]:
    """Serve a pending ask that comes again with these values instead of its own."""

    @instead_of(PendingAsks.replace)
    def put(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
        left = replace(ask, **lost)
        if left != ask:
            patch.fires()
        original(asks, earlier, left)

    return put


mutant(
    "priority-lost-at-an-update",
    "A pending ask that comes again loses its priority.",
    breaks=("SI-ALLOC-003",),
)(_loses(priority=0))
mutant(
    "tags-lost-at-an-update",
    "A pending ask that comes again loses its tags.",
    breaks=("SI-ALLOC-003",),
)(_loses(tags={}))
mutant(
    "policy-lost-at-an-update",
    "A pending ask that comes again loses its preemption policy.",
    breaks=("SI-PRE-003",),
)(_loses(preemption_policy=None))


def first_values_stay(*fields: str) -> Callable[[Patch], None]:
    """Keep the first values of these fields of a pending ask, ignoring updates."""

    @instead_of(PendingAsks.replace)
    def put(
        patch: Patch, original: Callable[..., None], pending: Any, earlier: Any, ask: Any
    ) -> None:
        as_it_was = replace(ask, **{field: getattr(earlier.ask, field) for field in fields})
        if as_it_was != ask:
            patch.fires()
        original(pending, earlier, as_it_was)

    return put


mutant(
    "first-execution-timeout-of-an-ask-stays",
    "Updates of the execution timeout of a pending ask are ignored.",
    breaks=("SI-ASK-014",),
    revision="2023-12",
)(first_values_stay("execution_timeout"))
mutant(
    "first-node-of-an-ask-stays",
    "Before 2024-10, updates of the required node of a pending ask are ignored.",
    breaks=("SI-ASK-004",),
    revision="2023-12",
)(first_values_stay("tags", "required_node"))
mutant(
    "first-policy-of-an-ask-stays",
    "Before 2024-10, updates of the preemption policy of a pending ask are ignored.",
    breaks=("SI-ASK-004",),
    revision="2023-12",
)(first_values_stay("preemption_policy"))
mutant(
    "first-group-of-an-ask-stays",
    "Before 2024-10, updates of the task group of a pending ask are ignored.",
    breaks=("SI-ASK-004",),
    revision="2023-12",
)(first_values_stay("task_group", "placeholder"))
mutant(
    "first-constraint-of-an-ask-stays",
    "Updates of the placement constraint of a pending ask are ignored (2021-02).",
    breaks=("SI-ASK-004",),
    revision="2021-02",
)(first_values_stay("constraint"))


@mutant(
    "update-without-constraint-keeps-it",
    "An update without placement constraint keeps that of the earlier ask (2021-02).",
    breaks=("SI-ASK-004",),
    revision="2021-02",
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    if ask.constraint is None and earlier.ask.constraint is not None:
        patch.fires()
        ask = replace(ask, constraint=earlier.ask.constraint)
    original(asks, earlier, ask)


@mutant(
    "tags-of-an-update-are-added",
    "The tags of an update are added to those of the earlier ask.",
    breaks=("SI-ASK-004",),
    revision="2023-12",
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    tags = {**earlier.ask.tags, **ask.tags}
    if tags != ask.tags:
        patch.fires()
    original(asks, earlier, replace(ask, tags=tags))


@mutant(
    "update-without-timeout-keeps-it",
    "An update without execution timeout keeps that of the earlier ask.",
    breaks=("SI-ASK-015",),
    revision="2023-12",
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    if ask.execution_timeout <= 0 < earlier.ask.execution_timeout:
        patch.fires()
        ask = replace(ask, execution_timeout=earlier.ask.execution_timeout)
    original(asks, earlier, ask)


@mutant(
    "rest-of-an-ask-is-not-withdrawn",
    "The withdrawal of an ask that has some of its allocations already is ignored.",
    breaks=("SI-ASK-018",),
    revision="2023-12",
)
@instead_of(withdrawal.withdraw)
def _(patch: Patch, original: Original, held: Any, pending: Any, now: float) -> list[Effect]:
    if pending.made:
        patch.fires()
        return []
    return original(held, pending, now)


@mutant(
    "withdrawn-key-has-its-first-amount",
    "An ask with the key of one that was withdrawn gets the amount of that one.",
    breaks=("SI-ALLOC-002",),
)
def _(patch: Patch) -> None:
    before: dict[str, Ask] = {}

    def withdraw(original: Original, held: Any, pending: Any, now: float) -> list[Effect]:
        before[pending.ask.key] = pending.ask
        return original(held, pending, now)

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        if ask.key in before:
            patch.fires()
            ask = replace(ask, resource=before[ask.key].resource)
        return original(rm, ask, now)

    patch.quietly().instead_of(withdrawal.withdraw, withdraw)
    patch.instead_of(asks.add, add)


@mutant(
    "withdrawn-key-is-never-served",
    "An ask with the key of one that was withdrawn is silently ignored.",
    breaks=("SI-ASK-001",),
)
def _(patch: Patch) -> None:
    over: set[str] = set()

    def withdraw(original: Original, held: Any, pending: Any, now: float) -> list[Effect]:
        over.add(pending.ask.key)
        return original(held, pending, now)

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        if ask.key in over:
            patch.fires()
            return []
        return original(rm, ask, now)

    patch.quietly().instead_of(withdrawal.withdraw, withdraw)
    patch.instead_of(asks.add, add)


def _allocated_of(partition: Any, ask: Any) -> list[Any]:
    """Return what was allocated of an ask with this key."""
    application = partition.applications.get(ask.application_id)
    if application is None:
        return []
    held = partition.allocations.of(application).values()
    return [live for live in held if live.record.ask.key == ask.key]


@mutant(
    "live-amounts-follow-their-ask",
    "The update of an ask also resizes the allocations that it has already.",
    breaks=("SI-NODE-006",),
    revision="2023-12",
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    for partition in rm.partitions.values():
        for live in _allocated_of(partition, ask):
            if live.record.ask.resource != ask.resource:
                patch.fires()
                partition.resize(live, ask.resource)
    return original(rm, ask, now)


@mutant(
    "freed-as-its-ask-is-now",
    "An allocation frees the amount of its ask as that was updated since.",
    breaks=("SI-NODE-006",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    updated: dict[Any, Any] = {}

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        for partition in rm.partitions.values():
            updated.update((live, ask.resource) for live in _allocated_of(partition, ask))
        return original(rm, ask, now)

    def unbook(original: Callable[..., None], partition: Any, live: Any, termination: Any) -> None:
        too_much = updated.get(live, live.record.ask.resource) - live.record.ask.resource
        if not too_much.is_zero():
            patch.fires()
            live.node.unbook(too_much)
        original(partition, live, termination)

    patch.quietly().instead_of(asks.add, add)
    patch.instead_of(Partition.unbook, unbook)
