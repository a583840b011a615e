"""Nodes of a YAML text: words, lists and mappings with their places."""

from dataclasses import dataclass

# YAML 1.1, "null": the plain words that mean no value.
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column of the text, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Word:
    """A scalar as written; it is not interpreted as a number, a date or a boolean."""

    place: Place
    text: str
    plain: bool = True
    size: int = 1

    @property
    def states_nothing(self) -> bool:
        """Return whether this is YAML's null, equivalent to a key that is not written."""
        return self.plain and self.text in _NOTHING


@dataclass(frozen=True, slots=True)
class Series:
    """A list; `size` counts the nodes in it, including those from aliases."""

    place: Place
    items: tuple["Node", ...]
    size: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping and its value."""

    key: Word
    value: "Node"


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping with distinct keys in text order; `size` as for lists."""

    place: Place
    entries: tuple[Entry, ...]
    size: int


Node = Word | Series | Mapping
