"""Mutants of preemption without a guarantee: for a required node, and for a lowered maximum."""

from collections.abc import Callable
from typing import Any

from sireference.core.preemption import eligibility
from sireference.core.preemption.victims import Candidates, Victim, may_be_preempted
from sireference.core.resources import NOTHING
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.partition import Partition

from mutation.inside import Patch
from mutation.mutant import mutant
from mutation.patching import instead_of


def _is_bound(candidates: Any) -> bool:
    """Return whether the ask that seeks victims requires a node."""
    return bool(candidates._ask.required_node)  # noqa: SLF001  # it has no public name


@mutant(
    "bound-asks-preempt-what-opted-out",
    "An ask that requires a node preempts allocations there although they opted out.",
    breaks=("SI-PRE-003",),
)
@instead_of(Candidates.may_go)
def _(
    patch: Patch, original: Callable[..., bool], candidates: Candidates, allocation: Allocation
) -> bool:
    if original(candidates, allocation) or not _is_bound(candidates):
        return original(candidates, allocation)
    policy = allocation.record.ask.preemption_policy
    if policy is None or policy.allow_preempt_self or allocation.open_release is not None:
        return False
    patch.fires()
    return True


@mutant(
    "bound-asks-preempt-higher-priorities",
    "An ask that requires a node preempts allocations there whatever their priority.",
    breaks=("SI-PRE-005",),
)
@instead_of(Candidates.victim)
def _(
    patch: Patch,
    original: Callable[..., Victim | None],
    candidates: Candidates,
    allocation: Allocation,
) -> Victim | None:
    found = original(candidates, allocation)
    compared = candidates.comparison(allocation.application.leaf)
    if found is not None or compared is None or not _is_bound(candidates):
        return found
    patch.fires()
    return Victim(allocation, compared.priority(allocation))


@mutant(
    "any-bound-ask-preempts",
    "An ask that requires a node preempts there although its policy does not allow it.",
    breaks=("SI-PRE-004",),
)
@instead_of(eligibility.allow)
def _(
    patch: Patch, original: Callable[..., bool], partition: Partition, pending: PendingAsk
) -> bool:
    if original(partition, pending) or not pending.ask.required_node:
        return original(partition, pending)
    patch.fires()
    return partition.config.preemption_enabled


@mutant(
    "lowered-maxima-end-what-opted-out",
    "Allocations that opted out of preemption end when the maximum of their queue is lowered.",
    breaks=("SI-PRE-003",),
)
@instead_of(may_be_preempted)
def _(patch: Patch, original: Callable[..., bool], allocation: Allocation) -> bool:
    leaf = allocation.application.leaf
    is_beyond = leaf.maximum is not None and not leaf.used.stays_within(NOTHING, leaf.maximum)
    if original(allocation) or not is_beyond or allocation.open_release is not None:
        return original(allocation)
    patch.fires()
    return True
