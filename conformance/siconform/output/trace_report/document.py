"""The results document of a trace (results.json of ``siconform check-trace``)."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from typing import Any, Final

import siconform
from siconform import digests
from siconform.catalogue import catalogue
from siconform.monitors.registry import side_of
from siconform.monitors.trace_result import TraceResult
from siconform.output.trace_report.evaluation import SeenRequirement, SeenViolation, TraceEvaluation
from siconform.output.trace_report.unseen import unseen
from siconform.output.trace_report.violations import excerpt, text_of, where
from siconform.reporting.stored import TRACE
from siconform.results import environment, of_the_catalogue
from siconform.trace_outcomes import TraceOutcome

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Check:
    """The circumstances of a check."""

    command: Sequence[str]  # as given; repeats it
    started: datetime
    seconds: float
    without: Sequence[str] = ()  # features of --without
    ended_early: str = ""  # why it is not the whole trace


def document(evaluation: TraceEvaluation, check: Check) -> dict[str, Any]:
    """Return a checked trace as JSON values, as described by trace-results.schema.json."""
    result = evaluation.result
    return {
        "kind": TRACE,
        "schema": SCHEMA_VERSION,
        "kit": siconform.__version__,
        "revision": result.revision,
        "command": shlex.join(check.command),
        "argv": list(check.command),
        "trace": _trace(result),
        "unseen": [{"what": what, "means": means} for what, means in unseen(result)],
        "without": list(check.without),
        "judged_by": digests.of_the_kit(),
        "environment": environment(),
        "conditions": {"fail_on": evaluation.fail_on.value},
        "started": check.started.isoformat(timespec="seconds"),
        "seconds": round(check.seconds, 3),
        "verdict": evaluation.verdict.value,
        "exit_code": int(evaluation.exit_code),
        "sentence": evaluation.sentence,
        "exercised": exercised(evaluation),
        "counts": {outcome.value: count for outcome, count in evaluation.counts().items()},
        "requirements": [_requirement(one, evaluation) for one in evaluation.requirements],
        "violations": [
            _violation(one, found, _also(one, found, evaluation), result)
            for one in evaluation.requirements
            for found in one.violations
            if found.outcome is not TraceOutcome.NOT_APPLICABLE
        ],
        "baseline": {
            "file": evaluation.baseline.file,
            "not_seen": list(evaluation.not_seen),
        },
        "notes": evaluation.notes(),
        "ended_early": check.ended_early,
    }


def exercised(evaluation: TraceEvaluation) -> str:
    """Return how much of the revision the exchange says something about."""
    revision = evaluation.result.revision
    seen = sum(one.outcome.row.tested for one in evaluation.requirements)
    all_of_it = sum(revision in one.revisions for one in catalogue().values())
    return (
        f"The exchange exercised {seen} of the {len(evaluation.requirements)} requirements that "
        f"monitors check; SI {revision} has {all_of_it}. What was not exercised was not tested."
    )


def schema() -> dict[str, Any]:
    """Return the JSON schema of this document."""
    file = resources.files("siconform").joinpath("trace-results.schema.json")
    loaded: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return loaded


def _trace(result: TraceResult) -> dict[str, Any]:
    totals = result.totals
    return {
        "source": result.source,
        "files": list(result.files),
        "lines": totals.lines,
        "messages": totals.messages,
        "elements": totals.elements,
        "seconds": round(totals.seconds, 3),
        "callbacks": totals.callbacks,
        "dropped": totals.dropped,
        "forgotten": totals.forgotten,
        "cut_off": [{"file": one.file, "line": one.line} for one in totals.cut_off],
        "rms": [
            {"name": rm, "elements": count, "unknown": totals.unknown.get(rm, 0)}
            for rm, count in totals.rms.items()
        ],
    }


def _requirement(one: SeenRequirement, evaluation: TraceEvaluation) -> dict[str, Any]:
    requirement = one.requirement
    return {
        **of_the_catalogue(requirement),
        "verdict": one.outcome.value,
        "decides": evaluation.decides(one),
        "held": one.result.held,
        "violated": one.result.violated,
        "reason": one.reason,
        "monitors": list(one.result.monitors),
        "checked_sides": sorted(side.value for side in one.result.sides),
    }


def _also(one: SeenRequirement, found: SeenViolation, evaluation: TraceEvaluation) -> list[str]:
    """Return the other requirements that are violated by the same message."""
    return [
        other.requirement.id
        for other in evaluation.requirements
        if other is not one
        and any(
            like.first == found.first and like.outcome is found.outcome for like in other.violations
        )
    ]


def _violation(
    one: SeenRequirement, found: SeenViolation, also: Sequence[str], result: TraceResult
) -> dict[str, Any]:
    shown = excerpt(found.first, result)
    position = found.first.position
    return {
        "requirement": one.requirement.id,
        "verdict": found.outcome.value,
        "also": list(also),
        "monitor": found.first.monitor,
        "by": side_of(found.first.monitor).value,
        "says": found.message,
        "happened": found.first.message,
        "known": found.why,
        "times": found.times,
        "rm": found.first.rm,
        "file": position.file,
        "line": position.line,
        "at": round(position.at, 6),
        "where": where(position),
        "rows": [
            {
                "at": round(line.at, 4),
                "text": str(line),
                "rm": record["rm"],
                "from": record["from"],
                "stream": record["stream"],
                "line": record["place"][1],
                "is_violation": place in shown.violating,
            }
            for place, (line, record) in enumerate(zip(shown.lines, shown.records, strict=True))
        ],
        "text": text_of(one, found, also, shown),
    }


def texts(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of the violations that count; one text for several requirements."""
    seen: set[tuple[str, str, int, str]] = set()
    for one in results["violations"]:
        same = one["monitor"], one["file"], one["line"], one["happened"]
        if one["verdict"] == TraceOutcome.VIOLATED and same not in seen:
            seen.add(same)
            yield one["text"]
