"""Recorded exchanges, read line by line and evaluated by the monitors of both sides."""

import gc
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, Final

from siwire import Revision, find_revision

from siconform.catalogue import Side, catalogue
from siconform.child_call import child_call
from siconform.monitors.monitor import Monitor
from siconform.monitors.registry import MONITORS_OF
from siconform.monitors.trace_context import Surroundings
from siconform.monitors.trace_reading import Found, TraceReading
from siconform.monitors.trace_result import (
    CutOff,
    Position,
    RequirementResult,
    Totals,
    TraceResult,
    Violation,
)
from siconform.protocol import callbacks
from siconform.protocol.events import EventReceived
from siconform.protocol.subjects import Identity
from siconform.recording.elements import Unreplayable
from siconform.recording.trace_lines import Line, TraceLines, found_files
from siconform.transport.dialects import dialect_for
from siconform.transport.trace_entries import Began, Dropped, TraceEntries, UnusableLine

Report = Callable[[TraceResult], None]
"""Called with the result so far, every few seconds of a trace that is followed."""

_CALLBACKS: Final = (
    callbacks.PlacementCheck,
    callbacks.EvictionCheck,
    callbacks.SchedulingReported,
    callbacks.Answered,
    callbacks.CallbacksOffered,
    EventReceived,
)
_REPORTED_EVERY: Final = 5.0  # seconds
_NEW_OBJECTS: Final = 200_000  # before garbage is looked for
_LONG: Final = 16 << 20  # bytes, from which further processes are worth their start
_MOST_PROCESSES: Final = 8  # each decodes the whole trace
_ALL_TYPES: Final = 20  # contents, about, that a monitor of all of them is called with


class UnusableTrace(ValueError):
    """A trace that cannot be checked; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Monitored:
    """A monitor with the side that it checks."""

    side: Side
    monitor: Monitor


def monitors_for(identity: Identity, lacks: Collection[str] = ()) -> list[Monitored]:
    """Return the monitors of both sides, without those for features that the scheduler lacks."""
    return [
        Monitored(side, monitor)
        for side, monitors in MONITORS_OF.items()
        for monitor in monitors
        if monitor.presupposes not in lacks and monitor.identity in (None, identity)
    ]


class TraceCheck:
    """A trace that is being checked; ``read`` takes its lines one by one."""

    def __init__(
        self,
        revision: Revision,
        monitored: Sequence[Monitored],
        files: Sequence[str],
    ) -> None:
        """``files`` are the names by the number of a line's file; it may grow."""
        self.surroundings: Final = Surroundings()
        self._revision = revision
        self.monitored: Final = monitored
        self._entries = TraceEntries(revision)
        self._reading = TraceReading(
            self._entries.identity,
            [one.monitor for one in monitored],
            self._entries.forget,
            lambda _, found: self.surroundings.keep(found),
        )
        self.files: Final = files
        self._line = Line(0, 0, b"")
        self._began: float | None = None
        self._is_new = True  # nothing was read since the trace began
        self._lines = 0
        self._messages = 0
        self._last_message = (-1, "")  # its number and RM
        self._span: tuple[float, float] | None = None
        self._seconds = 0.0
        self._callbacks = 0
        self._dropped = 0
        self._cut_off: list[CutOff] = []

    @property
    def found(self) -> Sequence[Found]:
        """What each monitor found."""
        return self._reading.found

    @property
    def decoded(self) -> int:
        """The number of elements."""
        return self._reading.elements.total()

    def read(self, line: Line) -> None:
        """Evaluate a line; UnusableTrace if it is not one of a trace."""
        self._line = line
        self._lines += 1
        if not line.is_complete:
            self._cut_off.append(CutOff(self.files[line.file], line.number))
            return
        if not line.data.strip():
            return
        try:
            read = self._entries.of(line.data)
        except (UnusableLine, Unreplayable) as error:
            where = f"{self.files[line.file]}, line {line.number}"
            raise UnusableTrace(f"{where}: {error}") from None
        if isinstance(read, Began):
            self._begin(read)
        elif isinstance(read, Dropped):
            self._dropped += read.messages
            self._begin_unknown()
        elif read is not None:
            self._observe(read.at, read.number, read.rm)
            for entry in read.entries:
                self._callbacks += isinstance(entry.content, _CALLBACKS)
                self.surroundings.observe(line.file, line.number, entry)
                self._reading.reads(entry, self._position)

    def totals(self) -> Totals:
        """Return what was read so far."""
        reading = self._reading
        first, last = self._span or (0.0, 0.0)
        return Totals(
            lines=self._lines,
            messages=self._messages,
            elements=reading.elements.total(),
            rms=dict(reading.elements),
            seconds=self._seconds + last - first,
            callbacks=self._callbacks,
            dropped=self._dropped,
            unknown=dict(reading.unknown),
            forgotten=reading.forgotten,
            cut_off=tuple(self._cut_off),
        )

    def _begin(self, header: Began) -> None:
        if header.revision and header.revision != self._revision.name:
            where = f"{self.files[self._line.file]}, line {self._line.number}"
            raise UnusableTrace(
                f"{where}: the trace has the revision {header.revision}, not {self._revision}; "
                f"use --revision {header.revision}"
            )
        if header.began == self._began:
            return
        self._began = header.began
        self._is_new = True
        self._entries.restart()
        if self._span is not None:
            self._seconds += self._span[1] - self._span[0]
            self._span = None

    def _begin_unknown(self) -> None:
        self._is_new = False
        self._entries.restart()
        self._reading.begin(is_whole=False)

    def _observe(self, at: float, number: int, rm: str) -> None:
        if self._is_new:
            self._is_new = False
            self._reading.begin(is_whole=number == 1)
        if (number, rm) != self._last_message:
            self._last_message = (number, rm)
            self._messages += 1
        self._span = (at if self._span is None else self._span[0], at)

    def _position(self, at: float) -> Position:
        line = self._line
        return Position(line.file, line.number, self.files[line.file], at)


