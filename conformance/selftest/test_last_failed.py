"""`siconform run --last-failed` runs again what failed or was inconclusive in the latest run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from siconform.config.last_failed import NothingToRepeat, with_last_failed
from siconform.config.option_values import BadOption
from siconform.verdicts import Verdict

from .commands import invoke, results_in, siconform
from .stored_runs import OF_ALL, document, folder_of, requirement

Run = Callable[..., Any]

BEFORE, AFTER = "2026-11-01T10:00:00+00:00", "2026-11-01T11:00:00+00:00"
PASS = requirement("SI-NODE-002", "pass")
FAIL = requirement("SI-NODE-004", "fail")
WHOLE, PART = "build/conformance", "build/conformance-selected"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def stored(folder: str, *requirements: Any, started: str = BEFORE, **more: Any) -> None:
    folder_of(document(*requirements, started=started, **more), Path(folder))


def selected(*options: str) -> dict[str, Any]:
    """Return what these options of a run select."""
    (found,) = [
        word.partition("=")[2]
        for word in with_last_failed(options)
        if word.startswith("--failed-in=")
    ]
    received: dict[str, Any] = json.loads(found)
    return received


@pytest.mark.parametrize("flag", ["--last-failed", "--lf"])
def test_failed_and_inconclusive_requirements_are_selected(flag: str) -> None:
    bad = [
        requirement(f"SI-NODE-{number:03}", verdict)
        for number, verdict in enumerate(["fail", "late", "could-not-run", "kit-error"], start=4)
    ]
    good = [
        requirement(f"SI-REL-{number:03}", verdict)
        for number, verdict in enumerate(["pass", "baselined", "challenged", "not-reached"], 1)
    ]
    stored(WHOLE, *bad, *good)

    assert selected(flag) == {
        "started": BEFORE,
        "target": "mine",
        "failed": {one["id"]: [one["tests"][0]["id"]] for one in bad},
    }


@pytest.mark.parametrize(
    ("whole", "part", "expected"),
    [(BEFORE, AFTER, "SI-NODE-006"), (AFTER, BEFORE, "SI-NODE-004")],
)
def test_latest_run_counts_whole_or_partial(whole: str, part: str, expected: str) -> None:
    stored(WHOLE, FAIL, started=whole)
    stored(PART, requirement("SI-NODE-006", "fail"), started=part)

    assert list(selected("--last-failed")["failed"]) == [expected]


@pytest.mark.parametrize(
    ("given", "results"),
    [([], PART), (["--results", "out"], "out-selected"), (["--results=out/"], "out-selected")],
)
def test_results_of_the_whole_run_remain(given: list[str], results: str) -> None:
    stored(results.removesuffix("-selected"), FAIL)

    words = with_last_failed(["--last-failed", "-x", *given, "--target", "127.0.0.1:1"])

    assert words[:5] == ["-x", "--target", "127.0.0.1:1", "--results", results]


def test_interrupted_repetition_keeps_what_it_did_not_reach() -> None:
    unreached = requirement("SI-NODE-006", "not-reached")
    argv = ["siconform", "run", "--lf", "-x"]
    stored(WHOLE, FAIL, unreached, argv=argv, ended_early="interrupted")

    assert list(selected("--lf")["failed"]) == ["SI-NODE-004", "SI-NODE-006"]


def test_first_run_has_to_be_made_without_the_option() -> None:
    done = invoke("run", "--last-failed")

    assert done.exit_code == 5
    assert done.stderr == (
        f"siconform: no earlier run in {WHOLE} or {PART}: run once without --last-failed\n"
    )


def test_nothing_failed_is_success() -> None:
    stored(WHOLE, PASS)

    done = invoke("run", "--lf")

    assert done.exit_code == 0
    assert done.stdout == (
        "nothing failed in the last run (2026-11-01 10:00:00+00:00, target mine): "
        "CONFORMANT: a sentence\n"
    )
    assert (Path(WHOLE) / "results.json").exists()


def test_interrupted_run_without_failure_proves_nothing() -> None:
    stored(WHOLE, PASS, ended_early="interrupted")

    with pytest.raises(
        NothingToRepeat, match=r"it did not finish \(interrupted\): run again withou"
    ):
        with_last_failed(["--last-failed"])


def test_unreadable_results_are_named() -> None:
    Path(WHOLE).mkdir(parents=True)
    (Path(WHOLE) / "results.json").write_text('{"started": 1}')

    with pytest.raises(BadOption, match=r"results\.json is not a results file of siconform: "):
        with_last_failed(["--last-failed"])


def test_other_runs_are_unchanged() -> None:
    assert with_last_failed(["NODE", "-x"]) == ["NODE", "-x"]


SUITE = """
@requirement("SI-NODE-004")
def test_one(target): pass

