"""Mutants of pending asks that the RM updates more than once, or withdraws after an update."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from sireference.core import allocations, withdrawal
from sireference.core.model import Ask, Effect, NewAllocation
from sireference.core.resources import Resource
from sireference.core.state.application import PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.pending_asks import PendingAsks

from mutation.inside import Original, Patch
from mutation.mutant import mutant

_COUNTED: Final = 2  # updates of an amount


def updates_of_asks(patch: Patch) -> Counter[tuple[str, str]]:
    """Return the numbers of updates by application and key, counted as they come."""
    updates: Counter[tuple[str, str]] = Counter()

    def put(
        original: Callable[..., None], asks: PendingAsks, earlier: PendingAsk, ask: Ask
    ) -> None:
        updates[ask.application_id, ask.key] += 1
        original(asks, earlier, ask)

    patch.quietly().instead_of(PendingAsks.replace, put)
    return updates


@mutant(
    "withdrawn-after-an-update-is-served",
    "A pending ask that was updated is served after its withdrawal was confirmed.",
    breaks=("SI-ASK-018",),
)
def _(patch: Patch) -> None:
    updates = updates_of_asks(patch)

    def withdraw(
        original: Original, partition: Partition, pending: PendingAsk, now: float
    ) -> list[Effect]:
        effects = original(partition, pending, now)
        if updates[pending.ask.application_id, pending.ask.key]:
            patch.fires()
            partition.asks.queue_up(pending.application, pending.ask)
        return effects

    patch.instead_of(withdrawal.withdraw, withdraw)


@mutant(
    "third-update-of-an-amount-ignored",
    "From its third update on, a pending ask keeps the amount of the second.",
    breaks=("SI-ASK-032",),
)
def _(patch: Patch) -> None:
    def put(
        original: Callable[..., None], asks: PendingAsks, earlier: PendingAsk, ask: Ask
    ) -> None:
        is_late = updates[ask.application_id, ask.key] >= _COUNTED
        if is_late and ask.resource != earlier.ask.resource:
            patch.fires()
            ask = replace(ask, resource=earlier.ask.resource)
        original(asks, earlier, ask)

    updates = updates_of_asks(patch)
    patch.instead_of(PendingAsks.replace, put)


@mutant(
    "announces-the-amount-before-the-last",
    "An ask that was updated more than once is announced with the amount before the last.",
    breaks=("SI-ASK-032",),
)
def _(patch: Patch) -> None:
    before: dict[tuple[str, str], Resource] = {}  # by application and key
    updates = updates_of_asks(patch)

    def put(
        original: Callable[..., None], asks: PendingAsks, earlier: PendingAsk, ask: Ask
    ) -> None:
        if updates[ask.application_id, ask.key] > 1:
            before[ask.application_id, ask.key] = earlier.ask.resource
        original(asks, earlier, ask)

    def announced(effect: Effect) -> Effect:
        if not isinstance(effect, NewAllocation):
            return effect
        record = effect.allocation
        resource = before.get((record.ask.application_id, record.ask.key))
        if resource is None:
            return effect
        patch.fires()
        record = replace(record, ask=replace(record.ask, resource=resource))
        return replace(effect, allocation=record)

    def make(original: Original, *what: Any) -> list[Effect]:
        return [announced(effect) for effect in original(*what)]

    patch.quietly().instead_of(PendingAsks.replace, put)
    patch.instead_of(allocations.make, make)
