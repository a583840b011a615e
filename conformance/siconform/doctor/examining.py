"""Self-test: runs the kit against schedulers whose correct verdicts are known."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from siconform import child_processes
from siconform.catalogue import Level, Side, catalogue
from siconform.config.results_dir import ResultsDir
from siconform.doctor.change import Change
from siconform.doctor.changes import CHANGES
from siconform.doctor.idle import Idle
from siconform.doctor.revision import NAME
from siconform.doctor.vacuous_musts import KEPT
from siconform.policy import ExitCode, RunVerdict
from siconform.reporting.record import Record, read_results
from siconform.reporting.stored import RecordError
from siconform.running.index import cited
from siconform.verdicts import FAILED, Verdict

_LIMIT: Final = 900.0  # seconds for one run
BRIEF: Final = ("--time-scale", "0.1", "--no-reference")
"""Options for an idle scheduler: it answers at once or never, and fails nearly everything."""
_NOTHING_RAN: Final = (ExitCode.USAGE, ExitCode.NOTHING_RAN)
_SHOWN: Final = 3
_WATCHED: Final = {Side.SCHEDULER: "SI-ALLOC", Side.RM: "SI-CONN"}  # where monitors see most


@dataclass(frozen=True, slots=True)
class Examined:
    """Result of testing one scheduler."""

    subject: str
    is_right: bool
    found: str
    seconds: float = 0.0


def examine(folder: Path, jobs: int) -> Iterator[Examined]:
    """Test all schedulers, ``jobs`` at a time; yield the results in a fixed order."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(lambda one: _timed(one, folder), _subjects())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupt does not wait for them


def evaluated(
    words: Sequence[str], folder: Path, options: Sequence[str], side: Side = Side.SCHEDULER
) -> Record:
    """Run the kit against the peer that this command starts; return the record.

    RecordError if there is none.
    """
    target = "--target-command" if side is Side.SCHEDULER else "--rm-command"
    command = [sys.executable, "-P", "-m", "siconform", "run", target, shlex.join(words)]
    command += ["--results", str(folder), "--target-file", "none", *options]
    ResultsDir(folder).forget()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.log").open("w", encoding="utf-8") as log:
        done = child_processes.run(command, stdout=log, stderr=log, limit=_LIMIT)
    if done.returncode in _NOTHING_RAN:
        raise RecordError(f"it could not be tested: see {log.name}")
    return read_results(folder)[0]


def passed(record: Record) -> list[str]:
    """Return the MUSTs on the side under test that a run passed."""
    return [
        identifier
        for identifier, one in record.requirements.items()
        if one.verdict is Verdict.PASS
        and catalogue()[identifier].level is Level.MUST
        and record.side in catalogue()[identifier].sides
    ]


def selection(
    identifiers: Iterable[str], more: Iterable[str] = (), side: Side = Side.SCHEDULER
) -> str:
    """Return the ``-k`` expression for the tests that cover these requirements on this side.

    Monitors cover theirs in other tests, too; requirements with monitors only need ``more``.
    """
    chosen = list(identifiers)
    watching = [[by.startswith("monitor") for by in cited(side)[one]] for one in chosen]
    watched = [_WATCHED[side]] if any(map(any, watching)) else []
    unseen = more if any(by and all(by) for by in watching) else ()
    return " or ".join([*chosen, *watched, *unseen])


def idle(kind: Idle) -> list[str]:
    """Return the command that starts such a scheduler."""
    return [sys.executable, "-P", "-m", "siconform.doctor.idle", kind.value, NAME]


def workers() -> int:
    """Return how many of them this machine can test at a time."""
    return max(1, min(4, (os.cpu_count() or 1)))


_Subject = Callable[[Path], Examined]


def _subjects() -> list[_Subject]:
    mutants = [_mutant(change) for change in CHANGES.values() if not change.is_variant]
    variants = [_variant(change) for change in CHANGES.values() if change.is_variant]
    return [*mutants, *variants, *map(_idle, Idle)]


def _timed(subject: _Subject, folder: Path) -> Examined:
    began = time.monotonic()
    try:
        examined = subject(folder)
    except (RecordError, subprocess.TimeoutExpired) as error:
        examined = Examined("a scheduler", is_right=False, found=str(error))
    seconds = time.monotonic() - began
    return Examined(examined.subject, examined.is_right, examined.found, seconds)


def _mutant(change: Change) -> _Subject:
    own = change.breaks[0]

    def subject(folder: Path) -> Examined:
        record = evaluated(
            _behind_proxy(change),
            folder / change.name,
            ("--revision", change.revision, "-k", selection([own]), "-n", "0", "--no-reference"),
        )
        verdict = record.requirements[own].verdict
        is_detected = verdict in FAILED
        found = f"detected by {own}" if is_detected else f"not detected: {own} {verdict.label}"
        return Examined(f"mutant {change.name}", is_detected, found)

    return subject


def _variant(change: Change) -> _Subject:
    def subject(folder: Path) -> Examined:
        record = evaluated(
            _behind_proxy(change), folder / change.name, ("--revision", change.revision)
        )
        is_right = record.sentence.startswith(RunVerdict.CONFORMANT)
        return Examined(f"variant {change.name}", is_right, record.sentence)

    return subject


def _idle(kind: Idle) -> _Subject:
    def subject(folder: Path) -> Examined:
        record = evaluated(idle(kind), folder / kind.value, ("--revision", NAME, *BRIEF))
        wrong = [identifier for identifier in passed(record) if identifier not in KEPT[kind]]
        found = "passes no MUST that it violates"
        if wrong:
            found = f"passes {len(wrong)} MUST that it violates: {' '.join(wrong[:_SHOWN])}"
        return Examined(f"idle {kind.value}", not wrong, found)

    return subject


def _behind_proxy(change: Change) -> list[str]:
    return [sys.executable, "-P", "-m", "siconform.doctor.proxy", change.name]
