"""Keeps the messages around violations while a trace is read, in bounded memory."""

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Final

import msgspec

from siconform.monitors.trace_result import Violation, kind_of
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.recording.history import Entry

_REMEMBERED: Final = 10_000  # elements among which related ones are looked for
_BEFORE: Final = 10  # related elements before a violation
_AFTER: Final = 2
_AFTER_WITHIN: Final = 200  # elements
_OF_A_KIND: Final = 3  # violations with messages
_WORD: Final = re.compile(r"[\w.:/-]+")
_OF_A_KEY: Final = ("key", "identity")
_OTHERS: Final = ("application", "node")
_NAMES: Final = frozenset((*_OF_A_KEY, *_OTHERS))


@dataclass(slots=True)
class _Placed:
    """An element, and the numbers of its file and of its line."""

    place: tuple[int, int]
    entry: Entry
    _subject: frozenset[str] | None = None

    def subject(self) -> frozenset[str]:
        """Return the names of what it is about: a key, else an application, else a node."""
        if self._subject is None:
            self._subject = _subject(_names_in(self.entry.content))
        return self._subject


@dataclass(slots=True)
class _Kept:
    """The messages around one violation; ``wanted`` related ones may still follow."""

    names: frozenset[str]
    rm: str
    elements: list[_Placed] = field(default_factory=list)
    wanted: int = _AFTER
    until: int = 0  # of the elements of the trace

    def is_related(self, placed: _Placed) -> bool:
        """Return whether the subject of an element is something that the violation is about."""
        return placed.entry.rm == self.rm and not self.names.isdisjoint(placed.subject())


class Surroundings:
    """Remembers the last elements of a trace, and those related to each violation.

    A violation is about the names in its message and in the element at which a monitor found it.
    """

    def __init__(self) -> None:
        self._recent: deque[_Placed] = deque(maxlen=_REMEMBERED)
        self._passed = 0
        self._kept: dict[Violation, _Kept] = {}
        self._of_kinds: Counter[tuple[str, str]] = Counter()
        self._open: list[_Kept] = []

    def observe(self, file: int, line: int, entry: Entry) -> None:
        """Remember an element; it is called before monitors evaluate it."""
        placed = _Placed((file, line), entry)
        self._recent.append(placed)
        self._passed += 1
        if self._open:
            for kept in self._open:
                if kept.is_related(placed):
                    kept.elements.append(placed)
                    kept.wanted -= 1
            self._open = [one for one in self._open if one.wanted and self._passed < one.until]

    def keep(self, violation: Violation) -> None:
        """Keep what is related to a violation by the last element."""
        kind = violation.monitor, kind_of(violation.message)
        self._of_kinds[kind] += 1
        if self._of_kinds[kind] > _OF_A_KIND or not self._recent:
            return
        entry = self._recent[-1].entry
        names = {*_names_in(entry.content).values()}
        names.update(word.rstrip(".:") for word in _WORD.findall(violation.message))
        kept = _Kept(frozenset(names), entry.rm, until=self._passed + _AFTER_WITHIN)
        before: list[_Placed] = []
        for one in reversed(self._recent):
            if one.entry.number == entry.number or kept.is_related(one):
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
            violation: [_record(one.place, one.entry) for one in kept.elements]
            for violation, kept in self._kept.items()
        }


def _subject(names: Mapping[str, str]) -> frozenset[str]:
    of_a_key = frozenset(names[kind] for kind in _OF_A_KEY if kind in names)
    others = (frozenset({names[kind]}) for kind in _OTHERS if kind in names)
    return of_a_key or next(others, frozenset())


def _names_in(content: object) -> dict[str, str]:
    """Return the names in an element by field, also of nested ones."""
    found: dict[str, str] = {}
    if not isinstance(content, (RegistrationRequested, RegistrationAnswered)):
        kind: type = type(content)
        for field_name in _fields_of(kind):
            value = getattr(content, field_name)
            if not isinstance(value, str):
                found.update(_names_in(value))
            elif value and field_name in _NAMES:
                found[field_name] = value
    return found


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    return tuple(one.name for one in fields(kind)) if is_dataclass(kind) else ()


def _record(place: tuple[int, int], entry: Entry) -> Mapping[str, Any]:
    return {**entry.received(), "place": place, "aside": False}
