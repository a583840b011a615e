"""Mutants that do not report some ends: on draining nodes, of what was recovered, of one group."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sireference.core import application_lifecycle, applications, nodes
from sireference.core.gang import completion
from sireference.core.model import Effect, ReleasedAllocation
from sireference.core.state.allocation import Allocation
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState, NodeState

from mutation.inside import Original, Patch
from mutation.inside.tracking import Chosen, recovered, updated
from mutation.mutant import mutant
from mutation.patching import instead_of


def _is_on_draining_node(allocation: Allocation) -> bool:
    return allocation.node.state is NodeState.DRAINING


def _is_placeholder(allocation: Allocation) -> bool:
    return allocation.is_placeholder


def _replaced_a_placeholder(allocation: Allocation) -> bool:
    return bool(allocation.record.ask.task_group) and not allocation.is_placeholder


def _is_silent_about(patch: Patch, function: Callable[..., Any], chosen: Chosen) -> None:
    """Leave the releases of these allocations out of the effects of a function."""

    def silent(original: Original, place: Any, *rest: Any) -> list[Effect]:
        partitions = (place,) if isinstance(place, Partition) else place.partitions.values()
        allocations = [one for held in partitions for one in held.allocations.all.values()]
        unreported = {one.record.identity for one in allocations if chosen(one)}
        effects = original(place, *rest)
        left = [
            effect
            for effect in effects or ()
            if not isinstance(effect, ReleasedAllocation)
            or effect.release.identity not in unreported
        ]
        if not effects or left == effects:
            return effects
        patch.fires()
        return left

    patch.instead_of(function, silent)


mutant(
    "timeout-silent-about-draining-nodes",
    "At the placeholder timeout the placeholders on draining nodes are not released.",
    breaks=("SI-GANG-032",),
)(partial(_is_silent_about, function=application_lifecycle.withdraw, chosen=_is_on_draining_node))


@mutant(
    "soft-timeout-spares-the-recovered",
    "At the timeout of a soft gang its recovered placeholders are not released.",
    breaks=("SI-REC-020",),
)
def _(patch: Patch) -> None:
    was_recovered = recovered(patch)

    def chosen(allocation: Allocation) -> bool:
        return allocation.application.state is ApplicationState.RESUMING and was_recovered(
            allocation
        )

    _is_silent_about(patch, application_lifecycle.withdraw, chosen)


@mutant(
    "timeout-spares-complete-groups",
    "At the timeout only placeholders of groups with pending placeholder asks are released.",
    breaks=("SI-GANG-032",),
)
def _(patch: Patch) -> None:
    def withdraw(
        original: Original, partition: Partition, asks: list[Any], held: list[Allocation], why: str
    ) -> list[Effect]:
        groups = {pending.ask.task_group for pending in asks if pending.ask.is_placeholder}
        left = [one for one in held if not groups or one.record.ask.task_group in groups]
        if left != held:
            patch.fires()
        return original(partition, asks, left, why)

    patch.instead_of(application_lifecycle.withdraw, withdraw)


def _first_group_only(held: Sequence[Allocation]) -> list[Allocation]:
    """Return those of the same task group as the first."""
    return [one for one in held if one.record.ask.task_group == held[0].record.ask.task_group]


@mutant(
    "timeout-ends-one-group",
    "At the timeout only the placeholders of one task group are released.",
    breaks=("SI-GANG-032",),
)
@instead_of(application_lifecycle.withdraw)
def _(
    patch: Patch,
    original: Original,
    partition: Partition,
    asks: list[Any],
    *rest: Any,
) -> list[Effect]:
    held, why = rest
    left = _first_group_only(held)
    if left != held:
        patch.fires()
    return original(partition, asks, left, why)


@mutant(
    "leftovers-of-one-group-end",
    "When the waiting time is over only the leftovers of one task group are released.",
    breaks=("SI-GANG-044",),
)
def _(patch: Patch) -> None:
    stay: set[str] = set()

    def clear_up(original: Callable[..., Any], partition: Partition, application: Any) -> Any:
        left = list(partition.allocations.of(application).values())
        released = _first_group_only(left)
        stay.update(one.record.identity for one in left if one not in released)
        return original(partition, application)

    _is_silent_about(patch, completion.clear_up, lambda one: one.record.identity in stay)
    patch.quietly().instead_of(completion.clear_up, clear_up)


mutant(
    "leftovers-stay-on-draining-nodes",
    "Leftover placeholders on draining nodes are not released when the waiting time is over.",
    breaks=("SI-GANG-044",),
)(partial(_is_silent_about, function=completion.clear_up, chosen=_is_on_draining_node))


@mutant(
    "recovered-leftovers-stay",
    "Recovered placeholders are not released when the waiting time is over.",
    breaks=("SI-GANG-044",),
)
def _(patch: Patch) -> None:
    _is_silent_about(patch, completion.clear_up, recovered(patch))


mutant(
    "removal-silent-about-draining-nodes",
    "What a removed application had on draining nodes ends unreported.",
    breaks=("SI-APP-035",),
)(partial(_is_silent_about, function=applications.remove, chosen=_is_on_draining_node))


@mutant(
    "removal-silent-about-the-recovered",
    "Recovered allocations of a removed application end unreported.",
    breaks=("SI-APP-035",),
)
def _(patch: Patch) -> None:
    _is_silent_about(patch, applications.remove, recovered(patch))


mutant(
    "removal-silent-about-placeholders",
    "Placeholders of a removed application end unreported.",
    breaks=("SI-APP-035",),
)(partial(_is_silent_about, function=applications.remove, chosen=_is_placeholder))


mutant(
    "removal-silent-about-replacements",
    "What replaced a placeholder of a removed application ends unreported.",
    breaks=("SI-APP-035",),
)(partial(_is_silent_about, function=applications.remove, chosen=_replaced_a_placeholder))


@mutant(
    "decommission-silent-about-the-recovered",
    "Recovered allocations end unreported with their node.",
    breaks=("SI-NODE-032",),
)
def _(patch: Patch) -> None:
    _is_silent_about(patch, nodes.decommission, recovered(patch))


mutant(
    "decommission-silent-about-replacements",
    "What replaced a placeholder ends unreported with its node.",
    breaks=("SI-NODE-032",),
)(partial(_is_silent_about, function=nodes.decommission, chosen=_replaced_a_placeholder))


@mutant(
    "timeout-silent-about-the-updated",
    "At the placeholder timeout the placeholders that were updated are not released.",
    breaks=("SI-GANG-032",),
    revision="2024-10",
)
def _(patch: Patch) -> None:
    _is_silent_about(patch, application_lifecycle.withdraw, updated(patch))
