"""The result of checking a trace: what was violated, what held and how often, what was unknown."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from siconform.catalogue import Requirement, Side

MOST_VIOLATIONS: Final = 10
"""How many violations of a rule are kept, beside the first of each kind; all are counted."""

_NUMBERED: Final = re.compile(r"[^\W_]*\d[^\W_]*")


class TraceVerdict(StrEnum):
    """What a trace shows about a requirement; it never shows conformance."""

    VIOLATED = "violated"
    HELD = "held"
    NOT_EXERCISED = "not exercised"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a line is: in the trace, in its file, and in time."""

    file_number: int  # of the files in reading order, from 0
    line: int  # from 1
    file: str = ""  # as given or found; "-" for standard input
    at: float = 0.0  # seconds as written, since the trace began or since 1970


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of a requirement, found by a monitor at a line."""

    position: Position
    rm: str
    monitor: str
    message: str


def kind_of(message: str) -> str:
    """Return a violation's message without numbers and words with digits."""
    return _NUMBERED.sub("#", message)


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """What the monitors of both sides found about one requirement."""

    requirement: Requirement
    sides: tuple[Side, ...]  # whose monitors check it
    monitors: tuple[str, ...]
    held: int  # how often a rule about it had something to check
    violated: int  # how often it was violated
    violations: tuple[Violation, ...] = ()  # those that were kept, in order

    @property
    def verdict(self) -> TraceVerdict:
        """The verdict in a word."""
        if self.violated:
            return TraceVerdict.VIOLATED
        return TraceVerdict.HELD if self.held else TraceVerdict.NOT_EXERCISED


@dataclass(frozen=True, slots=True)
class CutOff:
    """A last line that the writer had not finished."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Totals:
    """What was read."""

    lines: int = 0
    messages: int = 0
    elements: int = 0
    rms: Mapping[str, int] = field(default_factory=dict)  # elements by the RM's id
    seconds: float = 0.0  # from the first to the last message
    callbacks: int = 0  # elements of callbacks to RMs and of their answers
    dropped: int = 0  # messages that the writer lost
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Elements about what had begun before the trace or before a drop, by the RM's id."""
    forgotten: int = 0  # elements about what ended so long before that it was forgotten
    cut_off: tuple[CutOff, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceResult:
    """The result of a trace."""

    source: str  # the file or directory as given, "-" for standard input
    files: tuple[str, ...]
    revision: str
    requirements: tuple[RequirementResult, ...]  # in catalogue order
    totals: Totals
    around: Mapping[Violation, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """The records around violations, as far as they were kept (``trace_surroundings``)."""

    def of(self, verdict: TraceVerdict) -> tuple[RequirementResult, ...]:
        """Return the requirements with this verdict."""
        return tuple(one for one in self.requirements if one.verdict is verdict)
