"""Keeps the messages around violations while a trace is read, in bounded memory."""

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from siconform.monitors.trace_result import Violation, kind_of
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.recording.elements import element
from siconform.recording.history import Entry

_REMEMBERED: Final = 10_000  # elements among which related ones are looked for
_BEFORE: Final = 10  # related elements before a violation
_AFTER: Final = 2
_AFTER_WITHIN: Final = 200  # elements
_OF_A_KIND: Final = 3  # violations with messages
_WORD: Final = re.compile(r"[\w.:/-]+")
_OF_A_KEY: Final = ("key", "identity")
_OTHERS: Final = ("application", "node")

Placed = tuple[tuple[int, int], Entry]
"""An element after the number of its file and of its line."""


@dataclass(slots=True)
class _Kept:
    """The messages around one violation; ``wanted`` related ones may still follow."""

    names: frozenset[str]
    rm: str
    elements: list[Placed] = field(default_factory=list)
    wanted: int = _AFTER
    until: int = 0  # of the elements of the trace

    def is_related(self, entry: Entry) -> bool:
        """Return whether the subject of an element is something that the violation is about."""
        return entry.rm == self.rm and not self.names.isdisjoint(_subject(_names_in(entry)))


class Surroundings:
    """Remembers the last elements of a trace, and those related to each violation.

    A violation is about the names in its message and in the element at which a monitor found it.
    """

    def __init__(self) -> None:
        self._recent: deque[Placed] = deque(maxlen=_REMEMBERED)
        self._passed = 0
        self._kept: dict[Violation, _Kept] = {}
        self._of_kinds: Counter[tuple[str, str]] = Counter()
        self._open: list[_Kept] = []

    def observe(self, file: int, line: int, entry: Entry) -> None:
        """Remember an element; it is called before monitors evaluate it."""
        placed = ((file, line), entry)
        self._recent.append(placed)
        self._passed += 1
        if self._open:
            for kept in self._open:
                if kept.is_related(entry):
                    kept.elements.append(placed)
                    kept.wanted -= 1
            self._open = [one for one in self._open if one.wanted and self._passed < one.until]

    def keep(self, violation: Violation) -> None:
        """Keep what is related to a violation by the last element."""
        kind = violation.monitor, kind_of(violation.message)
        self._of_kinds[kind] += 1
        if self._of_kinds[kind] > _OF_A_KIND or not self._recent:
            return
        entry = self._recent[-1][1]
        found = _names_in(entry)
        names = {name for some in found.values() for name in some}
        names.update(word.rstrip(".:") for word in _WORD.findall(violation.message))
        kept = _Kept(frozenset(names), entry.rm, until=self._passed + _AFTER_WITHIN)
        before: list[Placed] = []
        for one in reversed(self._recent):
            if one[1].number == entry.number or kept.is_related(one[1]):
                before.append(one)
            if len(before) > _BEFORE:
                break
        kept.elements += reversed(before)
        self._kept[violation] = kept
        self._open.append(kept)

    def around(self) -> dict[Violation, Sequence[Mapping[str, Any]]]:
        """Return the records around each violation of which they were kept.

        A record is that of a history with ``place``, the numbers of its file and of its line.
        """
        return {
            violation: [_record(*one) for one in kept.elements]
            for violation, kept in self._kept.items()
        }


def _subject(names: Mapping[str, set[str]]) -> set[str]:
    """Return the names of what an element is about: a key, else an application, else a node."""
    of_a_key = set[str]().union(*(names[kind] for kind in _OF_A_KEY))
    return of_a_key or next((names[kind] for kind in _OTHERS if names[kind]), set())


def _names_in(entry: Entry) -> dict[str, set[str]]:
    """Return the names in an element by field, also of nested ones."""
    found: dict[str, set[str]] = {kind: set() for kind in (*_OF_A_KEY, *_OTHERS)}
    content = entry.content
    if not isinstance(content, (RegistrationRequested, RegistrationAnswered)):
        for kind, name in _fields(element(content)):
            if kind in found and name:
                found[kind].add(name)
    return found


def _fields(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, Mapping):
            yield from _fields(value)


def _record(place: tuple[int, int], entry: Entry) -> Mapping[str, Any]:
    return {**entry.received(), "place": place, "aside": False}