def check_trace(
    source: str,
    revision: Revision,
    lacks: Collection[str] = (),
    *,
    follow: bool = False,
    report: Report | None = None,
) -> TraceResult:
    """Read a file, a directory or standard input ("-") and return what the monitors found.

    With ``follow`` this ends with KeyboardInterrupt, which gives the result so far. Raise
    UnusableTrace, with the line, for what cannot be checked. A long trace is read by a process for
    each processor, each with its share of the monitors.
    """
    monitored = monitors_for(dialect_for(revision).identity, lacks)
    catalogue()  # read before there is much for the garbage collector

    def result(part: _Part) -> TraceResult:
        return _result(source, revision, monitored, part)

    processes = min(os.cpu_count() or 1, _MOST_PROCESSES)
    if follow or processes == 1 or _size(source) < _LONG:
        reports = _Reports(lambda part: report(result(part))) if report is not None else None
        part = _check(source, revision, monitored, reports, follow=follow)
    else:
        first, *others = by_process = shares(monitored, processes)
        with ExitStack() as stack:
            check = f"{__name__}:{check_share.__name__}"
            calls = [child_call(check, source, revision.name, [*lacks], one) for one in others]
            results = [stack.enter_context(call) for call in calls]
            part = _check(source, revision, [monitored[number] for number in first])
            part = _merged([part, *(result() for result in results)], by_process)
    if not part.totals.elements:
        raise UnusableTrace(f"{source} contains no decoded message")
    return result(part)


@dataclass(frozen=True, slots=True)
class _Part:
    """What some monitors found, in their order."""

    files: Sequence[str]
    found: Sequence[Found]
    totals: Totals
    around: Mapping[Violation, Sequence[Mapping[str, Any]]]

    @classmethod
    def of(cls, check: TraceCheck) -> "_Part":
        """Return what was found so far."""
        around = check.surroundings.around()
        return cls(tuple(check.files), check.found, check.totals(), around)


def _merged(parts: Sequence[_Part], shares: Sequence[Sequence[int]]) -> _Part:
    """Return all of it, in the order of the numbers of the monitors of each part."""
    numbered = [
        (number, found)
        for part, share in zip(parts, shares, strict=True)
        for number, found in zip(share, part.found, strict=True)
    ]
    found = [one for _, one in sorted(numbered, key=itemgetter(0))]
    around = {violation: records for part in parts for violation, records in part.around.items()}
    return replace(parts[0], found=found, around=around)


