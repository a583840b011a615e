"""Any of several strings: to say that what is named belongs to them."""

from collections.abc import Iterable
from typing import Self


class OneOf(str):
    """Equal to each of these strings."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, names: Iterable[str]) -> Self:
        """Any of these."""
        known = frozenset(str.__str__(name) for name in names)
        one = super().__new__(cls, " or ".join(sorted(known)))
        one.names = known
        return one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str.__str__(other) in self.names

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.names)
