"""Mutants of the real ask that is to replace a placeholder."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sireference.core import allocation_end, nodes, releases, withdrawal
from sireference.core.gang import placeholders, replacement
from sireference.core.model import Ask, Effect, NewAllocation
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.states import TerminationType

from mutation.inside import Original, Patch
from mutation.inside.confirming import allocated_again
from mutation.inside.releasing import identity_of
from mutation.mutant import mutant
from mutation.patching import instead_of

_REPLACED = TerminationType.PLACEHOLDER_REPLACED


@mutant(
    "rest-of-the-placeholder-is-lost",
    "The rest of a placeholder with a smaller replacement is never used again on the node.",
    breaks=("SI-GANG-054",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
    effects = original(partition, gone, now)
    for effect in effects:
        need = effect.allocation.ask.resource if isinstance(effect, NewAllocation) else None
        had = gone.record.ask.resource
        if need is not None and need != had and need.fits(had):
            patch.fires()
            gone.node.resize(gone.node.capacity, gone.node.occupied + had - need)
    return effects


@mutant(
    "larger-real-ask-is-lost",
    "A real ask that does not fit in place of its placeholder is dropped.",
    breaks=("SI-GANG-055",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
    pending = partition.replacements.by_placeholder.get(gone)
    effects = original(partition, gone, now)
    if pending is not None and pending.had_placeholder:
        patch.fires()
        partition.asks.drop(pending)
    return effects


@mutant(
    "larger-real-ask-is-cut",
    "A real ask gets no more than its placeholder had.",
    breaks=("SI-GANG-055",),
)
@instead_of(replacement.go_on)
def _(patch: Patch, original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
    pending = partition.replacements.by_placeholder.get(gone)
    had = gone.record.ask.resource
    if pending is not None and not pending.ask.resource.fits(had):
        patch.fires()
        pending.ask = replace(pending.ask, resource=had)
    return original(partition, gone, now)


@mutant(
    "surplus-waits-for-confirmations",
    "A real ask waits while placeholders of its group are being replaced.",
    breaks=("SI-GANG-056",),
)
def _(patch: Patch) -> None:
    def is_surplus(partition: Any, ask_group: Any) -> bool:
        application, group = ask_group.application, ask_group.key.replaces
        gang = partition.gangs.get(application)
        if gang is None or not group or group in gang.replaceable:
            return False
        return any(
            live.open_release is _REPLACED and live.record.ask.task_group == group
            for live in partition.allocations.of(application).values()
        )

    def closed_gate(original: Callable[..., Any], partition: Any, ask_group: Any) -> Any:
        if not is_surplus(partition, ask_group):
            return original(partition, ask_group)
        patch.fires()
        return partition.gangs[ask_group.application].unsettled

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        effects = original(partition, gone, now)
        gang = partition.gangs.get(gone.application)
        for ask_group in list(gang.unsettled) if gang is not None else ():
            ask_group.wake()
        return effects

    patch.instead_of(placeholders.closed_gate, closed_gate)
    patch.instead_of(replacement.go_on, go_on)


@mutant(
    "update-takes-another-placeholder",
    "A real ask that is sent again during its replacement has another placeholder released.",
    breaks=("SI-GANG-019",),
)
def _(patch: Patch) -> None:
    is_update = [False]

    def put(original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
        is_update[0] = True
        original(asks, earlier, ask)
        is_update[0] = False

    def hold(original: Callable[..., None], asks: Any, pending: Any, placeholder: Any) -> None:
        if is_update[0]:
            patch.fires()
        else:
            original(asks, pending, placeholder)

    patch.instead_of(PendingAsks.replace, put)
    patch.instead_of(PendingAsks.hold_for_replacement, hold)


@mutant(
    "marked-is-released-for-another",
    "A real ask for which all placeholders are in replacement has one released again.",
    breaks=("SI-GANG-056",),
)
@instead_of(replacement.choose)
def _(patch: Patch, original: Callable[..., Any], partition: Any, pending: Any) -> Any:
    chosen = original(partition, pending)
    if chosen is not None or not pending.key.replaces:
        return chosen
    for live in partition.allocations.of(pending.application).values():
        is_marked = live.is_placeholder and live.open_release is _REPLACED
        if is_marked and live.record.ask.task_group == pending.key.replaces:
            patch.fires()
            return live
    return None


def _withdrawn_in_replacement(patch: Patch) -> dict[str, Ask]:
    """Return the asks withdrawn during their replacement, by the identity of the placeholder."""
    withdrawn: dict[str, Ask] = {}

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        waited = [
            (live.record.identity, pending.ask)
            for partition in rm.partitions.values()
            for live, pending in partition.replacements.by_placeholder.items()
        ]
        effects = original(rm, request, now)
        for partition in rm.partitions.values():
            for identity, ask in waited:
                live = partition.allocations.all.get(identity)
                if live is not None and live not in partition.replacements.by_placeholder:
                    withdrawn[identity] = ask
        return effects

    patch.quietly().instead_of(releases.release, release)
    return withdrawn


@mutant(
    "withdrawn-ask-is-still-allocated",
    "A real ask that was withdrawn during its replacement is allocated.",
    breaks=("SI-GANG-059",),
)
def _(patch: Patch) -> None:
    withdrawn = _withdrawn_in_replacement(patch)

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        ask = withdrawn.pop(gone.record.identity, None)
        if ask is not None:
            patch.fires()
            partition.asks.queue_up(gone.application, ask)
            partition.asks.hold_for_replacement(gone.application.pending[ask.key], gone)
        return original(partition, gone, now)

    patch.instead_of(replacement.go_on, go_on)


@mutant(
    "withdrawn-ask-is-allocated-as-well",
    "A real ask withdrawn during its replacement is allocated, and so is the one sent again.",
    breaks=("SI-ASK-027",),
)
def _(patch: Patch) -> None:
    withdrawn = _withdrawn_in_replacement(patch)

    def go_on(original: Original, partition: Any, gone: Any, now: float) -> list[Effect]:
        effects = original(partition, gone, now)
        ask = withdrawn.pop(gone.record.identity, None)
        if ask is None or ask.key not in gone.application.pending:
            return effects
        patch.fires()
        gone.node.book(ask.resource)
        record = replace(gone.record, ask=ask, identity=ask.key)
        return [*effects, NewAllocation(partition.rm_id, record, gone.application.leaf.name)]

    patch.instead_of(replacement.go_on, go_on)


@mutant(
    "real-ask-goes-with-the-node",
    "A real ask whose placeholder ends with its node is dropped.",
    breaks=("SI-GANG-061",),
)
@instead_of(nodes.decommission)
def _(patch: Patch, original: Original, partition: Any, node: Any, now: float) -> list[Effect]:
    for live in list(partition.allocations.on(node).values()):
        pending = partition.replacements.by_placeholder.get(live)
        if pending is not None:
            patch.fires()
            partition.asks.drop(pending)
    return original(partition, node, now)


def _confirmed_late(patch: Patch, then: Callable[[Any, Any], list[Effect]]) -> None:
    """Add effects to the confirmation of a replaced placeholder whose node is gone.

    ``then`` is given the partition and the allocation that was made for the real ask.
    """
    gone_with_node: dict[str, Any] = {}

    def decommission(original: Original, partition: Any, node: Any, now: float) -> list[Effect]:
        for identity, live in partition.allocations.on(node).items():
            pending = partition.replacements.by_placeholder.get(live)
            if pending is not None:
                gone_with_node[identity] = (partition, pending.ask)
        return original(partition, node, now)

    def release(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        partition, ask = gone_with_node.pop(identity_of(request), (None, None))
        effects = original(rm, request, now)
        for live in partition.allocations.all.values() if partition is not None else ():
            if live.record.ask is ask:
                patch.fires()
                effects += then(partition, live)
        return effects

    patch.instead_of(nodes.decommission, decommission)
    patch.instead_of(releases.release, release)


@mutant(
    "late-confirmation-frees-again",
    "A confirmation after the node is gone frees the real allocation's capacity.",
    breaks=("SI-GANG-061",),
)
def _(patch: Patch) -> None:
    def free(partition: Any, live: Any) -> list[Effect]:
        live.node.resize(live.node.capacity, live.node.occupied - live.record.ask.resource)
        partition.node_index.capacity_freed(live.node)
        return []

    _confirmed_late(patch, free)


@mutant(
    "late-confirmation-allocates-again",
    "A confirmation after the node is gone lets the real ask be allocated again.",
    breaks=("SI-GANG-061",),
)
def _(patch: Patch) -> None:
    def allocate(partition: Any, live: Any) -> list[Effect]:
        return [allocated_again(partition.rm_id, live)]

    _confirmed_late(patch, allocate)


@mutant(
    "rest-of-the-placeholder-is-free-at-once",
    "The rest of a placeholder with a smaller replacement is free before the confirmation.",
    breaks=("SI-GANG-054",),
)
def _(patch: Patch) -> None:
    lent: dict[str, Any] = {}

    def release(original: Callable[..., Any], partition: Any, pending: Any, live: Any) -> Any:
        had, need = live.record.ask.resource, pending.ask.resource
        if need.fits(had) and need != had:
            patch.fires()
            lent[live.record.identity] = had - need
            live.node.resize(live.node.capacity, live.node.occupied - (had - need))
            partition.node_index.capacity_freed(live.node)
        return original(partition, pending, live)

    def end(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        rest_of_it = lent.pop(live.record.identity, None)
        if rest_of_it is not None:
            live.node.resize(live.node.capacity, live.node.occupied + rest_of_it)
        return original(partition, live, *rest)

    patch.instead_of(replacement.release, release)
    patch.instead_of(allocation_end.end, end)


@mutant(
    "sizes-have-to-match",
    "A real ask replaces only a placeholder of the same size.",
    breaks=("SI-GANG-054",),
)
@instead_of(replacement.choose)
def _(patch: Patch, original: Callable[..., Any], partition: Any, pending: Any) -> Any:
    chosen = original(partition, pending)
    if chosen is None or chosen.record.ask.resource == pending.ask.resource:
        return chosen
    patch.fires()
    return None


@mutant(
    "withdrawn-ask-keeps-the-capacity",
    "The capacity of a placeholder whose real ask was withdrawn is never used again.",
    breaks=("SI-GANG-059",),
)
def _(patch: Patch) -> None:
    def end(original: Original, partition: Any, live: Any, termination: Any, now: float) -> Any:
        is_replaced = live.open_release is termination is _REPLACED
        is_for_no_client = live not in partition.replacements.by_placeholder
        effects = original(partition, live, termination, now)
        if is_replaced and is_for_no_client:
            patch.fires()
            live.node.resize(live.node.capacity, live.node.occupied + live.record.ask.resource)
        return effects

    patch.instead_of(allocation_end.end, end)


@mutant(
    "one-confirmation-for-the-key",
    "The confirmation for one placeholder ends all placeholders in replacement of its key.",
    breaks=("SI-GANG-020", "SI-GANG-021"),
    revision="2023-12",
)
@instead_of(releases.confirmed)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    effects = original(partition, live, *rest)
    held = partition.allocations.of(live.application)
    for other in tuple(held.values()):
        if (other.record.ask.key, other.open_release) == (live.record.ask.key, rest[0]):
            patch.fires()
            effects += original(partition, other, *rest)
    return effects


@mutant(
    "withdrawal-ends-the-placeholder",
    "A placeholder in replacement ends at once when the RM withdraws the real ask.",
    breaks=("SI-REL-011",),
)
@instead_of(withdrawal.withdraw)
def _(patch: Patch, original: Original, partition: Any, pending: Any, now: float) -> list[Effect]:
    unconfirmed = tuple(partition.replacements.of(pending).values())
    effects = original(partition, pending, now)
    for placeholder in unconfirmed:
        patch.fires()
        effects += allocation_end.end(partition, placeholder, _REPLACED, now)
    return effects


@mutant(
    "release-restores-demand",
    "The release of one allocation of an ask that is partly pending adds one to what is pending.",
    breaks=("SI-ASK-005",),
    revision="2023-12",
)
@instead_of(releases.stop)
def _(patch: Patch, original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
    pending = live.application.pending.get(live.record.ask.key)
    if pending is not None and pending.made:
        patch.fires()
        pending.made -= 1
    return original(partition, live, *rest)


@mutant(
    "updates-of-partly-allocated-asks-ignored",
    "The update of an ask that has some of its allocations already is ignored.",
    breaks=("SI-ASK-004",),
    revision="2023-12",
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    if earlier.made:
        patch.fires()
    else:
        original(asks, earlier, ask)


@mutant(
    "pending-asks-stay-placeholders",
    "A pending placeholder ask that is sent again as a real one is allocated as a placeholder.",
    breaks=("SI-ASK-029",),
    revision="2024-10",
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    if earlier.ask.placeholder and not ask.placeholder:
        patch.fires()
        ask = replace(ask, placeholder=True)
    original(asks, earlier, ask)
