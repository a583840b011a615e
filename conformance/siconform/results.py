"""The results document of a run (results.json), written atomically."""

import json
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import msgspec

import siconform
from siconform import digests
from siconform.baseline import Baseline
from siconform.catalogue import Challenge, Level, Requirement
from siconform.policy import RequirementResult, RunEvaluation, RunStatus
from siconform.verdicts import Evidence, Verdict, tally

SCHEMA_VERSION: Final = 2
FILE: Final = "results.json"
_PACKAGES: Final = ("grpcio", "hypothesis", "protobuf", "pytest", "pytest-xdist")
EDITED_MARK: Final = "+edited"
"""Suffix of a revision if the RM used an edited specification: no results of the revision."""


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """Facts about the target."""

    name: str
    address: str
    version: str
    artifacts: Mapping[str, str] = field(default_factory=dict)  # files it was started from: SHA-256
    implementation: str = ""  # name given by the user
    contact: str = ""


Moment = tuple[float | None, str | None, str | None, bool]
"""A row of an exchange: seconds, the messages of the target and of the reference (None for
none), and whether this is the first difference."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The report of a test that did not pass, as text and in its parts."""

    test: str
    requirement: str
    verdict: Verdict  # of the requirement in the text
    text: str
    expected: str
    happened: str
    known: str  # the baseline's reason, if it is a known failure
    history: str  # a file in the results folder, or ""
    reference: str  # the reference's history of the same scenario
    exchange: Sequence[Moment]
    again: str  # the command that repeats it


@dataclass(frozen=True, slots=True)
class DeadlineFacts:
    """Waits of a deadline class in a run, compared with their deadline."""

    kind: str
    allowed: float  # seconds, of the wait closest to its deadline
    count: int
    median: float  # seconds
    slowest: float  # seconds, of that wait
    test: str  # of that wait


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a run."""

    time_scale: float
    seed: int  # of random histories
    workers: int
    virtual_time: bool  # whether the target's timers used virtual time
    fail_on: str = Level.MUST.value  # the least binding level that decides the verdict


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: the source of results, summary and JUnit."""

    target: TargetFacts
    status: RunStatus
    evaluation: RunEvaluation
    requirements: Sequence[RequirementResult]
    baseline: Baseline
    started: datetime
    seconds: float
    left_out: Mapping[str, str]
    command: Sequence[str]  # as given; repeats the run
    conditions: Conditions
    notes: Sequence[str]
    observed: Mapping[str, str]  # probed behaviour that the specification leaves open
    without: Sequence[str]  # features excluded by --without
    failures: Sequence[Failure]
    deadlines: Sequence[DeadlineFacts]
    selected_by: str = ""  # the options that selected, as given

    def asked(self) -> list[RequirementResult]:
        """Return the results of the selected requirements, or of the whole revision."""
        chosen = self.status.chosen
        return [f for f in self.requirements if chosen is None or f.requirement.id in chosen]

    def asked_by_name(self) -> list[RequirementResult]:
        """Return the same, or [] if tests were selected instead of requirements."""
        by_tests = bool(self.status.partial) and self.status.chosen is None
        return [] if by_tests else self.asked()

    def counts(self) -> Mapping[Verdict, int]:
        """Count the requirements with each verdict."""
        return tally(f.verdict for f in self.requirements)


def document(run: Run) -> dict[str, Any]:
    """Return the run as JSON values, as described by results.schema.json."""
    return {
        "schema": SCHEMA_VERSION,
        "kit": siconform.__version__,
        "revision": run.status.revision,
        "side": run.status.side.value,
        "command": shlex.join(run.command),
        "argv": list(run.command),
        "target": {
            "name": run.target.name,
            "address": run.target.address,
            "version": run.target.version,
            "implementation": run.target.implementation,
            "contact": run.target.contact,
            "without": list(run.without),
            "observed": dict(run.observed),
            "artifacts": [{"name": n, "sha256": d} for n, d in run.target.artifacts.items()],
        },
        "judged_by": digests.of_the_kit(),
        "environment": environment(),
        "conditions": asdict(run.conditions),
        "started": run.started.isoformat(timespec="seconds"),
        "seconds": round(run.seconds, 3),
        "verdict": run.evaluation.verdict.value,
        "exit_code": int(run.evaluation.exit_code),
        "sentence": run.evaluation.sentence,
        "counts": {verdict.value: count for verdict, count in run.counts().items()},
        "requirements": [_requirement(f) for f in run.requirements],
        "baseline": _baseline(run),
        "selection": _selection(run),
        "partial": bool(run.status.partial),
        "left_out": [{"test": t, "reason": r} for t, r in sorted(run.left_out.items())],
        "failures": [_failure(f) for f in run.failures],
        "deadlines": [_deadline(d) for d in run.deadlines],
        "kit_errors": list(run.status.kit_errors),
        "notes": list(run.notes),
        "ended_early": run.status.ended_early,
    }


