"""Placement constraints, which exist only in 2021-02."""

from collections.abc import Iterable
from typing import Final

from google.protobuf.unknown_fields import UnknownFieldSet
from siwire.r2021_02 import si_pb2 as si

from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
    TargetOperator,
)

_OPERATORS: Final = {
    si.AffinityTargetExpression.IN: TargetOperator.IN,
    si.AffinityTargetExpression.NOT_IN: TargetOperator.NOT_IN,
    si.AffinityTargetExpression.EXIST: TargetOperator.EXIST,
    si.AffinityTargetExpression.NOT_EXIST: TargetOperator.NOT_EXIST,
}
_OPERATOR: Final = si.AffinityTargetExpression.TARGETOPERATOR_FIELD_NUMBER
_VARINT: Final = 0
_AFFINITY: Final = "allocationAffinityAttribute"


def constraint(message: si.PlacementConstraint) -> PlacementConstraint | None:
    """Read a PlacementConstraint, None if it is empty."""
    simple = message.simpleConstraint
    by_allocations = simple.allocationAffinityAttribute
    constraint = PlacementConstraint(
        node=_targets(simple.nodeAffinityConstraint.targetExpressions),
        affinity=affinity(by_allocations) if simple.HasField(_AFFINITY) else None,
    )
    return None if constraint == PlacementConstraint() else constraint


def affinity(message: si.AllocationAffinityConstraints) -> AllocationAffinity:
    """Read an affinity; a maximum of zero is indistinguishable from none, so it is none (B-53)."""
    return AllocationAffinity(
        scope=message.scope,
        targets=_targets(message.tragetExpressions),
        min_cardinality=message.minCardinality,
        max_cardinality=message.maxCardinality or None,
        required=message.required,
    )


def _targets(messages: Iterable[si.AffinityTargetExpression]) -> tuple[TargetExpression, ...]:
    return tuple(
        TargetExpression(one.targetKey, operator(one), frozenset(one.targetValues))
        for one in messages
    )


def operator(message: si.AffinityTargetExpression) -> TargetOperator:
    """Read the operator, which the declared type of its field cannot carry; the default is IN.

    RMs that declare the field as the enum send a number, which is an unknown field here
    (docs/decisions/0001-wire-as-written.md). The last one counts, as for any field.
    """
    unknown = UnknownFieldSet(message)
    numbers = [
        field.data
        for field in (unknown[place] for place in range(len(unknown)))
        if field.field_number == _OPERATOR and field.wire_type == _VARINT
    ]
    if not numbers:
        return TargetOperator.IN
    return _OPERATORS.get(numbers[-1], TargetOperator.UNRECOGNISED)
