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
        return f"{self.requirement}: {_received(self.first)}, then {_received(self.second)}"


def differences(first: Record, second: Record) -> Iterator[Difference]:
    """The requirements with another verdict, or in one of the runs only."""
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
