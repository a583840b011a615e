"""Comparison of two runs by the requirements both tested: regressions and fixes."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from selftest.stored_runs import CONDITIONS, Document, document, folder_of, latency, requirement

from .commands import invoke

ID = "SI-NODE-004"
KNOWN = [{"outcome": "fail", "says": "x", "reason": "It does.", "issue": ""}]


def compared(folder: Path, before: Document, after: Document, *options: str) -> Result:
    first = folder_of(before, folder / "before")
    second = folder_of(after, folder / "after")
    return invoke("compare", first, second, *options)


SINGULAR = {"regressions": "regression", "fixes": "fix", "other changes": "other change"}


@pytest.mark.parametrize(
    ("before", "after", "heading", "code"),
    [
        ("pass", "fail", "regressions", 1),
        ("pass", "late", "regressions", 1),
        ("pass", "could-not-run", "regressions", 1),
        ("pass", "baselined", "regressions", 1),
        ("not-applicable", "fail", "regressions", 1),
        ("fail", "pass", "fixes", 0),
        ("baselined", "pass", "fixes", 0),
        ("could-not-run", "pass", "fixes", 0),
        ("could-not-run", "fail", "other changes", 0),
        ("fail", "late", "other changes", 0),
        ("no-test-yet", "fail", "other changes", 0),
        ("pass", "not-applicable", "other changes", 0),
        ("pass", "kit-error", "other changes", 0),
    ],
)
def test_changes_are_grouped_by_heading(
    tmp_path: Path, before: str, after: str, heading: str, code: int
) -> None:
    known = {"known": KNOWN}
    first, second = (
        document(requirement(ID, verdict, **known if verdict == "baselined" else {}))
        for verdict in (before, after)
    )
    done = compared(tmp_path, first, second)

    lines = done.stdout.splitlines()
    assert done.exit_code == code
    assert lines[lines.index(f"{heading}:") + 1].startswith(f"  {ID}  MUST   ")
    assert f"1 {SINGULAR[heading]}" in lines[-1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fail", "baselined"),
        ("not-selected", "fail"),
        ("pass", "not-selected"),
    ],
)
def test_known_failure_or_unselected_is_not_a_difference(
    tmp_path: Path, before: str, after: str
) -> None:
    other = requirement("SI-NODE-006", "pass")
    first = document(other, requirement(ID, before, known=KNOWN))
    second = document(other, requirement(ID, after, known=KNOWN))

    done = compared(tmp_path, first, second)

    assert done.exit_code == 0
    assert "no regressions, no fixes, no other changes" in done.stdout
    assert ("not compared: 1 " in done.stdout) == ("not-selected" in (before, after))


def test_requirement_of_one_revision_only_is_not_a_difference(tmp_path: Path) -> None:
    one, other = requirement(ID, "pass"), requirement("SI-NODE-006", "fail")

    done = compared(tmp_path, document(one), document(one, other))

    assert done.exit_code == 0
    assert "not compared: 1 only after" in done.stdout


def test_disjoint_runs_cannot_be_compared(tmp_path: Path) -> None:
    untestable = requirement("SI-CB-012", "excluded"), requirement("SI-NODE-014", "of-the-rm")
    first = document(
        *untestable, requirement(ID, "pass"), requirement("SI-NODE-006", "not-selected")
    )
    second = document(
        *untestable, requirement(ID, "not-selected"), requirement("SI-NODE-006", "pass")
    )

    done = compared(tmp_path, first, second)

    assert done.exit_code == 5
    before, after = tmp_path / "before", tmp_path / "after"
    assert f"{before} and {after} have no tested requirement in common" in done.stderr
    assert "no regressions" not in done.stdout


def test_name_given_by_the_user_is_shown(tmp_path: Path) -> None:
    passed = document(requirement(ID, "pass"))
    named = {**passed, "target": {**passed["target"], "implementation": "my-scheduler"}}

    done = compared(tmp_path, passed, named)

    before, after, *_, last = done.stdout.splitlines()
    assert before.startswith("before  mine 1.0, ")
    assert after.startswith("after   my-scheduler 1.0, ")
    assert last.startswith("1 requirement compared: ")


def with_paces(*paces: Document, **conditions: object) -> Document:
    passing = requirement(ID, "pass")
    return document(passing, deadlines=list(paces), conditions={**CONDITIONS, **conditions})


@pytest.mark.parametrize(
    ("before", "after", "slower"),
    [
        (latency("ack", 0.1), latency("ack", 0.4), True),
        (
            latency("ack", 0.1),
            latency("ack", 0.29),
            False,
        ),  # less than a tenth of the allowance more
        (latency("ack", 0.4), latency("ack", 0.7), False),  # less than twice as long
        (latency("ack", 0.1, count=19), latency("ack", 0.9), False),  # too few for a comparison
        (latency("ack", 0.4), latency("ack", 0.1), False),
        (latency("ack", 0.1), latency("place", 0.9), False),
    ],
)
def test_slowdown_is_reported_without_regression(
    tmp_path: Path, before: Document, after: Document, *, slower: bool
) -> None:
    done = compared(tmp_path, with_paces(before), with_paces(after))

    assert done.exit_code == 0
    assert ("slower:\n  ack" in done.stdout) is slower


def test_times_of_different_setups_are_not_compared(tmp_path: Path) -> None:
    before = with_paces(latency("ack", 0.1))
    after = with_paces(latency("ack", 1.0), workers=12, time_scale=2.0)

    done = compared(tmp_path, before, after)

    assert "times not compared: the runs differ in time scale, workers" in done.stdout
    assert "slower" not in done.stdout


def test_a_comparison_as_json(tmp_path: Path) -> None:
    first = document(requirement(ID, "pass"), requirement("SI-NODE-006", "fail"))
    second = document(requirement(ID, "fail"), requirement("SI-NODE-006", "pass"))

    done = compared(tmp_path, first, second, "--format", "json")

    (received,) = json.loads(done.stdout)["comparisons"]
    (broken,) = received["newly_broken"]
    assert broken == {
        "requirement": ID, "level": "MUST", "before": "pass", "after": "fail", "reason": "why",
    }  # fmt: skip
    assert [one["requirement"] for one in received["mended"]] == ["SI-NODE-006"]
    assert (received["compared"], done.exit_code) == (2, 1)


def test_comparison_fits_terminal(tmp_path: Path) -> None:
    long = requirement(ID, "fail", reason="x" * 300)
    done = compared(tmp_path, document(requirement(ID, "pass")), document(long))

    lines = [line for line in done.stdout.splitlines() if not line.startswith(("before", "after"))]
    assert max(map(len, lines)) == 100
