"""Names that may have been used before, remembered as long as there are not too many."""

from typing import Final

_MOST: Final = 100_000


class Remembered:
    """The names an RM has used; once there were too many, any name counts as used."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._names: set[str] = set()
        self._is_full = False

    def __contains__(self, name: str) -> bool:
        return self._is_full or name in self._names

    def add(self, *names: str) -> None:
        """Note these names."""
        if self._is_full:
            return
        self._names.update(names)
        if len(self._names) > self._most:
            self._is_full = True
            self._names.clear()
