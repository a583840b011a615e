"""Matchers: stand for a value in a pattern and decide which values it accepts."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self


class _Any:
    """Matches everything; the default of every field of a pattern."""

    def __repr__(self) -> str:
        return "any"


ANY: Final[Any] = _Any()


class Matcher(str):
    """Stands in a pattern for every value that it accepts.

    It is the text shown for the pattern, and so fits wherever a name does. As a value it equals
    that text and has its hash; which values it accepts is decided by ``accepts``, never by ``==``.
    """

    __slots__ = ()

    @abstractmethod
    def accepts(self, received: object) -> bool:
        """Return whether this value is accepted."""

    @property
    def only(self) -> str | None:
        """The single string it accepts; None if it accepts several values or none."""
        return None


class AnotherThan(Matcher):
    """Every string that differs from this one."""

    __slots__ = ("unwanted",)

    unwanted: str

    def __new__(cls, unwanted: str) -> Self:
        """Create the pattern of anything but this."""
        matcher = super().__new__(cls, f"anything but {unwanted}")
        matcher.unwanted = str(unwanted)
        return matcher

    def accepts(self, received: object) -> bool:
        """Return whether it is a different string."""
        return isinstance(received, str) and received != self.unwanted


class NoneOf(Matcher):
    """Every string but these."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, names: Iterable[str], words: str) -> Self:
        """Create the pattern of anything but these, which the words describe."""
        none_of = super().__new__(cls, words)
        none_of.names = frozenset(names)
        return none_of

    def accepts(self, received: object) -> bool:
        """Return whether it is none of them."""
        return isinstance(received, str) and received not in self.names


class OneOf(Matcher):
    """Each of these strings."""

    __slots__ = ("names",)

    names: frozenset[str]

    def __new__(cls, names: Iterable[str]) -> Self:
        """Create the pattern of any of these."""
        known = frozenset(map(str, names))
        matcher = super().__new__(cls, " or ".join(sorted(known)))
        matcher.names = known
        return matcher

    def accepts(self, received: object) -> bool:
        """Return whether it is among them."""
        return isinstance(received, str) and received in self.names

    @property
    def only(self) -> str | None:
        """The name, if there is only one."""
        return next(iter(self.names)) if len(self.names) == 1 else None


class PartitionNamed(Matcher):
    """A partition by the name the RM gave it, in any full form of the scheduler.

    That is the name itself, or a normalised form that contains it, like [rm]default.
    """

    __slots__ = ()

    def accepts(self, received: object) -> bool:
        """Return whether it contains the name."""
        return isinstance(received, str) and self.casefold() in received.casefold()


class QueueNamed(Matcher):
    """A queue by its full path, or by the end of it from any of its queues on, like parent.left.

    No sentence states how a scheduler forms the name of a queue.
    """

    __slots__ = ()

    def accepts(self, received: object) -> bool:
        """Return whether it is the path or one of its ends."""
        return isinstance(received, str) and f".{self}".endswith(f".{received}") and received != ""


class Including(Matcher):
    """Every map with these entries, and possibly more."""

    __slots__ = ("_entries",)

    _entries: Mapping[str, object]

    def __new__(cls, entries: Mapping[str, object]) -> Self:
        """Create the pattern of any map with these entries."""
        matcher = super().__new__(cls, f"{dict(entries)} among others")
        matcher._entries = dict(entries)
        return matcher

    def accepts(self, received: object) -> bool:
        """Return whether it is a map with them."""
        return isinstance(received, Mapping) and self._entries.items() <= received.items()


class Lacking(Matcher):
    """Every map without this key."""

    __slots__ = ("_key",)

    _key: str

    def __new__(cls, key: str) -> Self:
        """Create the pattern of any map without it."""
        matcher = super().__new__(cls, f"without {key}")
        matcher._key = key
        return matcher

    def accepts(self, received: object) -> bool:
        """Return whether it is a map without the key."""
        return isinstance(received, Mapping) and self._key not in received


class _Unsupported(str):
    __slots__ = ()


UNSUPPORTED: Final = _Unsupported()
"""The value of a field the revision does not have; it matches every pattern."""


def agree(wanted: Any, received: Any) -> bool:
    """Return whether a value matches a pattern; a missing type in amounts counts as zero."""
    if received is UNSUPPORTED:
        return True
    if isinstance(wanted, Matcher):
        return wanted.accepts(received)
    if isinstance(wanted, Mapping) and isinstance(received, Mapping):
        return _present(wanted) == _present(received)
    return bool(wanted == received)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value != 0}
