"""Builds the page of one run from its results and histories."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from siconform.catalogue import Level, Side, catalogue
from siconform.listing import STATED
from siconform.reporting.evaluated_run import coverage_in
from siconform.reporting.html.drawings import draw
from siconform.reporting.html.histories import (
    MOST_LETTERS,
    Drawn,
    Message,
    drawn,
    embedded,
    plain,
    read,
)
from siconform.reporting.html.listing import areas_of, counts_of, opened, source_in
from siconform.reporting.html.machines import MACHINES
from siconform.reporting.html.transitions import TransitionCounter
from siconform.reporting.html.views import (
    FailureView,
    Headroom,
    RequirementView,
    RunPage,
    SideBySide,
    TestView,
    Wording,
)
from siconform.reporting.stored import side_in
from siconform.verdicts import LISTED, Verdict

_SAME_TIME: Final = 0.001  # seconds; both are rounded
_CONDITIONS: Final = {
    "time_scale": "time scale",
    "fail_on": "fails on",
    "seed": "seed",
    "workers": "workers",
    "virtual_time": "virtual time",
}

_OF_A_SCHEDULER: Final = Wording(
    failures="Failures",
    decisive="Only MUSTs decide the verdict of the run.",
    indented="Indented messages are from the scheduler.",
    exchange="this target",
    repeat="Repeat this test",
    as_text="Complete failure as text",
    checks="Tests",
)
_WORDS: Final = {
    Side.SCHEDULER: _OF_A_SCHEDULER,
    Side.RM: replace(
        _OF_A_SCHEDULER,
        indented="Indented messages are from the scheduler, which the kit simulates.",
    ),
}


def run_page(results: Mapping[str, Any], folder: Path) -> RunPage:
    """Build the page from results.json and the folder of the histories."""
    transitions = TransitionCounter()
    histories = _histories(results, folder, transitions)
    chosen, not_drawn = _with_capacity(histories.values())
    requirements = opened(_requirements(results, {one.name for one in chosen}, histories))
    covered = coverage_in(results)
    side = side_in(results)
    return RunPage(
        words=_WORDS[side],
        target=results["target"]["name"],
        side=side,
        revision=results["revision"],
        verdict=results["verdict"],
        partial=results.get("partial", False),
        sentence=results["sentence"],
        tested=covered.tested,
        evaluated=covered.selected,
        counts=counts_of(one.verdict for one in requirements),
        facts=tuple((name, value) for name, value in _facts(results) if value),
        command=results["command"],
        ended_early=results["ended_early"],
        notes=(
            *results["kit_errors"],
            *results["baseline"]["stale"],
            *results["baseline"].get("flaky", ()),
            *results["notes"],
        ),
        levels=tuple(level.value for level in Level),
        areas=tuple(areas_of(requirements)),
        requirements=tuple(requirements),
        machines=tuple(draw(one, transitions.seen[one.title]) for one in MACHINES),
        headroom=tuple(_headroom(one) for one in results.get("deadlines", ())),
        histories=embedded(chosen),
        not_drawn=not_drawn,
    )


def _histories(
    results: Mapping[str, Any], folder: Path, transitions: TransitionCounter
) -> dict[str, Drawn]:
    """Read each history once, by file, those of failures first."""
    happened = {one["history"]: one["happened"] for one in results.get("failures", ())}
    received = [test for one in results["requirements"] for test in one["tests"]]
    received.sort(key=lambda test: Verdict(test["verdict"]) not in LISTED)
    found: dict[str, Drawn] = {}
    for file in dict.fromkeys(test.get("history", "") for test in received):
        if file:
            lines = read(folder / file)
            transitions.take(lines)
            if lines:
                found[file] = drawn(file, lines, happened.get(file, ""))
    return found


def _with_capacity(histories: Iterable[Drawn]) -> tuple[list[Drawn], int]:
    """Return those that fit in a page, and how many do not."""
    chosen, letters, left_out = [], 0, 0
    for one in histories:
        if letters + one.letters > MOST_LETTERS:
            left_out += 1
            continue
        letters += one.letters
        chosen.append(one)
    return chosen, left_out


def _facts(results: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    target = results["target"]
    environment = results.get("environment", {})
    conditions = results.get("conditions", {})
    yield "target", target["name"]
    yield "address", target["address"]
    yield "version", target["version"]
    yield "SI revision", results["revision"]
    yield "tested with", f"siconform {results['kit']}"
    yield "started", results["started"].replace("T", " ")
    yield "took", f"{results['seconds']:.1f} s"
    for key, name in _CONDITIONS.items():
        if conditions.get(key) is not None:
            yield name, _in_words(conditions[key])
    yield "on", environment.get("platform", "")
    yield "Python", environment.get("python", "")
    yield f"{Verdict.BASELINED.label_for(2)} in", results["baseline"]["file"]
    yield "not offered", ", ".join(target["without"])
    yield from target["observed"].items()


def _in_words(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _requirements(
    results: Mapping[str, Any], shown: set[str], histories: Mapping[str, Drawn]
) -> Iterator[RequirementView]:
    failures: dict[str, list[Mapping[str, Any]]] = {}
    for failure in results.get("failures", ()):
        failures.setdefault(failure["requirement"], []).append(failure)
    for one in results["requirements"]:
        known = catalogue().get(one["id"])
        yield RequirementView(
            id=one["id"],
            title=one["title"],
            area=one["area"],
            level=one["level"],
            authority=STATED[known.authority] if known else one["authority"],
            source=source_in(known, results["revision"]),
            text=known.text if known else "",
            reading=known.interpretation if known else "",
            verdict=Verdict(one["verdict"]),
            reason=plain(one["reason"]),
            tests=tuple(_test(test, shown) for test in one["tests"]),
            known=tuple(one["known"]),
            failures=tuple(
                _failure(failure, histories.get(failure["history"]))
                for failure in failures.get(one["id"], ())
            ),
        )


def _test(test: Mapping[str, Any], shown: set[str]) -> TestView:
    file = test.get("history", "")
    return TestView(
        name=_in_english(test["id"]),
        verdict=Verdict(test["verdict"]),
        message=plain(test["says"]),
        seconds=test["seconds"],
        monitor=test["monitor"],
        recorded=tuple(test["recorded"]),
        history=file if file in shown else "",
        file=file,
    )


def _failure(failure: Mapping[str, Any], history: Drawn | None) -> FailureView:
    wrong = history.wrong if history is not None else None
    return FailureView(
        test=_in_english(failure["test"]),
        anchor="_".join(f"{failure['requirement']}/{_name(failure['test'])}".split()),
        expected=plain(failure["expected"]),
        happened=plain(failure["happened"]),
        rows=tuple(_row(wrong, *row) for row in failure["rows"]),
        has_reference=bool(failure["golden"]),
        again=failure.get("again", ""),
        text=plain(failure["text"]),
    )


def _row(
    wrong: Message | None,
    time: float | None,
    this_target: str | None,
    reference: str | None,
    mark: object,
) -> SideBySide:
    ours = plain(this_target or "-")
    is_wrong = (
        wrong is not None
        and time is not None
        and abs(time - wrong.at) < _SAME_TIME
        and wrong.brief in ours
    )
    return SideBySide(time, ours, plain(reference or "-"), bool(mark), is_wrong)


def _name(test: str) -> str:
    return test.rpartition("::")[2]


def _in_english(test: str) -> str:
    return _name(test).removeprefix("test_").replace("_", " ")


def _headroom(one: Mapping[str, Any]) -> Headroom:
    return Headroom(
        name=one["class"],
        allowed=one["allowed"],
        count=one["count"],
        median=one["median"],
        slowest=one["slowest"],
        test=_in_english(one["test"]),
    )
