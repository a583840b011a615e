"""Records of the schedulers that this project tests, shipped with the kit."""

from pathlib import Path
from typing import Final

from siconform import shipped
from siconform.baseline import Baseline, read_baseline
from siconform.reporting.record import Record, read_record
from siconform.targets.embedded import NAME as REFERENCE
from siconform.targets.named import find_named

RECORDS: Final = shipped.fixtures("results")


def records(folder: Path = RECORDS) -> list[Record]:
    """Return all stored records: the reference first, then by name and revision."""
    kept = [read_record(path) for path in sorted(folder.glob("*.json"))]
    return sorted(kept, key=lambda r: (r.target != REFERENCE, r.target, r.revision))


def baseline_of(record: Record) -> Baseline:
    """Return the baseline of that target for that revision."""
    if record.target == REFERENCE:
        return Baseline()
    path = find_named(record.target).baselines.get(record.revision)
    if path is None:
        return Baseline()
    return read_baseline(path).in_revision(record.revision)


def in_short(target: str) -> str:
    """Return a short name of the scheduler."""
    return "reference" if target == REFERENCE else target
