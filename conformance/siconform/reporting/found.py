"""The page about what the suite found in real schedulers, version by version."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from siconform.catalogue import Level
from siconform.reporting.classify import Row, by_reason
from siconform.reporting.page import Section, link, table
from siconform.targets.named import find_named

FILE: Final = "found.md"
_HEAD: Final = """\
# What the suite found

Where real schedulers do not keep the interface, version by version: what they do, the requirements
that show it, and the command that shows it once more. The command leaves the record of known
deviations aside, so it ends with the failure, its exchange and the bytes. What a deviation keeps
the suite from looking at is not in here; the page of each scheduler has that too.
"""


def found(by_target: Mapping[str, Sequence[Section]]) -> str:
    """The whole page; ``by_target`` has no scheduler of this project."""
    blocks = [_HEAD.rstrip()]
    for target, sections in by_target.items():
        for section in sections:
            blocks += _of_version(target, section)
    return "\n\n".join(blocks) + "\n"


def _of_version(target: str, section: Section) -> Iterator[str]:
    deviating = [row for row in section.rows if row.fails]
    defects = sorted(by_reason(deviating).items(), key=lambda one: _rank(one[1]))
    named = find_named(target)
    revision = section.record.revision
    musts = sum(_rank(rows) == 0 for _, rows in defects)
    yield f"## {named.title} {named.version} by SI {revision}"
    yield f"{len(defects)} defects, {musts} of them about a MUST."
    options = "" if revision == named.revision.name else f" --revision {revision}"
    lines = [
        (reason, _requirements(rows), f"`{_command(target, options, rows)}`")
        for reason, rows in defects
    ]
    yield table(["what it does", "requirements", "seen again by"], lines)


def _rank(rows: Sequence[Row]) -> int:
    return min(list(Level).index(row.requirement.level) for row in rows)


def _requirements(rows: Sequence[Row]) -> str:
    return ", ".join(f"{link(row.requirement)} {row.requirement.level}" for row in rows)


def _command(target: str, options: str, rows: Sequence[Row]) -> str:
    ids = " or ".join(row.requirement.id for row in rows)
    chosen = f'"{ids}"' if len(rows) > 1 else ids
    return f"siconform run --target {target}{options} --baseline none -k {chosen}"
