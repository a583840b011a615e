"""Histories for tests of traces: all that monitors are tried with, begun by a registration."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from selftest.monitor_cases import BY_KEY_SUBJECTS, SUBJECTS
from selftest.monitor_cases.by_key import LEGAL
from selftest.sample_histories import (
    APPS_SYNCHRONISED,
    ASKS_SYNCHRONISED,
    IN_THE_CLUSTER,
    NODES_SYNCHRONISED,
    Part,
    by_key,
    exchange_of,
)
from siconform.monitors.evaluation import Reading
from siconform.monitors.monitor import Monitor, Observers
from siconform.monitors.registry import MONITORS_OF
from siconform.monitors.trace_reading import TraceReading
from siconform.monitors.trace_result import Position
from siconform.monitors.traces import monitors_for
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry, History
from siwire import REVISIONS

RECORDED = Path(__file__).parents[2] / "fixtures" / "traces"
Counts = dict[str, tuple[int, str | None]]
"""How often each rule held, by name, and its first violation."""

LEGAL_BY_KEY = "legal_by_key"
MONITORS: Sequence[Monitor] = [one for monitors in MONITORS_OF.values() for one in monitors]


@dataclass(frozen=True, eq=False)
class Sample:
    """A history with its name for the test."""

    name: str
    entries: Sequence[Entry]
    identity: Identity


@cache
def samples(subject: str) -> Sequence[Sample]:
    """Return the histories of the cases of a subject, good and bad."""
    if subject == LEGAL_BY_KEY:
        return [_sample(name, parts, Identity.KEY_OF_THE_ASK) for name, parts in LEGAL]
    cases = SUBJECTS.get(subject)
    identity = Identity.GIVEN_BY_THE_SCHEDULER
    if cases is None:
        cases, identity = BY_KEY_SUBJECTS[subject], Identity.KEY_OF_THE_ASK
    return [
        _sample(f"{case.monitor}-{number}", parts, identity)
        for case in cases
        for number, parts in enumerate((case.holds, case.idle, *(bad for _, bad in case.broken)))
    ]


@cache
def legal_samples(subject: str) -> Sequence[Sample]:
    """Return those in which no monitor finds a violation."""
    return [sample for sample in samples(subject) if not violated(as_run_reads(sample))]


def _sample(name: str, parts: Sequence[Part], identity: Identity) -> Sample:
    begins = (*IN_THE_CLUSTER, *NODES_SYNCHRONISED, *APPS_SYNCHRONISED, *ASKS_SYNCHRONISED)
    all_parts = (*begins, *parts)
    exchange = by_key(all_parts) if identity is Identity.KEY_OF_THE_ASK else exchange_of(all_parts)
    return Sample(name, exchange.entries(), identity)


def whole(sample: Sample) -> TraceReading:
    """Return what is found in the whole history."""
    reading = begun(sample.identity, is_whole=True)
    read(reading, sample.entries)
    return reading


def begun(identity: Identity, *, is_whole: bool) -> TraceReading:
    """Return the reading of a trace by the monitors of both sides."""
    monitors = [one.monitor for one in monitors_for(identity)]
    reading = TraceReading(identity, monitors, lambda _rm, _key: None)
    reading.begin(is_whole=is_whole)
    return reading


def read(reading: TraceReading, entries: Sequence[Entry]) -> None:
    """Read these entries."""
    for number, entry in enumerate(entries, start=1):
        reading.reads(entry, lambda at, line=number: Position(0, line, "trace", at))  # type: ignore[misc]


def violations(reading: TraceReading) -> list[str]:
    """Return the violations, each with its monitor."""
    return [f"{one.monitor}: {one.message}" for found in reading.found for one in found.violations]


def violated(found: Counts) -> set[str]:
    """Return the names of the violated rules."""
    return {name for name, (_, violation) in found.items() if violation is not None}


def counts(reading: TraceReading) -> Counts:
    """Return what was found."""
    return {
        monitor.name: (found.held, found.violations[0].message if found.violations else None)
        for monitor, found in zip(reading.monitors, reading.found, strict=True)
    }


_OBSERVERS = Observers(MONITORS)
_OBSERVERS_OF_ALL = Observers([replace(monitor, observes=()) for monitor in MONITORS])


@cache
def as_run_reads(sample: Sample) -> Counts:
    """Return what is found if it is read as in a run."""
    return _in_a_run(sample, _OBSERVERS)


def observing_all(sample: Sample) -> Counts:
    """Return the same with monitors that are called with everything."""
    return _in_a_run(sample, _OBSERVERS_OF_ALL)


def _in_a_run(sample: Sample, observers: Observers) -> Counts:
    history = History.of(sample.entries, sample.identity)
    reading = Reading(sample.identity, observers)
    reading.reads(history, len(history))
    results = reading.results(0, len(history))
    return {one.monitor: (one.held, one.violation) for one in results}


def recorded_lines(revision: str) -> list[str]:
    """Return the recorded session of a revision as raw lines."""
    records = map(json.loads, (RECORDED / f"{revision}.jsonl").read_text("utf-8").splitlines())
    messages = [record for record in records if "from" in record]
    return [
        json.dumps(
            {
                "at": number / 10,
                "from": message["from"],
                "rm": "rm-1",
                "stream": None,
                "number": number,
                "message": message["message"],
                "hex": message["hex"],
            }
        )
        for number, message in enumerate(messages, start=1)
    ]


REVISION_NAMES = sorted(REVISIONS)
