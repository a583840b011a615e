"""Which allocations were recovered or updated, for mutants that treat those differently."""

from collections.abc import Callable
from typing import Any

from sireference.core import recovery, updates
from sireference.core.model import Effect
from sireference.core.state.allocation import Allocation

from mutation.inside import Original, Patch

Chosen = Callable[[Allocation], bool]


def recovered(patch: Patch) -> Chosen:
    """Return a function that tells whether an allocation was recovered."""
    identities: set[str] = set()

    def recover(original: Original, partition: Any, record: Any, now: float) -> list[Effect]:
        identities.add(record.identity)
        return original(partition, record, now)

    patch.quietly().instead_of(recovery.recover, recover)
    return lambda allocation: allocation.record.identity in identities


def updated(patch: Patch) -> Chosen:
    """Return a function that tells whether an allocation was updated."""
    identities: set[str] = set()

    def change(original: Original, partition: Any, live: Any, *rest: Any) -> list[Effect]:
        identities.add(live.record.identity)
        return original(partition, live, *rest)

    patch.quietly().instead_of(updates.change, change)
    return lambda allocation: allocation.record.identity in identities
