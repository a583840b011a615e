"""The results of a run as a document: what results.json says, and how it gets there whole."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any, Final

import siconform
from siconform import digests
from siconform.baseline import Baseline
from siconform.policy import RequirementResult, RunJudgement, RunStatus
from siconform.verdicts import Evidence, Verdict

SCHEMA_VERSION: Final = 1
FILE: Final = "results.json"
EDITED_MARK: Final = "+edited"
"""After the name of a revision: the RM spoke an edited text of it. No results of the revision."""


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What is known of the target."""

    name: str
    address: str
    version: str
    artifacts: Mapping[str, str] = field(default_factory=dict)  # that it was started from: SHA-256


@dataclass(frozen=True, slots=True)
class Failure:
    """What people read about a test that did not do well."""

    test: str
    verdict: Verdict  # of what the text is about
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: everything the results, the summary and JUnit are made of."""

    target: TargetFacts
    status: RunStatus
    judgement: RunJudgement
    requirements: Sequence[RequirementResult]
    baseline: Baseline
    started: datetime
    seconds: float
    left_out: Mapping[str, str]
    command: str  # that runs it again
    notes: Sequence[str]
    observed: Mapping[str, str]  # habits of the target that the texts leave free
    without: Sequence[str]  # features it was said not to offer
    failures: Sequence[Failure]

    def counts(self) -> Mapping[Verdict, int]:
        """How many requirements have each verdict, zeros included."""
        found = Counter(f.verdict for f in self.requirements)
        return {verdict: found.get(verdict, 0) for verdict in Verdict}


def document(run: Run) -> dict[str, Any]:
    """The run as JSON values, as results.schema.json describes them."""
    return {
        "schema": SCHEMA_VERSION,
        "kit": siconform.__version__,
        "revision": run.status.revision,
        "command": run.command,
        "target": {
            "name": run.target.name,
            "address": run.target.address,
            "version": run.target.version,
            "without": list(run.without),
            "observed": dict(run.observed),
            "artifacts": [{"name": n, "sha256": d} for n, d in run.target.artifacts.items()],
        },
        "judged_by": digests.of_the_kit(),
        "started": run.started.isoformat(timespec="seconds"),
        "seconds": round(run.seconds, 3),
        "verdict": run.judgement.verdict.value,
        "exit_code": int(run.judgement.exit_code),
        "sentence": run.judgement.sentence,
        "counts": {verdict.value: count for verdict, count in run.counts().items()},
        "requirements": [_requirement(f) for f in run.requirements],
        "baseline": {"file": run.baseline.file, "stale": list(run.status.stale)},
        "left_out": [{"test": t, "reason": r} for t, r in sorted(run.left_out.items())],
        "kit_errors": list(run.status.kit_errors),
        "notes": list(run.notes),
        "ended_early": run.status.ended_early,
    }


def write(document: Mapping[str, Any], folder: Path) -> Path:
    """Put results.json into the folder, whole or not at all."""
    path = folder / FILE
    unfinished = path.with_suffix(".json.new")
    unfinished.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")
    os.replace(unfinished, path)  # noqa: PTH105  # the atomic one, by its name
    return path


def schema() -> dict[str, Any]:
    """The JSON schema of results.json."""
    text = resources.files("siconform").joinpath("results.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _requirement(result: RequirementResult) -> dict[str, Any]:
    requirement = result.requirement
    known = result.entries if result.verdict is Verdict.BASELINED else ()
    return {
        "id": requirement.id,
        "title": requirement.title,
        "area": requirement.area,
        "level": requirement.level.value,
        "authority": requirement.authority.value,
        "sides": sorted(side.value for side in requirement.sides),
        "verdict": result.verdict.value,
        "reason": result.reason,
        "tests": [_test(e) for e in result.evidence],
        "cited_by": list(result.tests),
        "known": [
            {"outcome": e.outcome, "says": e.says, "reason": e.reason, "issue": e.issue}
            for e in known
        ],
    }


def _test(evidence: Evidence) -> dict[str, Any]:
    return {
        "id": evidence.test,
        "verdict": evidence.verdict.value,
        "says": evidence.says,
        "seconds": round(evidence.seconds, 3),
        "monitor": evidence.monitor,
        "recorded": list(evidence.recorded),
    }
