"""Bounded memories of names, for traces of any length."""

from collections import OrderedDict
from typing import Final, TypeVar

K = TypeVar("K")
V = TypeVar("V")

LIMIT: Final = 50_000
"""Names that are remembered, beyond those of what lives."""


class Recent(OrderedDict[K, V]):
    """The entries that were set last; the oldest are dropped."""

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > LIMIT:
            self.popitem(last=False)


class Names:
    """Names that came; with too many to remember, any other one may have come as well."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add(self, name: str) -> None:
        """Remember a name."""
        if len(self._names) <= LIMIT:
            self._names.add(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def lack(self, name: str) -> bool:
        """Return whether this one certainly never came."""
        return name not in self._names and len(self._names) <= LIMIT
