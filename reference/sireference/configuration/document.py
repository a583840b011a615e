"""YAML reader: any text to a tree of nodes with their places.

The tree is built from the parser's events, not by its composer: nesting is limited before any
recursion, and aliases cannot expand a short text into a huge tree. All scalars stay strings, as in
the Go core (PyYAML's usual loaders turn `on` into True and `010` into 8).
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from sireference.configuration.nodes import Entry, Mapping, Node, Place, Series, Word
from sireference.configuration.problems import ConfigurationProblem, quoted

# A queue takes two levels (its list and its mapping), so this is some sixty queues deep.
MOST_NESTED = 128
_TOO_DEEP = f"nested more than {MOST_NESTED} levels deep"
# The YAML maximum for a key without an explicit question mark.
LONGEST_KEY = 1024
# Characters of a key in a path, which every problem below it repeats.
_LONGEST_STEP = 64
# Problems with their own place and path, before reading stops.
MOST_REPORTED = 1000
# Nodes that aliases may add; far more than any real configuration repeats.
MOST_REPEATED = 100_000

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
# YAML 1.1, production c-printable; the parser rejects everything else without a usable place.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Tags for kinds of values that the reader determines anyway.
_HARMLESS_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "map", "seq"))
_MERGE = "<<"


@dataclass(slots=True)
class _Open:
    """A list or a mapping whose end is not read yet."""

    place: Place
    is_mapping: bool
    anchor: str | None
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    merged: list[Node] = field(default_factory=list)
    key: Word | None = None
    size: int = 1

    @property
    def step(self) -> str:
        """Return what the path of the next node adds to the path of this one."""
        if not self.is_mapping:
            return f"[{len(self.items)}]"
        if self.key is None:
            return ""
        key = self.key.text
        return f".{key}" if len(key) <= _LONGEST_STEP else f".{key[:_LONGEST_STEP]}..."


class _Unreadable(Exception):
    """The rest of the text cannot be read."""


def read_document(text: str) -> tuple[Node | None, tuple[ConfigurationProblem, ...]]:
    """Read the one document in the text; return None if it is empty or unreadable.

    Never raises: invalid YAML, too deep nesting, repeated keys and self-referencing anchors are
    problems. The tree is usable despite problems at single places (a repeated key).
    """
    unprintable = _UNPRINTABLE.search(text)
    if unprintable:
        place = _place_of(text, unprintable.start())
        problem = f"the character U+{ord(unprintable.group()):04X} is not allowed in YAML"
        return None, (ConfigurationProblem("", place.line, place.column, problem),)
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except _Unreadable:
        return None, tuple(builder.problems)
    except yaml.YAMLError as error:
        builder.problems.append(_problem(error, text))
        return None, tuple(builder.problems)
    return builder.root, tuple(builder.problems)


class _Builder:
    """Builds the tree event by event."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.problems: list[ConfigurationProblem] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._documents = 0
        self._repeated = 0

    def take(self, event: yaml.Event) -> None:
        """Handle the next event of the parser."""
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self.refuse(_place(event.start_mark), "a second document; one is read", path="")
                    raise _Unreadable
            case yaml.ScalarEvent():
                self._check_tag(event)
                plain = event.implicit[0] and event.tag is None
                self._add(Word(_place(event.start_mark), event.value, plain), event.anchor)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._begin(event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._end()
            case yaml.AliasEvent():
                self._repeat(event)
            case _:
                pass

    def refuse(self, place: Place, problem: str, path: str | None = None) -> None:
        """Report a problem at a place; the default path is the current one."""
        if path is None:
            path = self._path()
        self.problems.append(ConfigurationProblem(path, place.line, place.column, problem))
        if len(self.problems) >= MOST_REPORTED:
            raise _Unreadable

    def _path(self) -> str:
        return "".join(level.step for level in self._open).removeprefix(".")

    def _begin(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent) -> None:
        place = _place(event.start_mark)
        self._check_tag(event)
        if len(self._open) >= MOST_NESTED:
            self.refuse(place, _TOO_DEEP, path="")
            raise _Unreadable
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._open.append(_Open(place, is_mapping, event.anchor))

    def _end(self) -> None:
        done = self._open.pop()
        node: Node
        if done.is_mapping:
            self._merge(done)
            node = Mapping(done.place, tuple(done.entries.values()), done.size)
        else:
            node = Series(done.place, tuple(done.items), done.size)
        self._add(node, done.anchor)

    def _repeat(self, event: yaml.AliasEvent) -> None:
        place = _place(event.start_mark)
        node = self._anchors.get(event.anchor or "")
        if node is None:
            inside = any(level.anchor == event.anchor for level in self._open)
            problem = "refers to a node that contains it" if inside else "refers to no anchor"
            self.refuse(place, f"*{event.anchor} {problem}")
            raise _Unreadable
        self._repeated += node.size
        if self._repeated > MOST_REPEATED:
            self.refuse(place, f"aliases repeat more than {MOST_REPEATED} nodes")
            raise _Unreadable
        self._add(node, None)

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self.root = node
            return
        level = self._open[-1]
        level.size += node.size
        if not level.is_mapping:
            level.items.append(node)
        elif level.key is None:
            level.key = self._key(node)
        else:
            self._enter(level, level.key, node)
            level.key = None

    def _key(self, node: Node) -> Word:
        if not isinstance(node, Word):
            self.refuse(node.place, "a key must be a word")
            raise _Unreadable
        if len(node.text) > LONGEST_KEY:
            self.refuse(node.place, f"a key has more than {LONGEST_KEY} characters")
            raise _Unreadable
        return node

    def _enter(self, level: _Open, key: Word, value: Node) -> None:
        if key.plain and key.text == _MERGE:
            level.merged.append(value)
        elif key.text in level.entries:
            first = level.entries[key.text].key.place.line
            self.refuse(key.place, f"written twice, first in line {first}")
        else:
            level.entries[key.text] = Entry(key, value)

    def _merge(self, level: _Open) -> None:
        """Add the keys of `<<: *other`; keys of the mapping itself take precedence."""
        for merged in level.merged:
            for source in merged.items if isinstance(merged, Series) else (merged,):
                if not isinstance(source, Mapping):
                    self.problems.append(_not_a_mapping(self._path(), source))
                    continue
                for entry in source.entries:
                    level.entries.setdefault(entry.key.text, entry)

    def _check_tag(self, event: yaml.CollectionStartEvent | yaml.ScalarEvent) -> None:
        if event.tag is not None and event.tag != "!" and event.tag not in _HARMLESS_TAGS:
            self.refuse(
                _place(event.start_mark), f"the tag {quoted(event.tag)} has no meaning here"
            )


def _problem(error: yaml.YAMLError, text: str) -> ConfigurationProblem:
    mark = getattr(error, "problem_mark", None)
    place = _place(mark) if mark else Place(1, 1)
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    if "nesting depth" in problem:  # libyaml reports this ahead of our events
        return ConfigurationProblem("", place.line, place.column, _TOO_DEEP)
    if mark and text[mark.index : mark.index + 1] == "\t":
        problem = "a tab cannot indent, spaces can"
    return ConfigurationProblem("", place.line, place.column, f"not YAML: {problem}")


def _not_a_mapping(path: str, node: Node) -> ConfigurationProblem:
    path = f"{path}.{_MERGE}" if path else _MERGE
    return ConfigurationProblem(path, node.place.line, node.place.column, "must be a mapping")


def _place(mark: Any) -> Place:
    # Any: the marks of libyaml and Python have no common type, and no read event lacks one.
    return Place(mark.line + 1, mark.column + 1)


def _place_of(text: str, position: int) -> Place:
    before = text[:position]
    return Place(before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1)
