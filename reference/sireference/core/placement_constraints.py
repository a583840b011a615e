"""Placement constraints (SI 2021-02): what an ask requires of its node and nearby allocations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum


class TargetOperator(Enum):
    """How an expression compares an attribute of a node or a tag of an allocation."""

    IN = "in"
    NOT_IN = "not in"
    EXIST = "exists"
    NOT_EXIST = "does not exist"
    UNRECOGNISED = "unknown operator"


@dataclass(frozen=True, slots=True)
class TargetExpression:
    """A condition on one attribute of a node or one tag of an allocation."""

    key: str
    operator: TargetOperator = TargetOperator.IN
    values: frozenset[str] = frozenset()

    def holds(self, given: Mapping[str, str]) -> bool:
        """Return whether the condition is true of these attributes or tags.

        Values matter to IN and NOT_IN only (SI-PLACE-004); a missing key has no value to compare.
        """
        match self.operator:
            case TargetOperator.IN:
                return given.get(self.key) in self.values
            case TargetOperator.NOT_IN:
                return given.get(self.key) not in self.values
            case TargetOperator.EXIST:
                return self.key in given
            case TargetOperator.NOT_EXIST:
                return self.key not in given
            case TargetOperator.UNRECOGNISED:
                return False


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes among which allocations are counted: those with one ``value``, or one node."""

    value: str | None
    node_id: str = ""


@dataclass(frozen=True, slots=True)
class AllocationAffinity:
    """The number of allocations matching ``targets`` that a group of nodes may hold.

    It applies to the ask alone, not to allocations that exist already (SI-PLACE-010).
    """

    scope: str  # the node attribute whose value forms the group
    targets: tuple[TargetExpression, ...] = ()
    min_cardinality: int = 0
    max_cardinality: int | None = None  # None: no maximum
    required: bool = False  # otherwise it is only preferred (SI-PLACE-009)

    def matches(self, tags: Mapping[str, str]) -> bool:
        """Return whether an allocation with these tags counts."""
        return all(target.holds(tags) for target in self.targets)

    def group(self, node_id: str, attributes: Mapping[str, str]) -> Group:
        """Return the group of a node; without the attribute, the node alone (SI-PLACE-007)."""
        value = attributes.get(self.scope)
        return Group(None, node_id) if value is None else Group(value)

    def allows(self, count: int) -> bool:
        """Return whether a group may hold ``count``, including the new one (SI-PLACE-008)."""
        most = self.max_cardinality
        return count >= self.min_cardinality and (most is None or count <= most)


@dataclass(frozen=True, slots=True)
class PlacementConstraint:
    """Where an ask may go; both parts must be satisfied (SI-PLACE-006)."""

    node: tuple[TargetExpression, ...] = ()
    affinity: AllocationAffinity | None = None

    @property
    def is_strict(self) -> bool:
        """Return whether the affinity is required, not only preferred."""
        return self.affinity is not None and self.affinity.required

    def suits(self, attributes: Mapping[str, str]) -> bool:
        """Return whether the node satisfies all node expressions (SI-PLACE-005)."""
        return all(target.holds(attributes) for target in self.node)

    def objections(self) -> Iterator[str]:
        """Return why no node can ever satisfy this; empty if one might."""
        affinity = self.affinity
        targets = (*self.node, *(affinity.targets if affinity else ()))
        if any(target.operator is TargetOperator.UNRECOGNISED for target in targets):
            yield "the placement constraint has an unknown operator"
        if affinity is None:
            return
        most = affinity.max_cardinality
        if affinity.min_cardinality < 0 or (most is not None and most < 0):
            yield "a cardinality of the placement constraint is negative"
        if affinity.required and most is not None and affinity.min_cardinality > most:
            yield "the placement constraint wants more allocations than it allows"
