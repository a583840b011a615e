"""Fields: a node of the document with its path and its problems."""

import difflib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TypeVar

from sireference.configuration.nodes import Mapping, Node, Place, Series, Word
from sireference.configuration.problems import ConfigurationProblem, quoted

T = TypeVar("T")

# A longer key is not a misspelling, and comparing it would be slow.
_LONGEST_GUESS = 64


@dataclass(slots=True)
class Report:
    """The problems found so far, and place and parent of every path read so far."""

    problems: list[ConfigurationProblem] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    _blamed: set[str] = field(default_factory=set)

    def refuse(self, path: str, problem: str, place: Place | None = None) -> None:
        """Report a problem; the default place is that of the path or its nearest parent."""
        place = place or self._nearest(path)
        self.add(ConfigurationProblem(path, place.line, place.column, problem))

    def add(self, problem: ConfigurationProblem) -> None:
        """Report a problem with its place."""
        self.problems.append(problem)
        self.blame(problem.path)

    def blame(self, path: str) -> None:
        """Remember that a problem at the path is reported."""
        while path and path not in self._blamed:
            self._blamed.add(path)
            path = self._above(path)

    def refuse_again(self, path: str, problem: str, causes: Collection[str] = ()) -> None:
        """Report a problem unless a likely cause of it is already reported.

        A likely cause is a problem at or below the path, or at or below one of the causes if any
        are given.
        """
        if not any(cause in self._blamed for cause in causes or (path,)):
            self.refuse(path, problem)

    def _nearest(self, path: str) -> Place:
        while path and path not in self.places:
            path = self._above(path)
        return self.places.get(path, Place(1, 1))

    def _above(self, path: str) -> str:
        """Return the path without its last key, which may contain dots if it was read."""
        parent = self.parents.get(path)
        return path[: max(path.rfind("."), path.rfind("["), 0)] if parent is None else parent


@dataclass(frozen=True, slots=True)
class Field:
    """A node with its path; None stands for a key that is not written.

    Every reading method returns the neutral value (None, empty) where there is nothing to read or
    the content is wrong; in that case it has reported the problem.
    """

    path: str
    node: Node | None
    report: Report

    @property
    def is_written(self) -> bool:
        """Return whether there is a value; YAML's null is none, as in the Go core."""
        return self.node is not None and not (
            isinstance(self.node, Word) and self.node.states_nothing
        )

    def refuse(self, problem: str) -> None:
        """Report a problem with the value."""
        self.report.refuse(self.path, problem)

    def keys(self, known: Collection[str]) -> "Keys":
        """Read a mapping with known keys; any other key is a problem."""
        pairs = self.pairs()
        for name, pair in pairs.items():
            if name in known:
                continue
            guess = difflib.get_close_matches(name[:_LONGEST_GUESS].lower(), known, n=1)
            problem = f"unknown key; did you mean {guess[0]}?" if guess else "unknown key"
            self.report.refuse(pair.path, problem, pair.key_place)
            if guess:  # do not also report the intended key as missing
                self.report.blame(_below(self.path, guess[0]))
        return Keys(self, {name: pair.value for name, pair in pairs.items()})

    def pairs(self) -> dict[str, "Pair"]:
        """Read a mapping with any keys."""
        if not self.is_written:
            return {}
        if not isinstance(self.node, Mapping):
            self.refuse("must be a mapping")
            return {}
        pairs = {}
        for entry in self.node.entries:
            name = entry.key.text
            path = _below(self.path, name)
            value = _field(path, entry.value, self.report, self.path)
            pairs[name] = Pair(path, entry.key.place, value)
        return pairs

    def entries(self) -> tuple["Field", ...]:
        """Read a list."""
        if not self.is_written:
            return ()
        if not isinstance(self.node, Series):
            self.refuse("must be a list")
            return ()
        return tuple(
            _field(f"{self.path}[{index}]", item, self.report, self.path)
            for index, item in enumerate(self.node.items)
        )

    def mappings(self) -> tuple["Field", ...]:
        """Read a list of mappings; other items are problems and left out."""
        kept = []
        for item in self.entries():
            if isinstance(item.node, Mapping):
                kept.append(item)
            else:
                item.refuse("must be a mapping")
        return tuple(kept)

    def word(self) -> Word | None:
        """Read a scalar, or None."""
        if not self.is_written:
            return None
        if not isinstance(self.node, Word):
            self.refuse("must be a single value")
            return None
        return self.node

    def text(self) -> str:
        """Read a scalar as text."""
        word = self.word()
        return word.text if word else ""

    def read(self, reading: Callable[[str], T], otherwise: T) -> T:
        """Read a scalar with a function whose ValueError gives the reason."""
        word = self.word()
        return otherwise if word is None else self._read(word.text, reading, otherwise)

    def read_plain(self, reading: Callable[[str], T], otherwise: T) -> T:
        """Read a scalar that quotes would turn into text, such as a number or a switch."""
        word = self.word()
        if word is None:
            return otherwise
        if not word.plain:
            self.refuse(f"{quoted(word.text)} must be written without quotes")
            return otherwise
        return self._read(word.text, reading, otherwise)

    def _read(self, text: str, reading: Callable[[str], T], otherwise: T) -> T:
        try:
            return reading(text)
        except ValueError as error:
            self.refuse(str(error))
            return otherwise


@dataclass(frozen=True, slots=True)
class Pair:
    """One key of a mapping with any keys."""

    path: str
    key_place: Place
    value: Field


@dataclass(frozen=True, slots=True)
class Keys:
    """The known keys of a mapping; a key that is not written gives an empty field."""

    mapping: Field
    written: dict[str, Field]

    def __getitem__(self, name: str) -> Field:
        field = self.written.get(name)
        if field is not None:
            return field
        return Field(_below(self.mapping.path, name), None, self.mapping.report)


def top_field(node: Node, report: Report) -> Field:
    """Return the field for the top of a document."""
    return _field("", node, report, "")


def _field(path: str, node: Node, report: Report, parent: str) -> Field:
    report.places[path] = node.place
    report.parents[path] = parent
    return Field(path, node, report)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
