"""Mutants of preemption: what was updated, recovered or sent again, and extreme priorities."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from sireference.core import application_lifecycle
from sireference.core.model import Effect, ReleasedAllocation
from sireference.core.preemption.victims import Candidates, Victim
from sireference.core.state.pending_asks import PendingAsks
from sireference.core.states import TerminationType

from mutation.inside import Original, Patch
from mutation.inside.tracking import recovered, updated
from mutation.inside.victims import may_go_nevertheless
from mutation.mutant import mutant
from mutation.patching import instead_of

_INT32_SIGN: Final = 1 << 31


@mutant(
    "updated-cannot-opt-out",
    "Allocations that opted out are preempted once they were updated.",
    breaks=("SI-PRE-003",),
    revision="2024-10",
)
def _(patch: Patch) -> None:
    may_go_nevertheless(patch, updated(patch))


@mutant(
    "recovered-originators-cannot-opt-out",
    "Recovered originators are preempted although they opted out.",
    breaks=("SI-PRE-007",),
)
def _(patch: Patch) -> None:
    was_recovered = recovered(patch)
    may_go_nevertheless(patch, lambda live: live.record.ask.originator and was_recovered(live))


@mutant(
    "difference-of-priorities-overflows",
    "Preemption compares priorities by their difference, in 32 bits.",
    breaks=("SI-PRE-005",),
)
@instead_of(Candidates.victim)
def _(patch: Patch, original: Callable[..., Any], candidates: Any, live: Any) -> Any:
    comparison = candidates.comparison(live.application.leaf)
    if comparison is None:
        return None
    priority = comparison.priority(live)
    if priority - comparison.most < _INT32_SIGN:
        return original(candidates, live)
    patch.fires()
    return Victim(live, priority)


@mutant(
    "right-to-preempt-stays-when-sent-again",
    "A pending ask that is sent again as one that may not preempt still preempts.",
    breaks=("SI-ASK-029",),
    revision="2024-10",
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    before, after = earlier.ask.preemption_policy, ask.preemption_policy
    if before and after and before.allow_preempt_other and not after.allow_preempt_other:
        patch.fires()
        ask = replace(ask, preemption_policy=replace(after, allow_preempt_other=True))
    original(asks, earlier, ask)


@mutant(
    "preempting-asks-keep-their-amount",
    "An ask that is sent again while its victims end is allocated with the earlier amount.",
    breaks=("SI-ASK-032",),
    revision="2024-10",
)
@instead_of(PendingAsks.replace)
def _(patch: Patch, original: Callable[..., None], asks: Any, earlier: Any, ask: Any) -> None:
    if earlier.is_reserved and ask.resource != earlier.ask.resource:
        patch.fires()
        ask = replace(ask, resource=earlier.ask.resource)
    original(asks, earlier, ask)


@mutant(
    "victims-time-out-as-well",
    "A placeholder that is being preempted is released again at the placeholder timeout.",
    breaks=("SI-REL-011",),
)
@instead_of(application_lifecycle.withdraw)
def _(
    patch: Patch, original: Original, partition: Any, asks: list[Any], *rest: Any
) -> list[Effect]:
    held, why = rest
    effects = original(partition, asks, held, why)
    for live in held:
        if live.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
            patch.fires()
            release = live.release(TerminationType.TIMEOUT, why)
            effects.append(ReleasedAllocation(partition.rm_id, release))
    return effects
