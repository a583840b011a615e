"""Mapping of test outcomes to verdicts."""

from dataclasses import dataclass

import pytest

from siconform.outcomes import (
    CameLate,
    ConformanceFailure,
    LacksMandatoryFeature,
    NotForThisTarget,
    NotOffered,
    Outcome,
    PreconditionFailed,
)
from siconform.verdicts import FAILED, Verdict

_VERDICTS: tuple[tuple[type[Outcome], Verdict], ...] = (
    (CameLate, Verdict.LATE),  # before its base class
    (ConformanceFailure, Verdict.FAIL),
    (NotForThisTarget, Verdict.NOT_SELECTED),
    (NotOffered, Verdict.NOT_APPLICABLE),
    (PreconditionFailed, Verdict.COULD_NOT_RUN),
)


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """The result of a phase of a test."""

    verdict: Verdict
    message: str = ""
    outcome: Outcome | None = None


def result_of_setup(raised: BaseException | None) -> PhaseResult | None:
    """Return None for a successful setup; a failure of the target is a failed precondition."""
    if raised is None:
        return None
    result = result_of_body(raised)
    if isinstance(raised, LacksMandatoryFeature):
        return result
    if result.verdict in FAILED:
        return PhaseResult(Verdict.COULD_NOT_RUN, f"precondition: {result.message}", result.outcome)
    return result


def result_of_body(raised: BaseException | None) -> PhaseResult:
    """Map an outcome to its verdict; any other exception is KIT_ERROR."""
    if raised is None:
        return PhaseResult(Verdict.PASS)
    if isinstance(raised, Outcome):
        verdict = next((v for kind, v in _VERDICTS if isinstance(raised, kind)), Verdict.KIT_ERROR)
        return PhaseResult(verdict, raised.message, raised)
    if isinstance(raised, pytest.skip.Exception):
        return PhaseResult(Verdict.COULD_NOT_RUN, f"skipped: {raised}")
    return PhaseResult(Verdict.KIT_ERROR, _one_line(raised))


def _one_line(raised: BaseException) -> str:
    first = next((line for line in str(raised).splitlines() if line.strip()), "")
    name = type(raised).__name__
    return f"{name}: {first.strip()}" if first else name
