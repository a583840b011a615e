"""The progress of a run, in numbers and in lines that fit: no terminal needed."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from siconform.catalogue import AREAS, catalogue
from siconform.expecting import waits
from siconform.expecting.waits import WaitClass
from siconform.output import events
from siconform.output.live.board import Board, Wait, read
from siconform.output.live.frame import frame
from siconform.output.live.progress import AreaCount, RunProgress, View
from siconform.output.live.wording import waiting
from siconform.verdicts import Evidence, Verdict

FIRST, SECOND = "suite/test_x.py::test_a", "suite/test_x.py::test_b"


def progress(
    tests: Mapping[str, list[str]], earlier: Mapping[str, float] | None = None
) -> RunProgress:
    begun = RunProgress(0.0, earlier or {})
    begun.on_event(events.TestsSelected(tests))
    return begun


def ends(run: RunProgress, test: str, verdict: Verdict, *ids: str, seconds: float = 1.0) -> None:
    evidence = [Evidence(identifier, verdict, test) for identifier in ids]
    outcome = "failed" if verdict is Verdict.FAIL else "passed"
    run.on_event(events.TestPhaseEnded(test, "call", outcome, seconds, evidence=evidence))
    run.on_event(events.TestPhaseEnded(test, "teardown", "passed", 0.0))


def of(run: RunProgress, area: str) -> AreaCount:
    return next(count for count in run.view(0.0).areas if count.area == area)


def test_requirement_counts_after_all_its_tests() -> None:
    run = progress({FIRST: ["SI-NODE-004"], SECOND: ["SI-NODE-004", "SI-NODE-006"]})

    ends(run, FIRST, Verdict.PASS, "SI-NODE-004")
    assert (of(run, "NODE").evaluated, of(run, "NODE").total) == (0, 2)

    ends(run, SECOND, Verdict.PASS, "SI-NODE-004", "SI-NODE-006")
    assert of(run, "NODE").verdicts == Counter({Verdict.PASS: 2})


def test_failure_counts_at_once_and_stays() -> None:
    run = progress({FIRST: ["SI-NODE-004"], SECOND: ["SI-NODE-004"]})

    ends(run, FIRST, Verdict.FAIL, "SI-NODE-004")
    assert of(run, "NODE").verdicts == Counter({Verdict.FAIL: 1})

    ends(run, SECOND, Verdict.PASS, "SI-NODE-004")
    assert of(run, "NODE").verdicts == Counter({Verdict.FAIL: 1})
    assert run.view(0.0).failed == 1


def test_selection_of_workers_counts_once() -> None:
    run = progress({FIRST: ["SI-NODE-004"]})
    run.on_event(events.TestsSelected({FIRST: ["SI-NODE-004"]}))
    ends(run, FIRST, Verdict.PASS, "SI-NODE-004")

    assert (run.view(0.0).tests, of(run, "NODE").evaluated) == (1, 1)


def test_remaining_time_is_divided_by_workers() -> None:
    earlier = {f"t{n}": 2.0 for n in range(8)}
    run = progress({test: ["SI-NODE-004"] for test in earlier}, earlier)
    run.on_event(events.TestStarted("t0", 0.0))
    run.on_event(events.TestStarted("t1", 0.0))

    assert run.view(0.0).left == pytest.approx(8.0)
    assert run.view(1.0).left == pytest.approx(7.0)


def test_long_test_is_not_divided() -> None:
    run = progress({"long": [], "short": []}, {"long": 30.0, "short": 1.0})
    run.on_event(events.TestStarted("long", 0.0))
    run.on_event(events.TestStarted("short", 0.0))

    assert run.view(10.0).left == pytest.approx(20.0)


def test_slower_machine_scales_estimate() -> None:
    earlier = {f"t{n}": 1.0 for n in range(20)}
    run = progress({test: [] for test in earlier}, earlier)
    for test in list(earlier)[:10]:
        ends(run, test, Verdict.PASS, seconds=3.0)

    assert run.view(30.0).left == pytest.approx(30.0)


def test_new_tests_have_no_estimate() -> None:
    run = progress({"known": [], "new": []}, {"known": 1.0})

    assert run.view(0.0).left is None


WAITING = [Wait("a placeholder timeout", 2.0, 0.0), Wait("an allocation", 3.0, 0.5)]


def everywhere(verdict: Verdict) -> View:
    known = list(catalogue().values())
    totals = Counter(requirement.area for requirement in known)
    counts = tuple(AreaCount(area, totals[area], Counter({verdict: 3})) for area in AREAS)
    return View(counts, 493, 213, 2, 8.2, 9.0, has_earlier=True)


@pytest.mark.parametrize("columns", [30, 40, 79, 80, 99, 100])
@pytest.mark.parametrize("lines", [1, 2, 6, 12, 24, 50])
@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL, Verdict.COULD_NOT_RUN])
def test_progress_lines_fit(columns: int, lines: int, verdict: Verdict) -> None:
    shown = frame(everywhere(verdict), WAITING, 1.2, (columns, lines))

    assert all(line.cell_len <= columns for line in shown)
    assert all(line.plain.isascii() for line in shown)
    assert 1 <= len(shown) <= max(1, lines - 1)


@pytest.mark.parametrize(("columns", "lines"), [(100, 50), (80, 24), (40, 40)])
def test_every_area_is_shown_if_it_fits(columns: int, lines: int) -> None:
    received = "\n".join(
        line.plain for line in frame(everywhere(Verdict.FAIL), (), 1.0, (columns, lines))
    )

    assert all(f" {area} " in received for area in AREAS)
    assert received.count(Verdict.FAIL.counted(3)) == len(AREAS)


def test_equal_waits_are_grouped() -> None:
    timeouts = [Wait("a placeholder timeout", 2.0, since) for since in (0.3, 0.0, 0.1)]

    assert list(waiting([*timeouts, Wait("a release", 2.0, 1.1)], 1.2)) == [
        " waiting: 3 tests on a placeholder timeout (1.2 s of 2.0 s)"
    ]


def test_board_shows_innermost_wait(tmp_path: Path) -> None:
    board = Board(tmp_path / "gw0")
    outer = waits.Wait("an allocation", 3.0, WaitClass.PLACE)
    inner = waits.Wait("the answer to a barrier", 4.0, WaitClass.BARRIER)

    board.began(outer)
    board.began(inner)
    assert [wait.name for wait in read(tmp_path.iterdir())] == ["the answer to a barrier"]
    board.ended(inner)
    assert [(wait.name, wait.limit) for wait in read(tmp_path.iterdir())] == [
        ("an allocation", 3.0)
    ]
    board.ended(outer)
    assert list(read(tmp_path.iterdir())) == []


def test_unreadable_board_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "half").write_text('["an alloc')
    (tmp_path / "other").write_text("{}")
    (tmp_path / "folder").mkdir()

    assert list(read(tmp_path.iterdir())) == []
    assert list(read([tmp_path / "nowhere"])) == []


def test_unwritable_board_is_ignored(tmp_path: Path) -> None:
    nowhere = Board(tmp_path / "no such folder" / "gw0")
    full = Board(Path("/dev/full"))
    wait = waits.Wait("x" * 5000, 1.0, WaitClass.ACK)

    for board in (nowhere, full, Board(Path(os.devnull))):
        board.began(wait)
        board.ended(wait)
        board.ended(wait)
