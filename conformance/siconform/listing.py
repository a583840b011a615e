"""Output of `siconform list` and `siconform explain`: plain text of at most 100 columns."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from siconform.catalogue import Authority, DeadlineClass, Level, Observation, Requirement, Side
from siconform.catalogue.features import FEATURES
from siconform.catalogue.windows import in_short, in_words
from siconform.filters import Filters
from siconform.profiles import Profile
from siconform.verdicts import Verdict

WIDTH = 100
STATED = {
    Authority.SPEC: "the SI specification",
    Authority.PROTO: "the SI schema",
    Authority.DESIGN: "the gang scheduling design",
    Authority.CORE: "the behaviour of yunikorn-core",
    Authority.OWN: "your own catalogue",
}
SEEN_BY = {
    Observation.PLAIN: "the messages of si.v1.Scheduler",
    Observation.SILENCE: "the messages of si.v1.Scheduler, and the absence of one",
    Observation.QUEUES: "the messages of si.v1.Scheduler with a known queue configuration",
    Observation.TIMERS: "the messages of si.v1.Scheduler after an elapsed timeout",
    Observation.STATIC: "the schema or the recorded bytes",
    Observation.RM_DRIVER: "the kit as the scheduler, with a driver for the RM",
    Observation.CALLBACKS: "the callbacks of the extension",
    Observation.EVENTS: "the events of the extension",
    Observation.CONFIGURATION: "configuration updates by the extension",
    Observation.SNAPSHOT: "a state snapshot by the extension",
    Observation.METRICS: "the metrics of the extension",
}
WAITS_FOR = {
    DeadlineClass.ACK: "a response",
    DeadlineClass.PLACE: "a scheduling decision",
    DeadlineClass.RELEASE: "a release or its confirmation",
    DeadlineClass.TIMER: "a timeout",
    DeadlineClass.NONE: "nothing",
}
_LABEL = 13
_KEEP: Mapping[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
_HEADINGS = ("id", "level", "side", "revisions", "seen by", "title")
_COLUMNS = (12, 6, 9, 10, 9)
_SHORT = {Observation.CONFIGURATION: "config"}


Citations = Mapping[Side, Mapping[str, Sequence[str]]]
"""The tests and monitors of each requirement, by side."""


def render_list(
    requirements: Iterable[Requirement], tests: Citations, filters: Filters | None = None
) -> str:
    """Render a table of the selected requirements; the last two lines count them."""
    given = filters or Filters()
    found = (one for one in requirements if given.passes(one))
    coverage = {one: _coverage(one, tests, given.side) for one in found}
    if given.untested:
        coverage = {one: covered for one, covered in coverage.items() if covered is not None}
    rows = [line for requirement in coverage for line in _rows(requirement)]
    return "\n".join([*_row(_HEADINGS), *rows, "", _counts(coverage)])


def render_explanation(
    requirement: Requirement,
    tests: Mapping[Side, Sequence[str]],
    known_results: Mapping[str, str] | None = None,
) -> str:
    """Render a requirement: text, interpretation, sources, experiment, tests and results.

    ``tests`` are those of each side; ``known_results`` maps a scheduler to its result.
    """
    results = [f"{name}: {verdict}" for name, verdict in (known_results or {}).items()]
    lines = [
        _headline(requirement),
        _filled(requirement.title + ".", indent=2),
        "",
        _filled(requirement.text, indent=2),
        "",
        _labelled("read as", requirement.interpretation),
        _labelled(f"why {requirement.level}", requirement.level_reason),
        _labelled("applies to", _applies_to(requirement)),
        _labelled("retired", requirement.retired),
        _labelled(Verdict.CHALLENGED.label, *_challenge(requirement)),
        _labelled("sources", *_places(requirement)),
        _labelled("given", requirement.given),
        _labelled("when", requirement.when),
        _labelled("then", requirement.then),
        _labelled("control", requirement.control),
        _labelled("seen by", _seen_by(requirement)),
        _labelled(
            "needs",
            *(f"{name}: {FEATURES[name].offers}" for name in sorted(requirement.features)),
        ),
        _labelled("tests", *_tests(requirement, tests)),
        _labelled("upstream", requirement.upstream),
        _labelled("schedulers", *results),
    ]
    return "\n".join(line for line in lines if line is not None)


def render_profiles(profiles: Iterable[Profile]) -> str:
    """Render one line per profile: name, number of requirements, description."""
    return "\n".join(
        line
        for profile in profiles
        for line in textwrap.wrap(
            f"{profile.name:<18} {len(profile.ids):>4}  {profile.about}",
            WIDTH,
            subsequent_indent=" " * 25,
        )
    )


def _coverage(requirement: Requirement, tests: Citations, side: Side | None) -> Verdict | None:
    """Return why a requirement is not tested on each of its sides, or on this one; else None."""
    sides = [one for one in Side if one in requirement.sides and side in (None, one)]
    untested = [one for one in sides if not tests.get(one, {}).get(requirement.id)]
    if not untested:
        return None
    excused = all(requirement.not_tested_on(one) for one in untested)
    return Verdict.EXCLUDED if excused else Verdict.NO_TEST_YET


def source_of(requirement: Requirement) -> str:
    """Return the source of a requirement, with its place in the newest revision."""
    places = {one.revision: one.where for one in reversed(requirement.sources)}
    where = places[requirement.sources[-1].revision] if places else requirement.level_reason
    return f"{STATED[requirement.authority]} ({where})"


def _headline(requirement: Requirement) -> str:
    start = f"{requirement.id}   {requirement.level}   source: "
    return textwrap.fill(
        start + source_of(requirement), WIDTH, subsequent_indent=" " * len(start), **_KEEP
    )


def _cells(requirement: Requirement) -> tuple[str, ...]:
    return (
        requirement.id,
        requirement.level,
        _sides(requirement),
        in_short(requirement.revisions),
        _SHORT.get(requirement.observations[0], requirement.observations[0]),
        requirement.title,
    )


def _rows(requirement: Requirement) -> list[str]:
    """Return the row of a requirement and, below its title, why it is not tested."""
    rows = _row(_cells(requirement))
    for side in Side:
        if reason := requirement.not_tested_on(side):
            blank = [""] * len(_COLUMNS)
            rows += _row([*blank, f"{Verdict.EXCLUDED.label}{_on(requirement, side)}: {reason}"])
    return rows


def _tests(requirement: Requirement, tests: Mapping[Side, Sequence[str]]) -> list[str]:
    """Return the tests of each side, or why there are none."""
    received: list[str] = []
    for side in (one for one in Side if one in requirement.sides):
        on, reason = _on(requirement, side), requirement.not_tested_on(side)
        why = f"none{on}: {reason}" if reason else f"{Verdict.NO_TEST_YET.label}{on}"
        received += tests.get(side) or [why]
    return received


def _on(requirement: Requirement, side: Side) -> str:
    """Return the side in words if it is RMs and the requirement applies to schedulers, too."""
    return " on RMs" if side is Side.RM and len(requirement.sides) > 1 else ""


def _row(cells: Sequence[str]) -> list[str]:
    """Return the lines of a row; the last cell is wrapped."""
    start = "".join(f"{cell:<{width}} " for cell, width in zip(cells, _COLUMNS, strict=False))
    title = textwrap.wrap(cells[-1], WIDTH - len(start))
    return [f"{start}{title[0]}", *(" " * len(start) + line for line in title[1:])]


def _counts(coverage: Mapping[Requirement, Verdict | None]) -> str:
    levels = Counter(requirement.level for requirement in coverage)
    by_level = ", ".join(f"{levels[level]} {level}" for level in Level)
    found = Counter(coverage.values())
    reasons = (Verdict.EXCLUDED, Verdict.NO_TEST_YET)
    untested = ", ".join(verdict.counted(found[verdict]) for verdict in reasons)
    return f"{len(coverage)} requirements: {by_level}\n{found[None]} tested, {untested}"


def _sides(requirement: Requirement) -> str:
    return "both" if len(requirement.sides) > 1 else next(iter(requirement.sides))


def _applies_to(requirement: Requirement) -> str:
    side = {
        frozenset({Side.SCHEDULER}): "schedulers",
        frozenset({Side.RM}): "RMs",
    }.get(requirement.sides, "schedulers and RMs")
    return f"{side}, {in_words(requirement.revisions)}"


def _challenge(requirement: Requirement) -> list[str]:
    """Return since when, where and why a requirement is disputed, and in which tests."""
    disputed = requirement.challenged
    if disputed is None:
        return []
    tests = [f"in {', '.join(disputed.tests)}"] if disputed.tests else []
    return [f"since {disputed.since}: {disputed.link}", disputed.reason, *tests]


def _places(requirement: Requirement) -> list[str]:
    """Return each source once, with the revisions that contain it."""
    texts: dict[str, set[str]] = {}
    for source in requirement.sources:
        texts.setdefault(source.where, set()).add(source.revision)
    return [
        f"{where} (gang scheduling design)" if found == {"gang"} else f"{where} ({in_words(found)})"
        for where, found in texts.items()
    ]


def _seen_by(requirement: Requirement) -> str:
    seen = "; ".join(SEEN_BY[observation] for observation in requirement.observations)
    return f"{seen}; waits for {WAITS_FOR[requirement.deadline]}"


def _labelled(label: str, *items: str) -> str | None:
    """Return the items next to the label, each on its own lines; None if there are none."""
    lines = [line for item in items for line in textwrap.wrap(item, WIDTH - _LABEL, **_KEEP)]
    if not lines:
        return None
    block = textwrap.indent("\n".join(lines), " " * _LABEL)
    return f"  {label:<{_LABEL - 2}}{block[_LABEL:]}"


def _filled(text: str, *, indent: int) -> str:
    margin = " " * indent
    return textwrap.fill(text, WIDTH, initial_indent=margin, subsequent_indent=margin, **_KEEP)
