"""Page that compares the versions of one scheduler: deviations, fixes and regressions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from siconform.catalogue import AREAS, Requirement, catalogue, subjects
from siconform.reporting.classify import Row
from siconform.reporting.page import Section, counts, link, occurring, of_the_target, table
from siconform.targets.named import NamedTarget, all_named

_HEAD: Final = """\
Each version is tested against the revision of the SI it was released with. Listed is every
requirement that one of them deviates from, with its result in the others.
[All schedulers side by side](schedulers.html) is a page with filters.
"""
_NOT_THERE: Final = "not in {}"


@dataclass(frozen=True, slots=True)
class _Version:
    """A version, and the result of each requirement of its revision."""

    target: NamedTarget
    section: Section
    rows: Mapping[str, Row]  # by the id of the requirement

    def cell(self, requirement: Requirement) -> str:
        """Return the cell of the table."""
        row = self.rows.get(requirement.id)
        if row is None:
            return _NOT_THERE.format(self.target.revision.name)
        return f"**{row.outcome.label}**" if row.fails else row.outcome.label

    def deviates(self, requirement: Requirement) -> bool:
        row = self.rows.get(requirement.id)
        return row is not None and row.fails

    def passes(self, requirement: Requirement) -> bool:
        row = self.rows.get(requirement.id)
        return row is not None and row.passes

    def knows(self, requirement: Requirement) -> bool:
        return requirement.id in self.rows


def versions_of(by_target: Mapping[str, Sequence[Section]]) -> Mapping[str, str]:
    """Return the page of each scheduler that was tested in several versions, by name."""
    by_name: dict[str, list[_Version]] = {}
    for target in all_named():
        for section in by_target.get(target.full_name, ()):
            if section.record.revision == target.revision.name:
                rows = {row.requirement.id: row for row in section.rows}
                by_name.setdefault(target.name, []).append(_Version(target, section, rows))
    return {name: _page(versions) for name, versions in by_name.items() if len(versions) > 1}


def file_of(name: str) -> str:
    """Return the file name of that scheduler's page."""
    return f"{name}-versions.md"


def title_of(name: str) -> str:
    """Return the title of that scheduler's page."""
    named = next(target for target in all_named() if target.name == name)
    return f"{named.title}, version by version"


def _page(versions: Sequence[_Version]) -> str:
    name = versions[0].target.name
    blocks = [f"# {title_of(name)}", _HEAD.rstrip(), _overview(versions)]
    blocks += _side_by_side(versions)
    for former, latter in pairwise(versions):
        blocks += _changes(former, latter)
    return "\n\n".join(blocks) + "\n"


def _overview(versions: Sequence[_Version]) -> str:
    shown = occurring(*(version.section.rows for version in versions))
    lines = []
    for version in versions:
        evaluated = of_the_target(version.section.rows)
        received = counts(evaluated)
        page = f"{version.target.name}-{version.target.version}.md"
        lines.append(
            (
                f"[{version.target.version}]({page})",
                version.target.revision.name,
                version.section.record.sentence,
                len(evaluated),
                *(received[outcome] for outcome in shown),
            )
        )
    heads = ["version", "SI", "verdict", "requirements", *(outcome.label for outcome in shown)]
    return table(heads, lines)


def _side_by_side(versions: Sequence[_Version]) -> Iterator[str]:
    yield "## Side by side"
    heads = ["requirement", "", "level", *(version.target.version for version in versions)]
    for area in AREAS:
        lines = [
            (link(one), one.title, one.level, *(version.cell(one) for version in versions))
            for one in catalogue().values()
            if one.area == area and any(version.deviates(one) for version in versions)
        ]
        if lines:
            yield f"### SI-{area}: {subjects()[area]}"
            yield table(heads, lines)


def _changes(former: _Version, latter: _Version) -> Iterator[str]:
    """Yield what changed, with the reason from the version that deviates."""
    yield f"## From {former.target.version} to {latter.target.version}"
    every = catalogue().values()
    fixed = [one for one in every if former.deviates(one) and latter.passes(one)]
    broke = [one for one in every if former.passes(one) and latter.deviates(one)]
    new = [one for one in every if not former.knows(one) and latter.deviates(one)]
    gone = [one for one in every if former.deviates(one) and not latter.knows(one)]
    kinds = {
        "Fixes": (fixed, former),
        "Regressions": (broke, latter),
        f"Deviates from requirements new in {latter.target.revision.name}": (new, latter),
        f"Deviated from requirements that end with {former.target.revision.name}": (gone, former),
    }
    received = [kind for kind in kinds.items() if kind[1][0]]
    for heading, (requirements, version) in received:
        yield f"### {heading}"
        yield "\n".join(
            f"- {link(one)} ({one.level}), {one.title}: {version.rows[one.id].why()}"
            for one in requirements
        )
    if not received:
        yield "No fixes and no regressions."
