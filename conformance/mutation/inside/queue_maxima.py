"""Mutants by which a queue with a maximum gets more than that."""

from collections.abc import Callable
from typing import Any

from sireference.core.state.allocation import Allocation
from sireference.core.state.partition import Partition

from mutation.inside import Patch
from mutation.inside.keys import ended_keys
from mutation.mutant import mutant


@mutant(
    "keys-used-again-not-counted-in-queues",
    "An allocation whose key had an earlier one takes nothing of its queues.",
    breaks=("SI-CFG-008",),
)
def _(patch: Patch) -> None:
    ended = ended_keys(patch)
    uncounted: set[Allocation] = set()

    def book(original: Callable[..., None], partition: Partition, live: Allocation) -> None:
        original(partition, live)
        if live.record.identity in ended:
            patch.fires()
            uncounted.add(live)
            live.application.quotas.unbook(live.record.ask.resource)

    def unbook(
        original: Callable[..., None], partition: Partition, live: Allocation, termination: Any
    ) -> None:
        if live in uncounted:
            live.application.quotas.book(live.record.ask.resource)
        original(partition, live, termination)

    patch.instead_of(Partition.book, book)
    patch.quietly().instead_of(Partition.unbook, unbook)
