"""Two runs side by side: where they came to another verdict."""

from collections.abc import Iterator
from dataclasses import dataclass

from siconform.reporting.record import Record, RequirementRecord


@dataclass(frozen=True, slots=True)
class Difference:
    """One requirement of which two runs say something else; None where a run does not know it."""

    requirement: str
    first: RequirementRecord | None
    second: RequirementRecord | None

    def __str__(self) -> str:
        return f"{self.requirement}: {_told(self.first)}, then {_told(self.second)}"


def differences(first: Record, second: Record) -> Iterator[Difference]:
    """The requirements with another verdict, or in one of the runs only."""
    for identifier in {**first.requirements, **second.requirements}:
        difference = Difference(
            identifier, first.requirements.get(identifier), second.requirements.get(identifier)
        )
        if _verdict(difference.first) != _verdict(difference.second):
            yield difference


def _verdict(judged: RequirementRecord | None) -> str:
    return "unknown" if judged is None else judged.verdict.label


def _told(judged: RequirementRecord | None) -> str:
    reason = "" if judged is None else judged.reason
    return f"{_verdict(judged)} ({reason})" if reason else _verdict(judged)
