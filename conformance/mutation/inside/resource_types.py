"""Mutants that handle the amounts of some resource types other than those of others."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.core import asks, foreign_allocations, nodes
from sireference.core.model import Ask, Effect
from sireference.core.resources import Resource
from sireference.core.state.foreign import ForeignAllocations
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.quota import Quota

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_COUNTED: Final = ("memory", "vcore")
_PLENTY: Final = 2**40


def _third_types(resource: Resource) -> Resource:
    """Return the amounts of all types but memory and vcore."""
    return Resource({n: amount for n, amount in resource.amounts.items() if n not in _COUNTED})


def _is_partly_negative(resource: Resource) -> bool:
    amounts = resource.amounts.values()
    return any(amount < 0 for amount in amounts) and any(amount > 0 for amount in amounts)


@mutant(
    "asks-negative-in-part-are-served",
    "An ask with a negative amount is rejected only if it has no positive one.",
    breaks=("SI-ASK-010",),
)
@instead_of(asks.objections)
def _(
    patch: Patch,
    original: Callable[..., Iterator[str]],
    partition: Any,
    application: Any,
    ask: Ask,
) -> Iterator[str]:
    accepted = ask.resource.objections() if _is_partly_negative(ask.resource) else ()
    for reason in original(partition, application, ask):
        if reason in accepted:
            patch.fires()
        else:
            yield reason


@mutant(
    "foreign-negative-in-part-is-counted",
    "A foreign allocation with a negative amount is rejected only if it has no positive one.",
    breaks=("SI-FOR-010",),
)
@instead_of(foreign_allocations.report)
def _(patch: Patch, original: Original, rm: Any, foreign: Any, now: float) -> list[Effect]:
    known = rm.node(foreign.node_id)
    if known is None or not _is_partly_negative(foreign.resource):
        return original(rm, foreign, now)
    patch.fires()
    partition, node = known
    partition.foreign.put(foreign, node)
    return []


@mutant(
    "released-foreign-frees-no-third-type",
    "The release of a foreign allocation frees its memory and vcores only.",
    breaks=("SI-FOR-003",),
)
@instead_of(ForeignAllocations.take_away)
def _(
    patch: Patch,
    original: Callable[..., Node | None],
    held: ForeignAllocations,
    key: str,
) -> Node | None:
    node = held.nodes.get(key)
    kept = _third_types(held.on(node)[key].resource) if node is not None else Resource()
    left = original(held, key)
    if left is not None and kept.amounts:
        patch.fires()
        left.take_by_others(kept)
    return left


Counted = Callable[[Any], Iterable[Quota]]
"""Returns the quotas in which a mutant counts an allocation wrongly."""


def _queues(live: Any) -> Iterable[Quota]:
    return [quota for quota in live.application.quotas if isinstance(quota, Queue)]


def _parents(live: Any) -> Iterable[Quota]:
    return [quota for quota in _queues(live) if quota is not live.application.leaf]


def _keeps_third_types(patch: Patch, queues: Counted) -> None:
    """Free only memory and vcores of what ends, in these queues."""

    @instead_of(Partition.unbook)
    def unbook(
        patch: Patch, original: Callable[..., None], partition: Any, live: Any, *rest: Any
    ) -> None:
        original(partition, live, *rest)
        kept = _third_types(live.record.ask.resource)
        for queue in queues(live) if kept.amounts else ():
            patch.fires()
            queue.book(kept)

    unbook(patch)


mutant(
    "queues-get-no-third-type-back",
    "An allocation that ends frees its memory and vcores only in its queues.",
    breaks=("SI-ALLOC-010",),
)(partial(_keeps_third_types, queues=_queues))
mutant(
    "parents-get-no-third-type-back",
    "An allocation that ends frees its memory and vcores only in the parents of its queue.",
    breaks=("SI-ALLOC-010",),
)(partial(_keeps_third_types, queues=_parents))


def _counts_no_third_types(patch: Patch, queues: Counted) -> None:
    """Count only memory and vcores of allocations in these queues."""

    def book(original: Callable[..., None], partition: Any, live: Any) -> None:
        original(partition, live)
        uncounted = _third_types(live.record.ask.resource)
        for queue in queues(live) if uncounted.amounts else ():
            patch.fires()
            queue.unbook(uncounted)

    def unbook(original: Callable[..., None], partition: Any, live: Any, *rest: Any) -> None:
        for queue in queues(live):
            queue.book(_third_types(live.record.ask.resource))
        original(partition, live, *rest)

    patch.instead_of(Partition.book, book)
    patch.quietly().instead_of(Partition.unbook, unbook)


mutant(
    "third-types-not-counted-in-queues",
    "Allocations take memory and vcores only of their queues.",
    breaks=("SI-ASK-011",),
)(partial(_counts_no_third_types, queues=_queues))
mutant(
    "third-types-not-counted-in-parents",
    "Allocations take memory and vcores only of the parents of their queue.",
    breaks=("SI-CFG-008",),
)(partial(_counts_no_third_types, queues=_parents))


@mutant(
    "updates-of-third-types-not-counted-in-queues",
    "The update of a live allocation changes its memory and vcores only in its queues.",
    breaks=("SI-ALLOC-012",),
    revision="2024-10",
)
@instead_of(Partition.resize)
def _(
    patch: Patch, original: Callable[..., bool], partition: Any, live: Any, resource: Resource
) -> bool:
    uncounted = _third_types(resource - live.record.ask.resource)
    shrinks = original(partition, live, resource)
    for queue in _queues(live) if any(uncounted.amounts.values()) else ():
        patch.fires()
        queue.unbook(uncounted)
    return shrinks


@mutant(
    "nodes-of-one-type-have-all-others",
    "A node that names one resource type has any amount of the usual ones that it leaves out.",
    breaks=("SI-RES-001",),
)
@instead_of(nodes.create)
def _(patch: Patch, original: Original, rm: Any, info: Any, now: float) -> list[Effect]:
    if info.capacity is None or len(info.capacity.amounts) != 1:
        return original(rm, info, now)
    patch.fires()
    omitted = {name: _PLENTY for name in _COUNTED if name not in info.capacity.amounts}
    return original(rm, replace(info, capacity=info.capacity + Resource(omitted)), now)
