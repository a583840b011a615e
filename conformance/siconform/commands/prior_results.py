"""Stored results of requirements, for the schedulers recorded in this checkout."""

from collections.abc import Mapping

from siconform.baseline import BaselineError
from siconform.reporting.classify import Row, rows
from siconform.reporting.published import baseline_of, in_short, records
from siconform.reporting.stored import RecordError
from siconform.targets import TargetUnavailable
from siconform.verdicts import Verdict


def known_results(requirement: str) -> Mapping[str, str]:
    """Map schedulers to their result, with the reason of a failure; {} outside a checkout."""
    try:
        found = [
            (in_short(record.target), record.revision, _received(row))
            for record in records()
            for row in rows(record, baseline_of(record))
            if row.requirement.id == requirement
        ]
    except (TargetUnavailable, BaselineError, RecordError):
        return {}  # the results pages report the error
    alike = {name: len({t for n, _, t in found if n == name}) == 1 for name, _, _ in found}
    return {
        name if alike[name] else f"{name} as {revision}": received
        for name, revision, received in found
    }


def _received(row: Row) -> str:
    explained = row.fails or row.outcome is Verdict.COULD_NOT_RUN
    return f"{row.outcome.label} ({row.why()})" if explained else row.outcome.label
