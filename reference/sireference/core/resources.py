"""Resource amounts: a sparse map from resource type to integer; a missing type is zero."""

from collections.abc import Mapping
from typing import Final


class Resource:
    """An immutable sparse vector of integers in the RM's smallest unit.

    The amounts are Python integers, so sums of int64 values never overflow (SI-RES-003). Two
    resources are equal when every type has the same amount, zero counting as missing; the map
    itself keeps written-out zeros, because an allocation repeats its ask as it was sent.
    """

    __slots__ = ("amounts",)

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        self.amounts: Final[Mapping[str, int]] = amounts or {}

    @property
    def key(self) -> frozenset[tuple[str, int]]:
        """Return a hashable form: every type that is not zero."""
        items = self.amounts.items()
        if 0 in self.amounts.values():
            return frozenset(item for item in items if item[1])
        return frozenset(items)

    def fits(self, capacity: "Resource") -> bool:
        """Return whether ``capacity`` has enough of every type; a missing type is zero."""
        have = capacity.amounts
        for name, amount in self.amounts.items():
            if amount > have.get(name, 0) and amount > 0:
                return False
        return True

    def stays_within(self, used: "Resource", limit: "Resource") -> bool:
        """Return whether this plus ``used`` is within ``limit``; a missing type is unlimited."""
        have, most = used.amounts, limit.amounts
        for name, amount in self.amounts.items():
            if amount > 0 and name in most and have.get(name, 0) + amount > most[name]:
                return False
        return True

    def objections(self) -> tuple[str, ...]:
        """Return why the amount is invalid, empty if valid: no amount may be below zero."""
        for amount in self.amounts.values():
            if amount < 0:
                negative = sorted(name for name, given in self.amounts.items() if given < 0)
                return (f"the resource is negative: {', '.join(negative)}",)
        return ()

    def is_zero(self) -> bool:
        """Return whether all amounts are zero."""
        return not any(self.amounts.values())

    def __add__(self, other: "Resource") -> "Resource":
        if not self.amounts:
            return other
        if not other.amounts:
            return self
        amounts = dict(self.amounts)
        for name, amount in other.amounts.items():
            amounts[name] = amounts.get(name, 0) + amount
        return Resource(amounts)

    def __sub__(self, other: "Resource") -> "Resource":
        if not other.amounts:
            return self
        amounts = dict(self.amounts)
        for name, amount in other.amounts.items():
            amounts[name] = amounts.get(name, 0) - amount
        return Resource(amounts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Resource):
            return NotImplemented
        return self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {amount}" for name, amount in sorted(self.amounts.items()))
        return f"{{{inside}}}"


class SharedResource(Resource):
    """A resource that many asks have in common; its key is computed once."""

    __slots__ = ("key",)
    key: frozenset[tuple[str, int]]

    def __init__(self, amounts: Mapping[str, int]) -> None:
        super().__init__(amounts)
        self.key = super().key


NOTHING: Final = Resource()


class Total:
    """A sum that changes with every allocation, at less cost than a new resource each time."""

    __slots__ = ("_amounts", "_value")

    def __init__(self) -> None:
        self._amounts: dict[str, int] = {}
        self._value: Resource | None = NOTHING  # None until it is read after a change

    @property
    def value(self) -> Resource:
        """Return the sum as it is now."""
        if self._value is None:
            self._value = Resource(dict(self._amounts))
        return self._value

    def add(self, resource: Resource) -> None:
        """Add ``resource`` to the sum."""
        amounts = self._amounts
        for name, amount in resource.amounts.items():
            amounts[name] = amounts.get(name, 0) + amount
        self._value = None

    def subtract(self, resource: Resource) -> None:
        """Subtract ``resource`` from the sum."""
        amounts = self._amounts
        for name, amount in resource.amounts.items():
            amounts[name] = amounts.get(name, 0) - amount
        self._value = None


def share_of_right(used: Resource, right: Resource | None, whole: Resource) -> float:
    """Return the used share of a guarantee: the largest over all types.

    Any use of a type without guarantee counts as 1 plus the share of ``whole``, so queues below
    their guarantee come before all others.
    """
    largest = 0.0
    guaranteed = right.amounts if right is not None else NOTHING.amounts
    for name, amount in used.amounts.items():
        if amount <= 0:
            continue
        due = guaranteed.get(name, 0)
        if due > 0:
            of_type = amount / due
        else:
            there_is = whole.amounts.get(name, 0)
            of_type = 1 + (amount / there_is if there_is > 0 else amount)
        largest = max(largest, of_type)
    return largest


def least_free_share(free: Resource, capacity: Resource) -> float:
    """Return the smallest free share of ``capacity`` over the types it has; 0 without any."""
    least: float | None = None
    have = free.amounts
    for name, amount in capacity.amounts.items():
        if amount > 0:
            of_type = have.get(name, 0) / amount
            if least is None or of_type < least:
                least = of_type
    return 0.0 if least is None else least
