"""Resolves the names to compare: results folders, records and published schedulers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from siconform.reporting.classify import rows
from siconform.reporting.html.comparison import ComparisonPage, comparison_page
from siconform.reporting.page import Section
from siconform.reporting.published import baseline_of, in_short, records
from siconform.reporting.record import Record, read_record, read_results
from siconform.reporting.stored import RecordError
from siconform.results import FILE
from siconform.targets.embedded import NAME as REFERENCE
from siconform.targets.named import all_named


def page_of(named: Sequence[str]) -> ComparisonPage:
    """Return the page; RecordError if a name leads to no run."""
    sections: dict[str, Section] = {}
    for name in named:
        column, section = _section(name)
        if column in sections:
            column = f"{column} ({name})"
        if column in sections:
            raise RecordError(f"{name} is given twice")
        sections[column] = section
    return comparison_page(" and ".join(sections), sections)


def page_of_all(by_target: Mapping[str, Sequence[Section]], made_by: str) -> ComparisonPage:
    """Compare the reference and each version of a named target by its own revision."""
    reference = by_target[REFERENCE][-1]
    sections = {_called(reference.record, ""): reference}
    for target in all_named():
        for section in by_target.get(target.full_name, ()):
            if section.record.revision == target.revision.name:
                sections[_called(section.record, "")] = section
    return comparison_page("The reference and the real schedulers", sections, made_by)


def _section(name: str) -> tuple[str, Section]:
    path = Path(name)
    if (path / FILE).is_file():
        record, baseline = read_results(path)
        return _called(record, path.resolve().name), Section(record, rows(record, baseline))
    record = read_record(path) if path.is_file() else _published(name)
    return _called(record, ""), Section(record, rows(record, baseline_of(record)))


def _called(record: Record, folder: str) -> str:
    """Return the scheduler's own name; a target that is only a command is named by its folder."""
    if folder and " " in record.target:
        return f"{folder}, SI {record.revision}"
    return f"{in_short(record.target)}, SI {record.revision}"


def _published(name: str) -> Record:
    """Find the record NAME@VERSION, optionally with :REVISION, by default the newest."""
    wanted, _, revision = name.partition(":")
    kept = records()
    found = [r for r in kept if in_short(r.target) == wanted and revision in ("", r.revision)]
    if not found:
        there_are = ", ".join(dict.fromkeys(in_short(record.target) for record in kept))
        raise RecordError(
            f"{name} is neither a results folder nor a scheduler with a record; known: {there_are}"
        )
    return found[-1]
