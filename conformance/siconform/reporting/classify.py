"""Classification of requirements for a scheduler's page: by outcome, with the reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from siconform.baseline import Baseline, KnownDeviation
from siconform.catalogue import Requirement, Side, catalogue
from siconform.reporting.record import Record, RequirementRecord
from siconform.reporting.stored import RecordError
from siconform.verdicts import OF_ONE_SIDE, OTHER_SIDE, VIOLATED, Verdict

DIED: Final = "the target died"
"""Part of a test's message if it killed its target."""


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement, its result in a run, and its baseline entries."""

    requirement: Requirement
    evaluated: RequirementRecord
    entries: tuple[KnownDeviation, ...] = ()  # of the baseline
    is_recorded: bool = True  # False if the requirement is newer than the record
    side: Side = Side.SCHEDULER  # that was tested

    @property
    def outcome(self) -> Verdict:
        """Return the outcome; a known failure that is only known as inconclusive is inconclusive.

        A test that killed the target was conclusive.
        """
        if not self.is_recorded and self.evaluated.verdict not in OF_ONE_SIDE:
            return Verdict.NO_TEST_YET
        if self.evaluated.verdict is Verdict.BASELINED and all(
            entry.outcome == Verdict.COULD_NOT_RUN.value and DIED not in entry.message
            for entry in self.entries
        ):
            return Verdict.COULD_NOT_RUN
        return self.evaluated.verdict

    @property
    def passes(self) -> bool:
        """Whether the target satisfies the requirement."""
        return self.outcome is Verdict.PASS

    @property
    def fails(self) -> bool:
        """Whether the target violates the requirement, known or not."""
        return self.outcome in VIOLATED

    def why(self) -> str:
        """Return the reason by which a page groups rows."""
        if self.entries:
            return " ".join(dict.fromkeys(entry.reason for entry in self.entries))
        return self.evaluated.reason or self.requirement.not_tested_on(self.side)


def rows(record: Record, baseline: Baseline) -> list[Row]:
    """Return a row for each requirement of the revision, also if the record is older.

    RecordError if the record has a requirement that is not in the catalogue.
    """
    recorded = dict(_known(record))
    return [
        _row(one.id, recorded[one.id], baseline, record.side)
        if one.id in recorded
        else _unrecorded(one, record.side)
        for one in catalogue().values()
        if one.id in recorded or record.revision in one.revisions
    ]


def by_reason(some: Sequence[Row]) -> Mapping[str, list[Row]]:
    """Group rows by reason."""
    reasons: dict[str, list[Row]] = {}
    for row in some:
        reasons.setdefault(row.why(), []).append(row)
    return reasons


def _known(record: Record) -> Iterator[tuple[str, RequirementRecord]]:
    for identifier, evaluated in record.requirements.items():
        if identifier not in catalogue():
            raise RecordError(f"{identifier} in the record of {record.target} is not a requirement")
        yield identifier, evaluated


def _unrecorded(requirement: Requirement, side: Side) -> Row:
    """Return the row of a requirement that is newer than the record."""
    verdict = Verdict.NOT_SELECTED if side in requirement.sides else OTHER_SIDE[side]
    reason = "it is newer than the record of this run"
    return Row(requirement, RequirementRecord(verdict, reason), is_recorded=False, side=side)


def _row(identifier: str, evaluated: RequirementRecord, baseline: Baseline, side: Side) -> Row:
    known = baseline.about(identifier) if evaluated.verdict is Verdict.BASELINED else ()
    return Row(catalogue()[identifier], evaluated, known, side=side)
