"""Baselines: strict reading, exact matches, and reports of stale entries."""

from pathlib import Path
from typing import Any

import pytest
from siconform.baseline import Baseline, BaselineError, KnownDeviation, read_baseline
from siconform.verdicts import Evidence, Verdict


def sent(
    verdict: Verdict = Verdict.FAIL,
    message: str = "accepted twice",
    test: str = "suite/test_nodes.py::test_a",
    requirement: str = "SI-NODE-004",
) -> Evidence:
    return Evidence(requirement, verdict, test, message)


def entry(message: str = "accepted", **more: Any) -> KnownDeviation:
    return KnownDeviation("SI-NODE-004", "fail", message, "core does so", **more)


def write(folder: Path, text: str) -> Path:
    path = folder / "known.yaml"
    path.write_text(text, "utf-8")
    return path


def test_a_baseline_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "- requirement: SI-NODE-004\n  outcome: fail\n  says: accepted twice\n"
        "  reason: core keeps no record\n  test: test_a\n",
    )
    assert read_baseline(path).entries == (
        KnownDeviation("SI-NODE-004", "fail", "accepted twice", "core keeps no record", "test_a"),
    )


def test_entry_does_not_apply_to_other_revision(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "- {requirement: SI-NODE-004, outcome: fail, says: a, reason: r}\n"
        "- {requirement: SI-NODE-005, outcome: fail, says: a, reason: r, revision: 2023-04}\n"
        "- {requirement: SI-EVT-006, outcome: fail, says: a, reason: of later texts only}\n",
    )

    def named(revision: str) -> list[str]:
        return [e.requirement for e in read_baseline(path).in_revision(revision).entries]

    assert named("2023-04") == ["SI-NODE-004", "SI-NODE-005"]
    assert named("2023-08") == ["SI-NODE-004", "SI-EVT-006"]


@pytest.mark.parametrize("revision", ["1.4", "2024"])
def test_entry_with_unknown_revision_is_rejected(tmp_path: Path, revision: str) -> None:
    path = write(
        tmp_path,
        "- {requirement: SI-NODE-004, outcome: fail, says: a, reason: r,"
        f" revision: '{revision}'}}\n",
    )

    with pytest.raises(BaselineError, match=f"entry 1: .*{revision}"):
        read_baseline(path)


def test_an_empty_file_is_an_empty_baseline(tmp_path: Path) -> None:
    assert read_baseline(write(tmp_path, "# nothing known\n")).entries == ()


@pytest.mark.parametrize(
    ("text", "received"),
    [
        ("a: 1", "a baseline must be a list of entries"),
        ("- [", "is not valid YAML"),
        ("- {requirement: SI-NODE-4, outcome: fail, says: x, reason: y}",
         'entry 1: requirement: unknown requirement "SI-NODE-4"; did you mean SI-NODE-004?'),
        ("- {requirement: SI-NODE-004, outcome: fail, says: x}", "entry 1: reason is missing"),
        ("- {requirement: SI-NODE-004, outcome: fail, says: x, reason: ' '}", "reason: Expected"),
        ("- {requirement: SI-NODE-004, outcome: fail, says: '', reason: y}", "1: says: Expected"),
        ("- {requirement: SI-NODE-004, outcome: pass, says: x, reason: y}",
         'entry 1: outcome: unknown value "pass" (known: could-not-run, fail, late)'),
        ("- {requirement: SI-NODE-004, outcome: fail, says: '/(/', reason: y}", "1: says: missing"),
        ("- {requirement: SI-NODE-004, outcome: fail, says: x, reason: y, z: 1}", 'field "z"'),
        ("- {requirement: SI-NODE-004, outcome: fail, says: x, reasn: y}",
         'unknown field "reasn"; did you mean reason?'),
        ("- fail", "entry 1: expected fields and values, got 'fail'"),
    ],
)  # fmt: skip
def test_a_wrong_baseline_is_refused(tmp_path: Path, text: str, received: str) -> None:
    with pytest.raises(BaselineError) as caught:
        read_baseline(write(tmp_path, text))
    assert received in str(caught.value)
    assert "known.yaml" in str(caught.value)


def test_every_error_in_every_entry_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BaselineError) as caught:
        read_baseline(
            write(tmp_path, "- {}\n- {requirement: 7, outcome: sad, says: a, reason: b}\n")
        )
    received = [line.partition("known.yaml: ")[2] for line in str(caught.value).splitlines()]
    assert [line.partition(":")[0] for line in received] == [*["entry 1"] * 4, *["entry 2"] * 2]


@pytest.mark.parametrize(
    ("known", "evidence", "explained"),
    [
        (entry(), sent(), True),
        (entry("/^accepted (once|twice)$/"), sent(), True),
        (entry("/^twice/"), sent(), False),
        (entry("/"), sent(message="a/b"), True),
        (entry("refused"), sent(), False),
        (entry(), sent(Verdict.LATE), False),
        (entry(), sent(requirement="SI-NODE-005"), False),
        (entry(test="test_a"), sent(), True),
        (entry(test="test_b"), sent(), False),
    ],
)
def test_entry_matches_only_recorded_failure(
    known: KnownDeviation, evidence: Evidence, *, explained: bool
) -> None:
    assert bool(Baseline("f", (known,)).explaining(evidence)) is explained


@pytest.mark.parametrize(
    ("evidence", "received"),
    [
        ([sent()], None),
        ([sent(Verdict.PASS, "")], "passes now"),
        ([sent(message="refused")], 'the message has changed: fail "refused"'),
        ([sent(Verdict.COULD_NOT_RUN)], "the message has changed: could-not-run"),
        ([], "matches nothing that ran"),
        ([sent(requirement="SI-NODE-005")], "matches nothing that ran"),
        ([sent(Verdict.PASS, "", "t::b"), sent()], None),
    ],
)
def test_an_entry_that_no_longer_fits_is_stale(
    evidence: list[Evidence], received: str | None
) -> None:
    stale = Baseline("f", (entry(),)).stale(evidence, frozenset())

    if received is None:
        assert stale == ()
    else:
        assert len(stale) == 1
        assert received in stale[0]


def test_entry_for_unselected_test_is_not_stale() -> None:
    assert Baseline("f", (entry(),)).stale([], frozenset({"SI-NODE-004"})) == ()


def test_flaky_entry_allows_pass_and_failure() -> None:
    baseline = Baseline("known.yaml", (entry(flaky=True),))
    nothing: frozenset[str] = frozenset()

    for evidence, received in (
        ([sent(Verdict.PASS, "")], 'SI-NODE-004: fail "accepted": passes this time'),
        ([sent()], 'SI-NODE-004: fail "accepted": fails this time'),
    ):
        assert baseline.stale(evidence, nothing) == ()
        assert baseline.flaky(evidence) == (received,)
    assert baseline.stale([sent(message="something else")], nothing)
    assert baseline.flaky([sent(message="something else")]) == ()
    assert baseline.stale([], nothing)
    assert Baseline("known.yaml", (entry(),)).flaky([sent()]) == ()


def test_flaky_entry_allows_that_only_another_one_applies() -> None:
    known = Baseline("known.yaml", (entry("never received"), entry(flaky=True)))
    nothing: frozenset[str] = frozenset()

    assert known.stale([sent(message="never received")], nothing) == ()
    assert known.stale([sent(message="never received"), sent()], nothing) == ()
    assert known.stale([sent(message="never received"), sent(message="else")], nothing)
