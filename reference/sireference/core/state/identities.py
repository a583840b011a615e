"""Identities of allocations."""


class Identities:
    """Identities of allocations, never the same twice."""

    __slots__ = ("_made", "_prefix")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._made = 0

    def next(self) -> str:
        """An identity that no allocation had before."""
        self._made += 1
        return f"{self._prefix}{self._made}"
