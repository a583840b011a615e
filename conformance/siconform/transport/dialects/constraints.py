"""Placement constraints of 2021-02, the only revision that has them."""

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf.unknown_fields import UnknownFieldSet
from siwire.r2021_02 import si_pb2 as si

from siconform.protocol.constraints import Affinity, Condition, Constraint, Operator

EMPTY_OPERATOR: Final = b"\x0a\x00"  # field 1 as in the published schema: a message, empty


def write_constraint(simple: si.SimplePlacementConstraint, constraint: Constraint) -> None:
    """Write the constraint of an ask."""
    simple.SetInParent()
    if constraint.node:
        expressions = simple.nodeAffinityConstraint.targetExpressions
        _write_conditions(expressions, constraint.node)
    if constraint.others is not None:
        _write_affinity(simple.allocationAffinityAttribute, constraint.others)


def _write_affinity(message: si.AllocationAffinityConstraints, affinity: Affinity) -> None:
    message.SetInParent()
    message.scope = affinity.scope
    message.minCardinality = affinity.at_least
    message.maxCardinality = affinity.at_most
    message.required = affinity.required
    _write_conditions(message.tragetExpressions, affinity.tags)


def _write_conditions(expressions: Any, conditions: Iterable[Condition]) -> None:
    for condition in conditions:
        expression = expressions.add(targetKey=condition.key, targetValues=condition.values)
        if condition.operator is Operator.EMPTY:
            expression.MergeFromString(EMPTY_OPERATOR)
        else:
            expression.targetOperator = condition.operator.name


def read_constraint(simple: si.SimplePlacementConstraint) -> Constraint:
    """Read the constraint of an ask."""
    return Constraint(
        _conditions(simple.nodeAffinityConstraint.targetExpressions),
        _affinity(simple.allocationAffinityAttribute)
        if simple.HasField("allocationAffinityAttribute")
        else None,
    )


def _affinity(received: si.AllocationAffinityConstraints) -> Affinity:
    return Affinity(
        received.scope,
        _conditions(received.tragetExpressions),
        at_least=received.minCardinality,
        at_most=received.maxCardinality,
        required=received.required,
    )


def _conditions(expressions: Iterable[Any]) -> tuple[Condition, ...]:
    return tuple(
        Condition(one.targetKey, tuple(one.targetValues), _operator(one)) for one in expressions
    )


def _operator(expression: Any) -> Operator:
    if len(UnknownFieldSet(expression)):
        return Operator.EMPTY
    names = expression.DESCRIPTOR.fields_by_name["targetOperator"].enum_type.values_by_number
    return Operator[names[expression.targetOperator].name]
