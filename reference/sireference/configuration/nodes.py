"""The tree a YAML text is read into: words, lists and mappings that remember their places."""

from dataclasses import dataclass

# YAML 1.1, "null": what a plain word may say to mean nothing.
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column of the text, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Word:
    """A scalar, as it is written: no word is a number, a date or a boolean by itself."""

    place: Place
    text: str
    plain: bool = True
    size: int = 1

    @property
    def states_nothing(self) -> bool:
        """Whether this is YAML's null, which stands for a key that is not written."""
        return self.plain and self.text in _NOTHING


@dataclass(frozen=True, slots=True)
class Series:
    """A list; `size` counts the nodes in it, those that come from aliases too."""

    place: Place
    items: tuple["Node", ...]
    size: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping and what stands under it."""

    key: Word
    value: "Node"


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping with distinct keys, in the text's order; `size` as for lists."""

    place: Place
    entries: tuple[Entry, ...]
    size: int


Node = Word | Series | Mapping
