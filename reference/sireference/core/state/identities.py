"""Identities of allocations."""


class Identities:
    """Unique identities of allocations."""

    __slots__ = ("_made", "_prefix")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._made = 0

    def next(self) -> str:
        """Return an unused identity."""
        self._made += 1
        return f"{self._prefix}{self._made}"
