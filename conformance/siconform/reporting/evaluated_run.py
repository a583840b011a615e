"""What a run said of each requirement and how fast the target was, in one shape for comparing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from siconform.reporting.stored import RecordError, read_document
from siconform.verdicts import Verdict


class Outcome(msgspec.Struct, frozen=True):
    """What came of one requirement; a recorded deviation is what it deviates by."""

    level: str
    verdict: Verdict
    reason: str = ""


class Latency(msgspec.Struct, frozen=True, omit_defaults=True):
    """How long the target took for answers of one class, in seconds."""

    allowed: float
    count: int
    median: float
    slowest: float


@dataclass(frozen=True, slots=True)
class EvaluatedRun:
    """A run in short, from its results folder or from its certificate."""

    where: str  # that it was read from
    target: str
    version: str
    revision: str
    sentence: str
    outcomes: Mapping[str, Outcome]  # by requirement
    paces: Mapping[str, Latency] = field(default_factory=dict)  # by class of deadline
    circumstances: Mapping[str, Any] = field(default_factory=dict)  # that times depend on


def run_in(path: Path) -> EvaluatedRun:
    """The run whose results are in this folder; RecordError where there are none of a whole run."""
    results = read_document(path)
    try:
        return EvaluatedRun(
            str(path),
            results["target"]["name"],
            results["target"].get("version", ""),
            results["revision"],
            results["sentence"],
            {one["id"]: outcome_of(one) for one in results["requirements"]},
            paces_in(results),
            circumstances_of(results),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"{path} has no results of this kit: {error!r}") from None


def outcome_of(requirement: Mapping[str, Any]) -> Outcome:
    """What results.json says came of a requirement, whatever was expected of it."""
    verdict = Verdict(requirement["verdict"])
    if verdict is Verdict.BASELINED:
        verdict = deviation({known["outcome"] for known in requirement["known"]})
    return Outcome(requirement["level"], verdict, requirement["reason"])


def deviation(outcomes: set[str]) -> Verdict:
    """The worst of what a baseline records, a failure where it records nothing."""
    return next((v for v in Verdict if v.value in outcomes), Verdict.FAIL)


def paces_in(results: Mapping[str, Any]) -> dict[str, Latency]:
    """How fast the target was, by class of deadline; nothing where the results do not say."""
    return {
        one["class"]: msgspec.convert(one, Latency, strict=False)
        for one in results.get("deadlines", ())
        if one["count"]
    }


def circumstances_of(results: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be the same before times of two runs can be compared."""
    conditions, environment = results.get("conditions", {}), results.get("environment", {})
    received = {name: conditions.get(name) for name in ("time_scale", "workers", "virtual_time")}
    return received | {name: environment.get(name) for name in ("platform", "processors")}
