"""Matchers: each stands in a pattern for a value, and says which values it accepts."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self


class Matcher(str):
    """Stands in a pattern for every value that it accepts.

    It is the text that people read in a pattern, and so goes wherever a name goes. As a value it
    is that text and nothing else, equal to it and with its hash: what it accepts is asked of
    ``accepts``, never by ``==``.
    """

    __slots__ = ()

    @abstractmethod
    def accepts(self, received: object) -> bool:
        """Whether this value will do."""

    @property
    def only(self) -> str | None:
        """The one text it accepts; None where it accepts several values, or none."""
        return None


class AnotherThan(Matcher):
    """Every text that differs from this one."""

    __slots__ = ("unwanted",)

    unwanted: str

    def __new__(cls, unwanted: str) -> Self:
        """Anything but this."""
        matcher = super().__new__(cls, f"anything but {unwanted}")
        matcher.unwanted = str(unwanted)
        return matcher

    def accepts(self, received: object) -> bool:
        """Whether it is a text, and another one."""
        return isinstance(received, str) and received != self.unwanted


class OneOf(Matcher):
    """Each of these texts."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, names: Iterable[str]) -> Self:
        """Any of these."""
        known = frozenset(map(str, names))
        matcher = super().__new__(cls, " or ".join(sorted(known)))
        matcher.names = known
        return matcher

    def accepts(self, received: object) -> bool:
        """Whether it is among them."""
        return isinstance(received, str) and received in self.names

    @property
    def only(self) -> str | None:
        """The name, where there is one."""
        return next(iter(self.names)) if len(self.names) == 1 else None


class PartitionNamed(Matcher):
    """A partition by the name the RM gave it, however the scheduler writes it in full.

    That is the name itself, or a normalised form that contains it, like [rm]default.
    """

    __slots__ = ()

    def accepts(self, received: object) -> bool:
        """Whether it contains the name."""
        return isinstance(received, str) and self.casefold() in received.casefold()


class Including(Matcher):
    """Every map that has these entries, whatever else is in it."""

    __slots__ = ("_entries",)

    _entries: Mapping[str, object]

    def __new__(cls, entries: Mapping[str, object]) -> Self:
        """Any map with these entries."""
        matcher = super().__new__(cls, f"{dict(entries)} among others")
        matcher._entries = dict(entries)
        return matcher

    def accepts(self, received: object) -> bool:
        """Whether it is a map that has them."""
        return isinstance(received, Mapping) and self._entries.items() <= received.items()


class Lacking(Matcher):
    """Every map without this key."""

    __slots__ = ("_key",)

    _key: str

    def __new__(cls, key: str) -> Self:
        """Any map without it."""
        matcher = super().__new__(cls, f"without {key}")
        matcher._key = key
        return matcher

    def accepts(self, received: object) -> bool:
        """Whether it is a map without the key."""
        return isinstance(received, Mapping) and self._key not in received


class _Unsaid(str):
    __slots__ = ()


UNSAID: Final = _Unsaid()
"""Told where the revision has no field: no text, and yet as whatever pattern wants it."""


def agree(wanted: Any, received: Any) -> bool:
    """Whether a value is as a pattern wants it; in amounts a type left out counts as zero."""
    if received is UNSAID:
        return True
    if isinstance(wanted, Matcher):
        return wanted.accepts(received)
    if isinstance(wanted, Mapping) and isinstance(received, Mapping):
        return _present(wanted) == _present(received)
    return bool(wanted == received)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value != 0}