@requirement("SI-NODE-006")
def test_two(target): raise ConformanceFailure("no")

@requirement("SI-REL-001")
def test_three(target): pass
"""


@pytest.mark.parametrize(
    ("options", "tested"),
    [([], {"SI-NODE-004": "pass", "SI-NODE-006": "fail"}), (["node-4"], {"SI-NODE-004": "pass"})],
)
def test_only_what_failed_is_tested(
    conformance: Run, pytester: pytest.Pytester, options: list[str], tested: dict[str, str]
) -> None:
    conformance(SUITE)
    file = pytester.path / "out" / "results.json"
    found = json.loads(file.read_text("utf-8"))
    entry = next(one for one in found["requirements"] if one["id"] == "SI-NODE-004")
    in_another_test = {"id": "test_fake.py::test_three", "verdict": "fail", "monitor": "m"}
    entry.update(verdict="fail", tests=[*entry["tests"], in_another_test])
    file.write_text(json.dumps(found), "utf-8")

    given = ["--last-failed", "--results", "out", *options]
    started = json.dumps([["siconform", "run"], given])
    outcome = conformance(SUITE, *with_last_failed(given), f"--started-as={started}", results=False)
    results = results_in(pytester.path / "out-selected")

    assert {
        one["id"]: one["verdict"]
        for one in results["requirements"]
        if one["verdict"] not in ("not-selected", "of-the-rm")
    } == tested
    others = [one["id"] for one in results["requirements"] if "scheduler" not in one["sides"]]
    assert others == [one["id"] for one in results["requirements"] if one["verdict"] == "of-the-rm"]
    left_out = [one["test"] for one in results["left_out"]]
    assert left_out == (["test_fake.py::test_two"] if options else [])
    run_before = f"the run of {found['started'].replace('T', ' ')}, target "
    assert (
        f" {', '.join(tested)}: failed or {Verdict.COULD_NOT_RUN.label} in {run_before}"
        in " ".join(outcome.out.split())
    )
    assert f"selected: {', '.join([*options, '--last-failed'])})" in results["sentence"]
    assert json.loads(file.read_text("utf-8")) == found


def test_what_monitors_found_is_tested_where_they_found_it(
    conformance: Run, pytester: pytest.Pytester
) -> None:
    found = [{"id": "test_fake.py::test_three", "verdict": "fail"}]
    stored("out", requirement("SI-WIRE-006", "fail", tests=found))
    given = ["--last-failed", "--results", "out", "--revision", "2023-12"]

    conformance(SUITE, *with_last_failed(given), results=False)

    results = results_in(pytester.path / "out-selected")
    left_out = [one["test"] for one in results["left_out"]]
    assert left_out == ["test_fake.py::test_one", "test_fake.py::test_two"]


@pytest.mark.end_to_end
@pytest.mark.slow("tests the reference twice")
def test_repetition_until_nothing_fails(tmp_path: Path) -> None:
    stored(WHOLE, requirement("SI-NODE-002", "fail"))
    before = (Path(WHOLE) / "results.json").read_bytes()

    first, second = (siconform("run", "--last-failed", "-n", "0", cwd=tmp_path) for _ in range(2))

    assert first.returncode == second.returncode == 0
    assert "selected: --last-failed (1 requirement)" in first.stdout
    assert f"PARTIAL: 1 {OF_ALL}, all passed (SI 2024-10; selected: --last-failed)" in first.stdout
    assert second.stdout.startswith("nothing failed in the last run (")
    assert (Path(WHOLE) / "results.json").read_bytes() == before
