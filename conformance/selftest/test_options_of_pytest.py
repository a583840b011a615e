"""Options of pytest work as usual: durations, JUnit, ignored files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from siconform.commands.launching import arguments

pytestmark = pytest.mark.end_to_end

Run = Callable[..., Any]

SUITE = """
@requirement("SI-NODE-004")
def test_slow(target): time.sleep(0.3)

@requirement("SI-NODE-006")
def test_quick(target): pass
"""


def test_durations_are_reported_on_the_screen(conformance: Run) -> None:
    lines = conformance(SUITE, "--durations", "1").out.splitlines()
    place = lines.index("slowest 1 of 2 tests:")

    assert lines[place + 1].endswith(" s  test_fake.py::test_slow")
    assert lines[place + 2] == ""


def test_durations_option_values(conformance: Run) -> None:
    assert "slowest 2 of 2 tests:" in conformance(SUITE, "--durations", "0").out
    assert "slowest 1 of" in conformance(SUITE, "--durations=0", "--durations-min=0.25").out
    assert "slowest" not in conformance(SUITE).out


def test_durations_with_workers(conformance: Run) -> None:
    out = conformance(SUITE, "--durations", "5", "-n", "2", fresh=True).out

    assert "slowest 2 of 2 tests:" in out


@pytest.mark.parametrize("flag", ["--junitxml", "--junit-xml"])
def test_junit_path_option(conformance: Run, flag: str) -> None:
    outcome = conformance(SUITE, f"{flag}=reports/kit.xml")

    assert "SI-NODE-004" in Path("reports/kit.xml").read_text("utf-8")
    assert not (outcome.folder / "junit.xml").exists()
    assert "results in out: report.html, results.json, reports/kit.xml" in outcome.out


@pytest.mark.parametrize("given", [["--ignore", "suite/test_keys.py"], ["--ignore=suite"]])
def test_ignore_option_is_relative_to_suite(given: list[str]) -> None:
    (ignored,) = [word for word in arguments(given) if word.startswith("--ignore")]

    assert Path(ignored.partition("=")[2]).exists()


def test_ignore_glob_option_is_relative_to_suite() -> None:
    (ignored,) = [
        w for w in arguments(["--ignore-glob", "suite/test_g*"]) if w.startswith("--ignore")
    ]

    assert ignored.endswith("siconform/suite/test_g*")
