"""Checks the catalogue: required fields, consistency, and forbidden words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby

from siconform.catalogue import AREAS, Authority, Observation, Requirement, Side
from siconform.catalogue.features import FEATURES
from siconform.catalogue.windows import KNOWN

TITLE_LENGTH = 80
NO_CONTROL = "none:"
"""Start of a control that explains why a negative requirement has none."""

_PROSE = (
    "title",
    "level_reason",
    "text",
    "interpretation",
    "given",
    "when",
    "then",
    "control",
    "not_tested",
    "not_tested_on_rms",
    "retired",
)
_ID = re.compile(r"SI-([A-Z]+)-(\d{3})")
_REFERENCE = re.compile(r"\bSI-[A-Z]+-\d{3}\b")
_LEFTOVERS = {
    re.compile(r"\bseeds?\b|(?<![\w-])00\d\b", re.IGNORECASE): "a specification by its file",
    re.compile(r"(?<![\d.])(0\.10|1\.[345])(?!\.?\d| s\b)\+?"): "a revision by its release line",
    re.compile(r"\bB-\d+|\bD\d-\d+|\b(section|table) [A-D]\.\d"): "a place in the draft",
    re.compile(r"\b(SUT|sentinel|suite)\b", re.IGNORECASE): "a word of the draft",
    re.compile(r"\b(node|app|alloc)\.(acc|rej|new|rel|upd)"): "the draft's shorthand",
    re.compile(r"[^\x20-\x7e]"): "a character beyond ASCII",
}
"""References to documents that are not part of the project."""


def complaints(requirements: Sequence[Requirement]) -> list[str]:
    """List everything that is wrong with the catalogue, one sentence each."""
    known = {requirement.id for requirement in requirements}
    found = list(_about_ids(requirements))
    for requirement in requirements:
        found += [
            f"{requirement.id}: {message}" for check in _CHECKS for message in check(requirement)
        ]
        found += [
            f"{requirement.id}: refers to {name}, which is not a requirement"
            for name in sorted(set(_REFERENCE.findall(_prose(requirement))) - known)
        ]
    return found


def complaints_about_tests(
    requirements: Iterable[Requirement],
    cited: Mapping[str, Sequence[str]],
    side: Side = Side.SCHEDULER,
) -> Iterator[str]:
    """Yield the requirements of a side that have neither a test nor a reason, or both.

    ``cited`` maps a requirement to its tests and monitors of that side.
    """
    for requirement in requirements:
        tested, excused = requirement.id in cited, bool(requirement.not_tested_on(side))
        if tested and excused:
            yield f"{requirement.id}: gives a reason for not being tested, but is tested"
        elif excused and side not in requirement.sides:
            apart = f"it does not apply to {side.noun}s"
            yield f"{requirement.id}: needs no reason for not being tested: {apart}"
        elif not (tested or excused) and side in requirement.sides:
            yield f"{requirement.id}: is not tested and gives no reason"


def complaints_about_challenges(
    requirements: Iterable[Requirement], cited: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield the challenged tests that do not cite their requirement.

    ``cited`` maps a requirement to its tests and monitors of both sides.
    """
    for requirement in requirements:
        for name in requirement.challenged.tests if requirement.challenged else ():
            if not any(name in test for test in cited.get(requirement.id, ())):
                yield f'{requirement.id}: the challenged test "{name}" does not cite it'


def _about_ids(requirements: Sequence[Requirement]) -> Iterator[str]:
    """Check that the numbers of an area have no gaps: an id is never dropped.

    A missing last id of an area shows in the records of runs (``fixtures/results``).
    """
    present = [requirement.id for requirement in requirements]
    yield from (f"{name}: occurs {n} times" for name, n in Counter(present).items() if n > 1)
    for area, numbers in groupby(filter(None, map(_ID.fullmatch, sorted(present))), _area_of):
        given = {int(number[2]) for number in numbers}
        missing = set(range(1, max(given))) - given
        yield from (f"SI-{area}-{number:03}: is gone; ids are kept" for number in sorted(missing))
    if present != sorted(present, key=_reading_order):
        yield "the requirements are not in the order of areas and numbers"


