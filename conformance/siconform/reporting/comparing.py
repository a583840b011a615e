"""Differences between the verdicts of two runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from siconform.reporting.record import Record, RequirementRecord


@dataclass(frozen=True, slots=True)
class Difference:
    """A requirement with different results in two runs; None if a run does not have it."""

    requirement: str
    first: RequirementRecord | None
    second: RequirementRecord | None

    def __str__(self) -> str:
        return f"{self.requirement}: {_received(self.first)}, then {_received(self.second)}"


def differences(first: Record, second: Record) -> Iterator[Difference]:
    """Yield the requirements whose verdicts differ, or that only one run has."""
    for identifier in {**first.requirements, **second.requirements}:
        difference = Difference(
            identifier, first.requirements.get(identifier), second.requirements.get(identifier)
        )
        if _verdict(difference.first) != _verdict(difference.second):
            yield difference


def _verdict(evaluated: RequirementRecord | None) -> str:
    return "unknown" if evaluated is None else evaluated.verdict.label


def _received(evaluated: RequirementRecord | None) -> str:
    reason = "" if evaluated is None else evaluated.reason
    return f"{_verdict(evaluated)} ({reason})" if reason else _verdict(evaluated)
