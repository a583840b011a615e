"""Mutants that do not report what ends on a draining node."""

from typing import Any

from sireference.core import application_lifecycle, applications
from sireference.core.gang import completion
from sireference.core.model import Effect, ReleasedAllocation, RemoveApplication
from sireference.core.state.partition import Partition
from sireference.core.states import NodeState

from mutation.inside import Original, Patch
from mutation.mutant import mutant


def _draining(partition: Partition) -> set[str]:
    """Return the identities of the allocations on draining nodes."""
    return {
        identity
        for identity, allocation in partition.allocations.all.items()
        if allocation.node.state is NodeState.DRAINING
    }


def _without(identities: set[str], effects: list[Effect], patch: Patch) -> list[Effect]:
    """Return the effects except the releases of these."""
    left = [
        effect
        for effect in effects
        if not isinstance(effect, ReleasedAllocation) or effect.release.identity not in identities
    ]
    if left != effects:
        patch.fires()
    return left


@mutant(
    "timeout-silent-about-draining-nodes",
    "At the placeholder timeout the placeholders on draining nodes are not released.",
    breaks=("SI-GANG-032",),
)
def _(patch: Patch) -> None:
    def withdraw(original: Original, partition: Partition, *args: Any) -> list[Effect]:
        return _without(_draining(partition), original(partition, *args), patch)

    patch.instead_of(application_lifecycle.withdraw, withdraw)


@mutant(
    "leftovers-stay-on-draining-nodes",
    "Leftover placeholders on draining nodes are not released when the waiting time is over.",
    breaks=("SI-GANG-044",),
)
def _(patch: Patch) -> None:
    def clear_up(original: Any, partition: Partition, application: Any) -> list[Effect] | None:
        effects = original(partition, application)
        return effects and _without(_draining(partition), effects, patch)

    patch.instead_of(completion.clear_up, clear_up)


@mutant(
    "removal-silent-about-draining-nodes",
    "What a removed application had on draining nodes ends unreported.",
    breaks=("SI-APP-035",),
)
def _(patch: Patch) -> None:
    def remove(original: Original, rm: Any, request: RemoveApplication, now: float) -> list[Effect]:
        draining: set[str] = set()
        for partition in rm.partitions.values():
            draining |= _draining(partition)
        return _without(draining, original(rm, request, now), patch)

    patch.instead_of(applications.remove, remove)