def _area_of(matched: re.Match[str]) -> str:
    return matched[1]


def _reading_order(identifier: str) -> tuple[int, str]:
    area = identifier.split("-")[1]
    return (AREAS.index(area) if area in AREAS else len(AREAS), identifier)


def _about_id(requirement: Requirement) -> Iterator[str]:
    matched = _ID.fullmatch(requirement.id)
    if matched is None:
        yield "is not of the form SI-AREA-000"
    elif matched[1] != requirement.area:
        yield f"is in the file of {requirement.area}"


def _about_fields(requirement: Requirement) -> Iterator[str]:
    for name in ("title", "level_reason", "text", "given", "when", "then"):
        if not getattr(requirement, name).strip():
            yield f"has no {name}"
    if len(requirement.title) > TITLE_LENGTH:
        yield f"has a title of {len(requirement.title)} characters, {TITLE_LENGTH} are allowed"
    if requirement.title.endswith("."):
        yield "has a title that ends with a full stop"
    if not requirement.sides:
        yield "has no side"
    if not requirement.observations:
        yield "has no observation"
    yield from _unknown("feature", requirement.features, FEATURES)


def _unknown(kind: str, names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    yield from (f'has the unknown {kind} "{name}"' for name in sorted(set(names) - set(known)))


def _about_sources(requirement: Requirement) -> Iterator[str]:
    unhashed = [source.where for source in requirement.sources if not source.sha256.strip("0")]
    for where in dict.fromkeys(unhashed):
        how = "'python -m siconform.catalogue.drift FOLDER' prints it"
        yield f"has no hash of its source {where} yet: {how}"
    texts = {source.revision for source in requirement.sources}
    if "gang" not in texts:
        missing = ", ".join(sorted(requirement.revisions - texts))
        if missing:
            yield f"has no source in {missing}"
    elif requirement.authority is not Authority.DESIGN and texts == {"gang"}:
        yield "has only the design as source but another authority"


def _about_control(requirement: Requirement) -> Iterator[str]:
    if Observation.SILENCE in requirement.observations and not requirement.control:
        yield f'is observed by silence and has no control (or "{NO_CONTROL}" and why)'
    if requirement.control.removeprefix(NO_CONTROL).strip() == "" and requirement.control:
        yield "has no control and gives no reason"


def _about_its_end(requirement: Requirement) -> Iterator[str]:
    ended = KNOWN[-1] not in requirement.revisions
    if ended and not requirement.retired:
        yield "ends and gives no reason"
    elif requirement.retired and not ended:
        yield "gives a reason for its end, but does not end"


def _about_its_challenge(requirement: Requirement) -> Iterator[str]:
    disputed = requirement.challenged
    if disputed is None:
        return
    try:
        date.fromisoformat(disputed.since)
    except ValueError:
        yield f'is challenged since "{disputed.since}", which is not a date'
    if not disputed.reason.strip():
        yield "is challenged and gives no reason"


def _about_words(requirement: Requirement) -> Iterator[str]:
    prose = _prose(requirement)
    for pattern, what in _LEFTOVERS.items():
        hit = pattern.search(prose)
        if hit:
            yield f'names {what}: "{prose[max(0, hit.start() - 20) : hit.end() + 20]}"'


def _prose(requirement: Requirement) -> str:
    """Return the text for people, except `upstream`, which names releases of yunikorn-core."""
    return " / ".join(getattr(requirement, name) for name in _PROSE)


_CHECKS = (
    _about_id,
    _about_fields,
    _about_sources,
    _about_control,
    _about_its_end,
    _about_its_challenge,
    _about_words,
)
