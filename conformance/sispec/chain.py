"""Pages of the changes between consecutive revisions, from schemas and catalogue.

The specifications themselves are not available: changes of prose and comments are listed only if
the catalogue has them.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise

from siconform.catalogue import Requirement, catalogue
from siwire import REVISIONS

from sispec import markdown
from sispec.checkout import find_checkout
from sispec.classes import Class
from sispec.report import Report, report
from sispec.sources import read_spec

_INTRODUCTION = """\
# What each revision of the SI changed

One page per step, made by comparing revisions with `siconform spec impact OLD NEW`: what breaks,
what an old and a new peer understand of each other's messages (encoded by one, decoded by the
other), what should have been done instead, and which requirements are affected. Changes of prose
are listed if the catalogue has them: as requirements that ended, began or changed. Compatibility
of any two revisions: [what a change
breaks](../../what-a-change-breaks.md#revisions-that-understand-each-other).

| step | silently misread | wire | JSON | source | compatible | rules ended | begun |
|---|---|---|---|---|---|---|---|
"""


def pages() -> Mapping[str, str]:
    """Return every page by file name. Raises NoCompiler without buf (extra `spec`)."""
    steps = [_step(old, new) for old, new in pairwise(REVISIONS)]
    rows = [_row(step) for step in steps]
    found = {"README.md": f"{_INTRODUCTION}{''.join(rows)}"}
    for step in steps:
        found[_file(step)] = _page(step)
    return found


def only_in(one: str, other: str) -> tuple[Requirement, ...]:
    """Return the requirements of one revision that another one does not have."""
    known = catalogue().values()
    return tuple(r for r in known if one in r.revisions and other not in r.revisions)


@cache
def _step(old: str, new: str) -> Report:
    requirements = tuple(catalogue().values())
    sides = read_spec(old), read_spec(new)
    return report(*sides, requirements, with_impact=True, checkout=find_checkout())


def _file(step: Report) -> str:
    return f"{step.old.name}-to-{step.new.name}.md"


def _row(step: Report) -> str:
    old, new = step.old.name, step.new.name
    numbers = [step.counts[each] for each in Class]
    cells = [*numbers, len(only_in(old, new)), len(only_in(new, old))]
    return f"| [{old} to {new}]({_file(step)}) | {' | '.join(map(str, cells))} |\n"


def _page(step: Report) -> str:
    old, new = step.old.name, step.new.name
    heading = f"Changes from SI {old} to SI {new}"
    extra = [*_listed(f"Rules that ended with {old}", only_in(old, new))]
    extra += _listed(f"Rules that begin with {new}", only_in(new, old))
    return markdown.to_markdown(step, heading=heading, extra=extra)


def _listed(heading: str, requirements: Iterable[Requirement]) -> Iterator[str]:
    rows = [*requirements]
    if not rows:
        return
    yield from (f"## {heading}", "")
    for one in rows:
        why = f" *{markdown.escaped(one.retired)}*" if one.retired else ""
        yield f"- {one.id} ({one.level}): {markdown.escaped(one.title)}.{why}"
    yield ""