def _check(
    source: str,
    revision: Revision,
    monitored: Sequence[Monitored],
    reports: "_Reports | None" = None,
    *,
    follow: bool = False,
) -> _Part:
    lines = _opened(source, follow=follow)
    check = TraceCheck(revision, monitored, lines.files)
    if follow and reports is not None:
        lines.meanwhile = lambda: reports.look(check)
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS)  # little refers to itself
    try:
        for line in lines:
            check.read(line)
            lines.meanwhile()
    except KeyboardInterrupt:
        if not follow:
            raise
    except OSError as error:
        raise UnusableTrace(f"{source} cannot be read: {error.strerror}") from None
    finally:
        gc.set_threshold(*before)
    return _Part.of(check)


class _Reports:
    """Reports of a trace that is followed, every few seconds if there is something new."""

    def __init__(self, report: Callable[[_Part], None]) -> None:
        self._report = report
        self._next = time.monotonic()
        self._reported = 0  # elements

    def look(self, check: TraceCheck) -> None:
        """Report what was found if it is time."""
        if time.monotonic() < self._next or check.decoded == self._reported:
            return
        self._reported = check.decoded
        self._report(_Part.of(check))
        self._next = time.monotonic() + _REPORTED_EVERY


def check_share(source: str, revision: str, lacks: Collection[str], share: Sequence[int]) -> _Part:
    """Return what the monitors of these numbers find; UnusableTrace as ``check_trace``."""
    known = find_revision(revision)
    monitored = monitors_for(dialect_for(known).identity, lacks)
    return _check(source, known, [monitored[number] for number in share])


def shares(monitored: Sequence[Monitored], processes: int) -> list[list[int]]:
    """Return the numbers of the monitors for each process, with about equal work.

    Monitors of one module stay together: they may share what they analyse.
    """
    modules: dict[str, list[int]] = {}
    for number, one in enumerate(monitored):
        modules.setdefault(one.monitor.begins.__module__, []).append(number)
    work = {
        name: sum(len(monitored[number].monitor.observes) or _ALL_TYPES for number in numbers)
        for name, numbers in modules.items()
    }
    found: list[list[int]] = [[] for _ in range(min(processes, len(modules)))]
    loads = [0] * len(found)
    for name in sorted(modules, key=work.__getitem__, reverse=True):
        least = loads.index(min(loads))
        found[least] += modules[name]
        loads[least] += work[name]
    return [sorted(numbers) for numbers in found]


def _size(source: str) -> int:
    """Return the size in bytes, 0 of standard input and of what cannot be read."""
    try:
        return sum(Path(file).stat().st_size for file in found_files(source))
    except OSError:
        return 0


def _result(
    source: str, revision: Revision, monitored: Sequence[Monitored], part: _Part
) -> TraceResult:
    """Return the result by requirement, in catalogue order."""
    by_requirement: dict[str, list[int]] = {}
    for number, one in enumerate(monitored):
        for identifier in one.monitor.requirements:
            by_requirement.setdefault(identifier, []).append(number)
    results = []
    for identifier, requirement in catalogue().items():
        numbers = by_requirement.get(identifier, [])
        if not numbers or revision.name not in requirement.revisions:
            continue
        violations = (one for number in numbers for one in part.found[number].violations)
        results.append(
            RequirementResult(
                requirement,
                tuple(dict.fromkeys(monitored[number].side for number in numbers)),
                tuple(monitored[number].monitor.name for number in numbers),
                sum(part.found[number].held for number in numbers),
                sum(part.found[number].violated for number in numbers),
                tuple(sorted(violations, key=attrgetter("position"))),
            )
        )
    return TraceResult(
        source, tuple(part.files), revision.name, tuple(results), part.totals, part.around
    )


def _opened(source: str, *, follow: bool) -> TraceLines:
    try:
        return TraceLines(source, follow=follow)
    except OSError as error:
        raise UnusableTrace(f"{source} cannot be read: {error.strerror}") from None
