"""Placement constraints of 2021-02, revision-neutral: where an RM wants an allocation to go."""

from dataclasses import dataclass
from enum import Enum


class Operator(Enum):
    """How a condition compares. The text cannot say any but the default: decision 0001.

    NOT_IN, EXIST and NOT_EXIST go out as a corrected schema would have them, IN as nothing.
    """

    IN = "in"
    NOT_IN = "not in"
    EXIST = "exists, whatever is listed"
    NOT_EXIST = "does not exist, whatever is listed"
    EMPTY = "in (said by an empty message)"  # all that the literal schema can put there


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one attribute of a node or one tag of an allocation."""

    key: str
    values: tuple[str, ...]
    operator: Operator = Operator.IN

    def __str__(self) -> str:
        return f"{self.key} {self.operator.value} [{' '.join(self.values)}]"


def where(key: str, *values: str, operator: Operator = Operator.IN) -> Condition:
    """The condition that ``key`` has one of ``values``, or what else ``operator`` makes of them."""
    return Condition(key, values, operator)


@dataclass(frozen=True, slots=True)
class Affinity:
    """How many allocations with these tags a group of nodes must and may hold.

    Nodes with one value of the attribute ``scope`` are a group. The bounds hold for those there
    are; 0 is no bound.
    """

    scope: str
    tags: tuple[Condition, ...]
    at_least: int = 0
    at_most: int = 0
    required: bool = True  # else preferred only

    def __str__(self) -> str:
        words = "required" if self.required else "preferred"
        bounds = f"{self.at_least} to {self.at_most or 'any number'}"
        targets = " and ".join(str(tag) for tag in self.tags)
        return f"{words} {bounds} for each {self.scope} of those where {targets}"


@dataclass(frozen=True, slots=True)
class Constraint:
    """Both halves hold where both are given."""

    node: tuple[Condition, ...] = ()
    others: Affinity | None = None

    def __str__(self) -> str:
        words = [f"node {condition}" for condition in self.node]
        return " and ".join([*words, *([str(self.others)] if self.others else [])])


def on_nodes(*conditions: Condition) -> Constraint:
    """Only on nodes with these attributes."""
    return Constraint(node=conditions)
