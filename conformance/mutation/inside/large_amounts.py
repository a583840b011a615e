"""Mutants whose integers overflow: sums of amounts beyond 64 bits, or amounts beyond 32."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sireference.core.gang import submission
from sireference.core.model import NewApplication
from sireference.core.resources import Resource
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.quota import Quota

from mutation.inside import Patch
from mutation.mutant import mutant
from mutation.patching import instead_of


def _wrapped(patch: Patch, exact: Resource, bits: int) -> Resource:
    """Return the amounts as signed integers of so many bits keep them."""
    half = 2 ** (bits - 1)
    kept = {name: (one + half) % 2**bits - half for name, one in exact.amounts.items()}
    if kept != exact.amounts:
        patch.fires()
    return Resource(kept)


@mutant(
    "gang-size-of-32-bits",
    "Only the low 32 bits of a placeholderAsk count.",
    breaks=("SI-GANG-003",),
)
@instead_of(submission.objections)
def _(
    patch: Patch, original: Callable[..., Iterator[str]], leaf: Any, new: NewApplication
) -> Iterator[str]:
    total = new.placeholder_ask
    kept = None if total is None else _wrapped(patch, total, 32)
    return original(leaf, replace(new, placeholder_ask=kept))


@mutant(
    "quota-check-overflows",
    "What a queue has and what is asked of it overflow when they are added.",
    breaks=("SI-RES-003",),
)
def _(patch: Patch) -> None:
    def is_within(_: Callable[..., bool], quota: Quota, need: Resource, *_reserved: Any) -> bool:
        limit = quota.maximum
        return limit is None or _wrapped(patch, quota.used + need, 64).stays_within(
            Resource(), limit
        )

    patch.instead_of(Quota.has_capacity, is_within)
    patch.instead_of(Quota.can_take, is_within)


@mutant(
    "foreign-amounts-overflow",
    "The foreign allocations of a node overflow when they are added.",
    breaks=("SI-FOR-005",),
)
@instead_of(Node.take_by_others)
def _(patch: Patch, original: Callable[..., None], node: Node, resource: Resource) -> None:
    original(node, resource)
    exact = node.foreign
    node.foreign = _wrapped(patch, exact, 64)
    node.free += exact - node.foreign


@mutant(
    "updated-amounts-overflow",
    "The updated allocations of a node overflow when they are added.",
    breaks=("SI-ALLOC-014",),
)
@instead_of(Partition.resize)
def _(
    patch: Patch, original: Callable[..., bool], partition: Partition, live: Any, resource: Resource
) -> bool:
    shrinks = original(partition, live, resource)
    exact = live.node.allocated
    live.node.free += exact - _wrapped(patch, exact, 64)
    partition.node_index.resized(live.node, frees=True)
    return shrinks
