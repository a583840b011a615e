"""From the way a test ended to a verdict."""

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
    (CameLate, Verdict.LATE),  # before the class it refines
    (ConformanceFailure, Verdict.FAIL),
    (NotForThisTarget, Verdict.NOT_SELECTED),
    (NotOffered, Verdict.NOT_APPLICABLE),
    (PreconditionFailed, Verdict.COULD_NOT_RUN),
)


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """What a phase of a test came to."""

    verdict: Verdict
    message: str = ""
    outcome: Outcome | None = None


def result_of_setup(raised: BaseException | None) -> PhaseResult | None:
    """None when the setup went well. What the target does wrong here only costs the premise."""
    if raised is None:
        return None
    result = result_of_body(raised)
    if isinstance(raised, LacksMandatoryFeature):
        return result
    if result.verdict in FAILED:
        return PhaseResult(Verdict.COULD_NOT_RUN, f"premise: {result.message}", result.outcome)
    return result


def result_of_body(raised: BaseException | None) -> PhaseResult:
    """The contract of siconform.outcomes: everything it does not name is the kit's own fault."""
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
