"""Mutants that undo what the RM requested, some time after they carried it out."""

from typing import Final

from sireference.core import withdrawal
from sireference.core.model import Effect
from sireference.core.state.application import PendingAsk
from sireference.core.state.partition import Partition

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_LATER: Final = 2.5  # seconds


@mutant(
    "withdrawn-asks-come-back",
    f"A withdrawn ask is pending again {_LATER} s later.",
    breaks=("SI-ASK-018",),
)
@instead_of(withdrawal.withdraw)
def _(
    patch: Patch, original: Original, partition: Partition, pending: PendingAsk, now: float
) -> list[Effect]:
    def come_back(_now: float) -> list[Effect]:
        application = pending.application
        is_there = partition.applications.get(application.application_id) is application
        if is_there and pending.ask.key not in application.pending:
            patch.fires()
            partition.asks.queue_up(application, pending.ask)
        return []

    effects = original(partition, pending, now)
    partition.timers.set(now + _LATER, come_back)
    return effects
