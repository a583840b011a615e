"""Mutants by which a queue with a maximum gets more than that."""

from collections.abc import Callable
from typing import Any

from sireference.core import scheduling_pass
from sireference.core.resources import Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import AskGroup
from sireference.core.state.partition import Partition

from mutation.inside import Patch
from mutation.inside.keys import ended_keys
from mutation.mutant import mutant
from mutation.patching import instead_of


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


@mutant(
    "updates-count-up-to-the-maximum",
    "The update of an allocation is counted in its queues only as far as their maxima.",
    breaks=("SI-ALLOC-012",),
)
@instead_of(Partition.resize)
def _(
    patch: Patch,
    original: Callable[..., bool],
    partition: Partition,
    live: Allocation,
    resource: Resource,
) -> bool:
    shrinks = original(partition, live, resource)
    for quota in live.application.quotas:
        most = quota.maximum.amounts if quota.maximum is not None else {}
        used = quota.used.amounts
        beyond = {name: used.get(name, 0) - most[name] for name in most}
        too_much = {name: amount for name, amount in beyond.items() if amount > 0}
        if too_much:
            patch.fires()
            quota.unbook(Resource(too_much))
    return shrinks


@mutant(
    "maxima-are-for-asks-without-priority",
    "An ask with a positive priority is allocated beyond the maxima of its queues.",
    breaks=("SI-CFG-008",),
)
@instead_of(scheduling_pass.find)
def _(patch: Patch, original: Callable[..., Any], partition: Partition, ask_group: AskGroup) -> Any:
    pending = ask_group.first()
    quotas = ask_group.application.quotas
    fits = all(quota.has_capacity(ask_group.need) for quota in quotas)
    if fits or pending is None or pending.ask.priority <= 0:
        return original(partition, ask_group)
    patch.fires()
    nodes = partition.node_index
    return nodes.find(ask_group.profile, ask_group.need) or nodes.waiting
