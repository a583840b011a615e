"""Mutants that do not report some ends: on draining nodes, of what was recovered, of one group."""

from collections.abc import Callable, Collection
from typing import Any

from sireference.core import application_lifecycle, applications, nodes, recovery
from sireference.core.gang import completion
from sireference.core.model import AllocationRecord, Effect, ReleasedAllocation, RemoveApplication
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState, NodeState

from mutation.inside import Original, Patch
from mutation.mutant import mutant

_Chosen = Callable[[Allocation], bool]


def _is_on_draining_node(allocation: Allocation) -> bool:
    return allocation.node.state is NodeState.DRAINING


def _is_placeholder(allocation: Allocation) -> bool:
    return allocation.is_placeholder


def _recovered(patch: Patch) -> _Chosen:
    """Return a function that tells whether an allocation was recovered."""
    identities: set[str] = set()

    def recover(
        original: Original, partition: Partition, record: AllocationRecord, now: float
    ) -> list[Effect]:
        identities.add(record.identity)
        return original(partition, record, now)

    patch.instead_of(recovery.recover, recover)
    return lambda allocation: allocation.record.identity in identities


def _of(partition: Partition, chosen: _Chosen) -> set[str]:
    return {identity for identity, one in partition.allocations.all.items() if chosen(one)}


def _without(identities: Collection[str], effects: list[Effect], patch: Patch) -> list[Effect]:
    """Return the effects except the releases of these."""
    left = [
        effect
        for effect in effects
        if not isinstance(effect, ReleasedAllocation) or effect.release.identity not in identities
    ]
    if left != effects:
        patch.fires()
    return left


def _timeout_spares(patch: Patch, chosen: _Chosen) -> None:
    def withdraw(original: Original, partition: Partition, *args: Any) -> list[Effect]:
        return _without(_of(partition, chosen), original(partition, *args), patch)

    patch.instead_of(application_lifecycle.withdraw, withdraw)


def _clean_up_spares(patch: Patch, chosen: _Chosen) -> None:
    def clear_up(
        original: Callable[..., list[Effect] | None], partition: Partition, application: Application
    ) -> list[Effect] | None:
        effects = original(partition, application)
        return effects and _without(_of(partition, chosen), effects, patch)

    patch.instead_of(completion.clear_up, clear_up)


def _removal_is_silent_about(patch: Patch, chosen: _Chosen) -> None:
    def remove(original: Original, rm: Any, request: RemoveApplication, now: float) -> list[Effect]:
        silent: set[str] = set()
        for partition in rm.partitions.values():
            silent |= _of(partition, chosen)
        return _without(silent, original(rm, request, now), patch)

    patch.instead_of(applications.remove, remove)


def _decommission_is_silent_about(patch: Patch, chosen: _Chosen) -> None:
    def decommission(
        original: Original, partition: Partition, node: Node, now: float
    ) -> list[Effect]:
        silent = _of(partition, chosen)
        return _without(silent, original(partition, node, now), patch)

    patch.instead_of(nodes.decommission, decommission)


@mutant(
    "timeout-silent-about-draining-nodes",
    "At the placeholder timeout the placeholders on draining nodes are not released.",
    breaks=("SI-GANG-032",),
)
def _(patch: Patch) -> None:
    _timeout_spares(patch, _is_on_draining_node)


@mutant(
    "soft-timeout-spares-the-recovered",
    "At the timeout of a soft gang its recovered placeholders are not released.",
    breaks=("SI-REC-020",),
)
def _(patch: Patch) -> None:
    recovered = _recovered(patch)

    def chosen(allocation: Allocation) -> bool:
        return allocation.application.state is ApplicationState.RESUMING and recovered(allocation)

    _timeout_spares(patch, chosen)


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


@mutant(
    "leftovers-stay-on-draining-nodes",
    "Leftover placeholders on draining nodes are not released when the waiting time is over.",
    breaks=("SI-GANG-044",),
)
def _(patch: Patch) -> None:
    _clean_up_spares(patch, _is_on_draining_node)


@mutant(
    "recovered-leftovers-stay",
    "Recovered placeholders are not released when the waiting time is over.",
    breaks=("SI-GANG-044",),
)
def _(patch: Patch) -> None:
    _clean_up_spares(patch, _recovered(patch))


@mutant(
    "removal-silent-about-draining-nodes",
    "What a removed application had on draining nodes ends unreported.",
    breaks=("SI-APP-035",),
)
def _(patch: Patch) -> None:
    _removal_is_silent_about(patch, _is_on_draining_node)


@mutant(
    "removal-silent-about-the-recovered",
    "Recovered allocations of a removed application end unreported.",
    breaks=("SI-APP-035",),
)
def _(patch: Patch) -> None:
    _removal_is_silent_about(patch, _recovered(patch))


@mutant(
    "removal-silent-about-placeholders",
    "Placeholders of a removed application end unreported.",
    breaks=("SI-APP-035",),
)
def _(patch: Patch) -> None:
    _removal_is_silent_about(patch, _is_placeholder)


@mutant(
    "decommission-silent-about-the-recovered",
    "Recovered allocations end unreported with their node.",
    breaks=("SI-NODE-032",),
)
def _(patch: Patch) -> None:
    _decommission_is_silent_about(patch, _recovered(patch))


@mutant(
    "decommission-silent-about-replacements",
    "What replaced a placeholder ends unreported with its node.",
    breaks=("SI-NODE-032",),
)
def _(patch: Patch) -> None:
    _decommission_is_silent_about(
        patch,
        lambda allocation: (
            bool(allocation.record.ask.task_group) and not _is_placeholder(allocation)
        ),
    )