def own_document(found: Sequence[RequirementResult], files: Sequence[Path]) -> dict[str, Any]:
    """Return the results of a project's own requirements as JSON values."""
    return {
        "catalogues": [str(file) for file in files],
        "requirements": [_requirement(result) for result in found],
    }


def _baseline(run: Run) -> dict[str, Any]:
    status = run.status
    return {"file": run.baseline.file, "stale": list(status.stale), "flaky": list(status.flaky)}


def write(document: Mapping[str, Any], folder: Path) -> Path:
    """Write results.json into the folder atomically."""
    path = folder / FILE
    unfinished = path.with_suffix(".json.new")
    unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
    os.replace(unfinished, path)  # noqa: PTH105  # atomic
    return path


@cache
def environment() -> dict[str, Any]:
    """Return the platform and the package versions of the run."""
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "processors": os.cpu_count() or 0,
        "packages": {name: version(name) for name in _PACKAGES},
    }


def schema() -> dict[str, Any]:
    """Return the JSON schema of results.json."""
    text = resources.files("siconform").joinpath("results.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _selection(run: Run) -> dict[str, Any] | None:
    """Return the selection, or None for the whole revision."""
    if run.status.chosen is None:
        return None
    return {
        "words": run.selected_by,
        "profile": run.status.profile,
        "requirements": [f.requirement.id for f in run.asked()],
    }


def _challenge(disputed: Challenge | None) -> dict[str, Any] | None:
    if disputed is None:
        return None
    return {**asdict(disputed), "tests": list(disputed.tests)}


def of_the_catalogue(requirement: Requirement) -> dict[str, Any]:
    """Return the JSON fields that identify a requirement in every file of results."""
    return {
        "id": requirement.id,
        "title": requirement.title,
        "area": requirement.area,
        "level": requirement.level.value,
        "authority": requirement.authority.value,
        "sides": sorted(side.value for side in requirement.sides),
    }


def _requirement(result: RequirementResult) -> dict[str, Any]:
    requirement = result.requirement
    known = result.entries if result.verdict is Verdict.BASELINED else ()
    return {
        **of_the_catalogue(requirement),
        "verdict": result.verdict.value,
        "reason": result.reason,
        "tests": [_test(e) for e in result.evidence],
        "cited_by": list(result.tests),
        "challenged": _challenge(requirement.challenged),
        "known": [
            {"outcome": e.outcome, "says": e.message, "reason": e.reason, "issue": e.issue}
            for e in known
        ],
    }


def _test(evidence: Evidence) -> dict[str, Any]:
    return {
        "id": evidence.test,
        "verdict": evidence.verdict.value,
        "says": evidence.message,
        "seconds": round(evidence.seconds, 3),
        "monitor": evidence.monitor,
        "recorded": list(evidence.recorded),
        "history": evidence.history,
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "test": failure.test,
        "requirement": failure.requirement,
        "verdict": failure.verdict.value,
        "text": failure.text,
        "expected": failure.expected,
        "happened": failure.happened,
        "known": failure.known,
        "history": failure.history,
        "golden": failure.reference,
        "rows": [list(moment) for moment in failure.exchange],
        "again": failure.again,
    }


def _deadline(facts: DeadlineFacts) -> dict[str, Any]:
    return {
        "class": facts.kind,
        "allowed": round(facts.allowed, 3),
        "count": facts.count,
        "median": round(facts.median, 4),
        "slowest": round(facts.slowest, 4),
        "test": facts.test,
    }
