"""Mutants of preemption: what was updated, recovered or sent again, and extreme priorities."""

from mutation.inside import Patch
from mutation.inside.tracking import recovered, updated
from mutation.inside.victims import may_go_nevertheless
from mutation.mutant import mutant


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
