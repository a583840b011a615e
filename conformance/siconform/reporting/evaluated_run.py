"""Results and latencies of a run in one form for comparison."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from siconform.catalogue import Side
from siconform.policy import Coverage, coverage
from siconform.reporting.stored import RecordError, read_document, side_in
from siconform.verdicts import Verdict


class Outcome(msgspec.Struct, frozen=True):
    """Result of one requirement; for a known failure, the verdict it deviates by."""

    level: str
    verdict: Verdict
    reason: str = ""


class Latency(msgspec.Struct, frozen=True, omit_defaults=True):
    """Response times of the target for one deadline class, in seconds."""

    allowed: float
    count: int
    median: float
    slowest: float


@dataclass(frozen=True, slots=True)
class EvaluatedRun:
    """Summary of a run, from its results folder or its certificate."""

    where: str  # path it was read from
    target: str  # the name given by the user, else that of the run
    version: str
    revision: str
    sentence: str
    outcomes: Mapping[str, Outcome]  # by requirement
    paces: Mapping[str, Latency] = field(default_factory=dict)  # by class of deadline
    circumstances: Mapping[str, Any] = field(default_factory=dict)  # that affect times
    partial: bool = False
    side: Side = Side.SCHEDULER


def run_in(path: Path) -> EvaluatedRun:
    """Read the run in this folder; RecordError if it has no results of a complete run."""
    results = read_document(path)
    try:
        return EvaluatedRun(
            str(path),
            name_in(results["target"]),
            results["target"].get("version", ""),
            results["revision"],
            results["sentence"],
            {one["id"]: outcome_of(one) for one in results["requirements"]},
            paces_in(results),
            circumstances_of(results),
            results.get("partial", False),
            side_in(results),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{path} has no results of siconform: {error!r}") from None


def name_in(target: Mapping[str, Any]) -> str:
    """Return the name of a target in results.json: the user's, else that of the run."""
    return str(target.get("implementation") or target["name"])


def outcome_of(requirement: Mapping[str, Any]) -> Outcome:
    """Return the outcome in results.json, regardless of expectations."""
    verdict = Verdict(requirement["verdict"])
    if verdict is Verdict.BASELINED:
        verdict = deviation({known["outcome"] for known in requirement["known"]})
    return Outcome(requirement["level"], verdict, requirement["reason"])


def deviation(outcomes: set[str]) -> Verdict:
    """Return the worst recorded outcome, or a failure if the baseline records none."""
    return next((v for v in Verdict if v.value in outcomes), Verdict.FAIL)


def paces_in(results: Mapping[str, Any]) -> dict[str, Latency]:
    """Return response times by deadline class; empty if the results have none."""
    return {
        one["class"]: msgspec.convert(one, Latency, strict=False)
        for one in results.get("deadlines", ())
        if one["count"]
    }


def coverage_in(results: Mapping[str, Any]) -> Coverage:
    """Return how many of the selected requirements were tested, as the verdict counts them."""
    selection = results.get("selection")
    return coverage(
        ((one["id"], Verdict(one["verdict"]), one["reason"]) for one in results["requirements"]),
        selection["requirements"] if selection else None,
    )


def circumstances_of(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must be equal before times of two runs are comparable."""
    conditions, environment = results.get("conditions", {}), results.get("environment", {})
    received = {name: conditions.get(name) for name in ("time_scale", "workers", "virtual_time")}
    return received | {name: environment.get(name) for name in ("platform", "processors")}
