"""Mutants of placement constraints, which only 2021-02 has."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from sireference.codec import r2021_02, r2021_02_constraints
from sireference.core import asks
from sireference.core.model import Ask
from sireference.core.placement_constraints import (
    AllocationAffinity,
    Group,
    PlacementConstraint,
    TargetExpression,
    TargetOperator,
)
from sireference.core.state.affinity_counts import AffinityCounts
from sireference.core.state.allocation import Allocation

from mutation.inside import Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_mutant: Final = partial(mutant, revision="2021-02")
Tags = Mapping[str, str]


@_mutant(
    "unconstrained-keep-apart",
    "An ask without constraint avoids allocations with the same tags.",
    breaks=("SI-PLACE-001", "SI-PLACE-010"),
)
def _(patch: Patch) -> None:
    apart = AllocationAffinity("si/hostname", (_APP,), max_cardinality=1, required=True)

    def read(original: Callable[..., Ask], policies: Any, message: Any) -> Ask:
        ask = original(policies, message)
        if ask.constraint is not None or "app" not in ask.tags:
            return ask
        patch.fires()
        return replace(ask, constraint=PlacementConstraint(affinity=apart))

    patch.instead_of(r2021_02.ask, read)


_APP: Final = TargetExpression("app", TargetOperator.EXIST)


def _operators(patch: Patch, reads: Callable[[TargetOperator], TargetOperator]) -> None:
    def operator(original: Callable[..., TargetOperator], message: Any) -> TargetOperator:
        sent = original(message)
        read = reads(sent)
        if read is not sent:
            patch.fires()
        return read

    patch.instead_of(r2021_02_constraints.operator, operator)


@_mutant(
    "no-operator-means-not-in",
    "A condition without operator means all other values.",
    breaks=("SI-PLACE-002",),
)
def _(patch: Patch) -> None:
    others = {TargetOperator.IN: TargetOperator.NOT_IN}
    _operators(patch, lambda sent: others.get(sent, sent))


@_mutant(
    "first-value-only",
    "Of the values of a condition only the first counts.",
    breaks=("SI-PLACE-002",),
)
@instead_of(r2021_02_constraints.operator)
def _(patch: Patch, original: Callable[..., TargetOperator], message: Any) -> TargetOperator:
    if len(message.targetValues) > 1:
        patch.fires()
        del message.targetValues[1:]
    return original(message)


@_mutant("not-in-is-in", "NOT_IN is treated as IN.", breaks=("SI-PLACE-003",))
def _(patch: Patch) -> None:
    others = {TargetOperator.NOT_IN: TargetOperator.IN}
    _operators(patch, lambda sent: others.get(sent, sent))


@_mutant(
    "values-of-keys-count",
    "EXIST and NOT_EXIST compare the value, too.",
    breaks=("SI-PLACE-004", "SI-PLACE-011"),
)
def _(patch: Patch) -> None:
    others = {
        TargetOperator.EXIST: TargetOperator.IN,
        TargetOperator.NOT_EXIST: TargetOperator.NOT_IN,
    }
    _operators(patch, lambda sent: others.get(sent, sent))


@_mutant(
    "any-condition-is-enough", "One of several conditions is enough.", breaks=("SI-PLACE-005",)
)
@instead_of(PlacementConstraint.suits)
def _(patch: Patch, _: Any, constraint: PlacementConstraint, attributes: Tags) -> bool:
    if len(constraint.node) > 1:
        patch.fires()
    return not constraint.node or any(one.holds(attributes) for one in constraint.node)


@_mutant(
    "affinity-outweighs-nodes",
    "With a condition on allocations, those on the node are ignored.",
    breaks=("SI-PLACE-006",),
)
def _(patch: Patch) -> None:
    def suits(original: Callable[..., bool], constraint: PlacementConstraint, sent: Tags) -> bool:
        if constraint.affinity is None or not constraint.node:
            return original(constraint, sent)
        patch.fires()
        return True

    patch.instead_of(PlacementConstraint.suits, suits)


@_mutant(
    "nodes-outweigh-affinity",
    "With a condition on the node, that on allocations is ignored.",
    breaks=("SI-PLACE-006",),
)
@instead_of(r2021_02_constraints.constraint)
def _(patch: Patch, original: Callable[..., Any], message: Any) -> Any:
    constraint = original(message)
    if constraint is None or not constraint.node or constraint.affinity is None:
        return constraint
    patch.fires()
    return replace(constraint, affinity=None)


@_mutant(
    "each-node-is-a-group",
    "Allocations are counted by node, regardless of the scope.",
    breaks=("SI-PLACE-007",),
)
@instead_of(AllocationAffinity.group)
def _(patch: Patch, _: Any, _affinity: Any, node_id: str, _attributes: Tags) -> Group:
    patch.fires()
    return Group(None, node_id)


@_mutant(
    "one-ask-counts-once",
    "Of the allocations of one ask only the first is counted against a maximum.",
    breaks=("SI-PLACE-007",),
)
def _(patch: Patch) -> None:
    counted: set[str] = set()

    def added(original: Callable[..., Any], self: AffinityCounts, allocation: Allocation) -> Any:
        key = allocation.record.ask.key
        if allocation.record.ask.constraint is not None and key in counted:
            patch.fires()
            return []
        counted.add(key)
        return original(self, allocation)

    patch.instead_of(AffinityCounts.allocation_added, added)


@_mutant(
    "ended-allocations-are-counted",
    "An allocation that has ended still counts against a maximum.",
    breaks=("SI-PLACE-007",),
)
@instead_of(AffinityCounts.allocation_removed)
def _(patch: Patch, _: Any, _counts: AffinityCounts, _allocation: Allocation) -> list[Any]:
    patch.fires()
    return []


@_mutant(
    "application-tags-are-of-allocations",
    "The tags of an application count as those of its allocations.",
    breaks=("SI-APP-011",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Callable[..., Any], rm: Any, ask: Ask, now: float) -> Any:
    for partition in rm.partitions.values():
        application = partition.applications.get(ask.application_id)
        if application and application.submitted.tags:
            patch.fires()
            ask = replace(ask, tags={**application.submitted.tags, **ask.tags})
    return original(rm, ask, now)


@_mutant(
    "cardinality-ignored",
    "The maximum number of allocations is ignored.",
    breaks=("SI-PLACE-007", "SI-PLACE-008"),
)
@instead_of(AllocationAffinity.allows)
def _(patch: Patch, _: Any, _affinity: Any, _count: int) -> bool:
    patch.fires()
    return True


@_mutant(
    "every-maximum-is-one",
    "Every maximum number of allocations is treated as 1.",
    breaks=("SI-PLACE-008",),
)
@instead_of(AllocationAffinity.allows)
def _(
    patch: Patch, original: Callable[..., bool], affinity: AllocationAffinity, count: int
) -> bool:
    if affinity.max_cardinality is not None:
        if affinity.max_cardinality > 1:
            patch.fires()
        affinity = replace(affinity, max_cardinality=1)
    return original(affinity, count)


@_mutant(
    "preferred-is-required",
    "A preferred constraint blocks an ask.",
    breaks=("SI-PLACE-009",),
)
@instead_of(r2021_02_constraints.affinity)
def _(patch: Patch, original: Callable[..., Any], message: Any) -> Any:
    if not message.required:
        patch.fires()
    return replace(original(message), required=True)


@_mutant(
    "required-is-preferred",
    "A required constraint does not block an ask.",
    breaks=("SI-PLACE-009",),
)
@instead_of(r2021_02_constraints.affinity)
def _(patch: Patch, original: Callable[..., Any], message: Any) -> Any:
    if message.required:
        patch.fires()
    return replace(original(message), required=False)
