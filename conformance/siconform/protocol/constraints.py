"""Placement constraints of 2021-02, independent of the encoding."""

from dataclasses import dataclass
from enum import Enum


class Operator(Enum):
    """The comparison of a condition. The published schema has only the default: decision 0001.

    NOT_IN, EXIST and NOT_EXIST are sent as in a corrected schema, IN as nothing.
    """

    IN = "in"
    NOT_IN = "not in"
    EXIST = "exists, with any value"
    NOT_EXIST = "does not exist, with any value"
    EMPTY = "in (as an empty message)"  # the only value of the published schema


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one attribute of a node or one tag of an allocation."""

    key: str
    values: tuple[str, ...]
    operator: Operator = Operator.IN

    def __str__(self) -> str:
        return f"{self.key} {self.operator.value} [{' '.join(self.values)}]"


def where(key: str, *values: str, operator: Operator = Operator.IN) -> Condition:
    """Return a condition on ``key`` and ``values``, by default that it has one of them."""
    return Condition(key, values, operator)


@dataclass(frozen=True, slots=True)
class Affinity:
    """How many allocations with these tags a group of nodes must and may hold.

    Nodes with the same value of the attribute ``scope`` form a group. The bounds apply to existing
    groups; 0 means unbounded.
    """

    scope: str
    tags: tuple[Condition, ...]
    at_least: int = 0
    at_most: int = 0
    required: bool = True  # otherwise only preferred

    def __str__(self) -> str:
        words = "required" if self.required else "preferred"
        bounds = f"{self.at_least} to {self.at_most or 'any number'}"
        targets = " and ".join(str(tag) for tag in self.tags)
        return f"{words} {bounds} for each {self.scope} of those where {targets}"


@dataclass(frozen=True, slots=True)
class Constraint:
    """Constraints on nodes and on other allocations; all that are given apply."""

    node: tuple[Condition, ...] = ()
    others: Affinity | None = None

    def __str__(self) -> str:
        words = [f"node {condition}" for condition in self.node]
        return " and ".join([*words, *([str(self.others)] if self.others else [])])


def on_nodes(*conditions: Condition) -> Constraint:
    """Return a constraint to nodes with these attributes."""
    return Constraint(node=conditions)
