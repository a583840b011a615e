"""Markdown page about a scheduler: passes, deviations with reasons, and untested requirements."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from siconform.baseline import KnownDeviation
from siconform.catalogue import AREAS, Authority, Level, Requirement, subjects
from siconform.catalogue.document import anchor, title
from siconform.listing import STATED
from siconform.reporting.classify import Row, by_reason
from siconform.reporting.record import Record
from siconform.verdicts import OF_ONE_SIDE, OTHER_SIDE, SHOWN, VIOLATED, Verdict

REQUIREMENTS: Final = "../requirements.md"
Place = Callable[[Requirement], str]
"""Maps a requirement to the target of its link."""


@dataclass(frozen=True, slots=True)
class Section:
    """One run: its record, and a row for each requirement."""

    record: Record
    rows: Sequence[Row]


def in_the_catalogue(requirement: Requirement) -> str:
    """Link a requirement on the requirements page, relative to the pages of results."""
    return f"{REQUIREMENTS}#{anchor(title(requirement))}"


def page(
    name: str, about: str, sections: Sequence[Section], place: Place = in_the_catalogue
) -> str:
    """Return the whole page in Markdown, without the generator line."""
    blocks = [f"# {name}", about, *_verdicts(sections), _meanings(sections)]
    for section in sections:
        blocks += _section(section, place)
    return "\n\n".join(blocks) + "\n"


def counts(rows: Iterable[Row]) -> Counter[Verdict]:
    """Count the requirements by outcome."""
    return Counter(row.outcome for row in rows)


def of_the_target(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that apply to the tested side."""
    return [row for row in rows if row.outcome not in OF_ONE_SIDE]


def occurring(*runs: Sequence[Row]) -> list[Verdict]:
    """List the verdicts on the target that occur in these runs, as table columns."""
    found = {row.outcome for rows in runs for row in of_the_target(rows)}
    return [verdict for verdict in SHOWN if verdict in found]


def table(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    rule = ["---"] * len(heads)
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (heads, rule, *lines))


def link(requirement: Requirement, place: Place = in_the_catalogue) -> str:
    """Return the requirement's id, linked to its catalogue entry."""
    return f"[{requirement.id}]({place(requirement)})"


def _verdicts(sections: Sequence[Section]) -> Iterator[str]:
    yield table(
        ["SI", "verdict", "command"],
        [(s.record.revision, s.record.sentence, f"`{s.record.command}`") for s in sections],
    )


def _meanings(sections: Sequence[Section]) -> str:
    shown = occurring(*(section.rows for section in sections))
    return "\n".join(f"- *{outcome.label}*: {outcome.row.meaning}" for outcome in shown)


def _section(section: Section, place: Place) -> Iterator[str]:
    rows = section.rows
    yield f"## SI {section.record.revision}"
    yield _counted(section)
    for outcome in occurring(rows):
        alike = [row for row in rows if row.outcome is outcome]
        if outcome in VIOLATED:
            yield _heading(outcome)
            yield from _failures(alike, section.record.revision, place)
        elif outcome is not Verdict.PASS:
            yield _heading(outcome)
            yield _listed(alike, place)
    yield from _partly(rows, place)
    yield from _freedoms(rows, place)
    for outcome in (Verdict.PASS, *OTHER_SIDE.values()):
        if lines := list(_ids_by_area([row for row in rows if row.outcome is outcome])):
            yield _heading(outcome)
            yield "\n".join(lines)


def _heading(outcome: Verdict) -> str:
    return f"### {outcome.label.capitalize()}"


def _counted(section: Section) -> str:
    evaluated = of_the_target(section.rows)
    shown = occurring(section.rows)
    groups: list[tuple[str, list[Row]]] = [
        (f"SI-{area}: {subjects()[area]}", [r for r in evaluated if r.requirement.area == area])
        for area in AREAS
    ]
    groups += [(level, [r for r in evaluated if r.requirement.level is level]) for level in Level]
    groups.append(("**all**", evaluated))
    lines = [
        (name, len(some), *(counts(some)[outcome] or "" for outcome in shown))
        for name, some in groups
        if some
    ]
    heads = [f"requirements of a {section.record.side.noun}", "all"]
    return table([*heads, *(outcome.label for outcome in shown)], lines)


def _failures(rows: Sequence[Row], revision: str, place: Place) -> Iterator[str]:
    for row in rows:
        yield f"#### {title(row.requirement)}"
        yield "\n".join(_failure(row, revision, place))


def _failure(row: Row, revision: str, place: Place) -> Iterator[str]:
    requirement = row.requirement
    yield (
        f"- **{requirement.level}**; source: {STATED[requirement.authority]} "
        f"({_place(requirement, revision)}): "
        f"[the requirement]({place(requirement)})"
    )
    if row.entries:
        for entry in row.entries:
            yield from _entry(entry)
    else:
        yield f"- {row.evaluated.verdict.label}: `{row.evaluated.reason}`"


def _place(requirement: Requirement, revision: str) -> str:
    """Cite the source: the design if it is the authority, else the spec of that revision."""
    text = "gang" if requirement.authority is Authority.DESIGN else revision
    places = [source.where for source in requirement.sources if source.revision == text]
    return (places or [source.where for source in requirement.sources])[0]


def _entry(entry: KnownDeviation) -> Iterator[str]:
    where = f" in `{entry.test}`" if entry.test else ""
    yield f"- {entry.reason}"
    yield f"- ends with {Verdict(entry.outcome).label}{where}: `{entry.message}`"
    if entry.issue:
        yield f"- upstream: {entry.issue}"


def _listed(some: Sequence[Row], place: Place) -> str:
    lines = []
    for reason, alike in by_reason(some).items():
        names = ", ".join(
            f"{link(row.requirement, place)} ({row.requirement.level})" for row in alike
        )
        lines.append(f"- {reason.rstrip('.')}: {names}" if reason else f"- {names}")
    return "\n".join(lines)


def _partly(rows: Sequence[Row], place: Place) -> Iterator[str]:
    lines = [
        f"- {link(row.requirement, place)} without {test}"
        for row in rows
        for test in row.evaluated.without
    ]
    if lines:
        yield "### Tested by some of its tests only"
        yield "\n".join(lines)


def _freedoms(rows: Sequence[Row], place: Place) -> Iterator[str]:
    lines = [
        (link(row.requirement, place), row.requirement.level, "; ".join(row.evaluated.recorded))
        for row in rows
        if row.evaluated.recorded
    ]
    if lines:
        yield "### Behaviour the specification leaves open"
        yield table(["requirement", "level", "observed"], lines)


def _ids_by_area(some: Sequence[Row]) -> Iterator[str]:
    for area in AREAS:
        ids = [row.requirement.id for row in some if row.requirement.area == area]
        if ids:
            yield f"- {subjects()[area]} ({len(ids)}): {', '.join(ids)}"
