"""Maps by what is in them: to expect one entry, or the absence of one, whatever else is there."""

from collections.abc import Hashable, Mapping


class Including:
    """Equal to every map that has these entries."""

    def __init__(self, entries: Mapping[str, object]) -> None:
        self._entries = dict(entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self._entries.items() <= other.items()

    def __hash__(self) -> int:
        return hash(tuple(sorted(k for k in self._entries if isinstance(k, Hashable))))

    def __str__(self) -> str:
        return f"{self._entries} among others"


class Lacking:
    """Equal to every map without this key."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self._key not in other

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        return f"without {self._key}"
