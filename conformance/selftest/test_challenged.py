"""Failures of disputed requirements do not decide a run, never pass, and are reported."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from siconform.catalogue import CatalogueError, Challenge, Side, catalogue, find_requirement
from siconform.catalogue.document import page
from siconform.catalogue.lint import complaints, complaints_about_challenges
from siconform.catalogue.reading import read_area
from siconform.listing import render_explanation
from siconform.reporting.certificate import Certified, result_of
from siconform.verdicts import Verdict

Run = Callable[..., Any]
LINK = "https://issues.example/17"
ALL_OF_IT = Challenge("2026-11-20", LINK, "The sentence may mean less.")
ONE_TEST = replace(ALL_OF_IT, tests=("test_two",))

FAILS = '@requirement("SI-NODE-004")\ndef test_one(target): raise ConformanceFailure("twice")\n'
PASSES = '@requirement("SI-REL-001")\ndef test_other(target): pass\n'
TWO = (
    '@requirement("SI-NODE-004")\ndef test_one(target): ONE\n'
    '@requirement("SI-NODE-004")\ndef test_two(target): raise CameLate("after 3 s")\n'
)


@pytest.fixture
def challenged() -> Iterator[Callable[[Challenge], None]]:
    """Add a challenge of SI-NODE-004 to the catalogue for this test."""
    requirement = find_requirement("SI-NODE-004")

    def enter(challenge: Challenge | None) -> None:
        object.__setattr__(requirement, "challenged", challenge)

    yield enter
    enter(None)


Enter = Callable[[Challenge], None]


def test_disputed_failure_is_reported_without_deciding(conformance: Run, challenged: Enter) -> None:
    assert conformance(FAILS + PASSES).code == 1
    challenged(ALL_OF_IT)
    outcome = conformance(FAILS + PASSES)

    assert outcome.code == 0
    assert outcome.verdict("SI-NODE-004") == "challenged"
    assert outcome.reason("SI-NODE-004") == f"fail: twice (challenged since 2026-11-20: {LINK})"
    assert outcome.results["counts"]["challenged"] == 1
    assert outcome.results["counts"]["pass"] == 1
    assert outcome.results["sentence"].endswith("; 1 challenged (SI-NODE-004)")
    assert re.search(r"\b1 of \d+ of SI", outcome.results["sentence"])
    assert outcome.requirement("SI-NODE-004")["challenged"]["link"] == LINK
    assert outcome.requirement("SI-REL-001")["challenged"] is None


def test_screen_and_junit_link_dispute(conformance: Run, challenged: Enter) -> None:
    challenged(ALL_OF_IT)
    outcome = conformance(FAILS + PASSES, "-v")

    assert any(
        line.startswith(f"  {Verdict.CHALLENGED.label.upper()} SI-NODE-004")
        for line in outcome.out.splitlines()
    )
    assert f"challenged since 2026-11-20: {LINK}" in outcome.out
    assert Verdict.CHALLENGED.counted(1) in outcome.out
    junit = (outcome.folder / "junit.xml").read_text("utf-8")
    assert '<property name="requirements.challenged" value="1"' in junit
    assert '<property name="SI-NODE-004" value="challenged"' in junit
    assert f"challenged since 2026-11-20: {LINK}" in junit
    assert 'failures="0"' in junit


def test_disputed_requirement_can_pass(conformance: Run, challenged: Enter) -> None:
    challenged(ALL_OF_IT)
    outcome = conformance(FAILS.replace('raise ConformanceFailure("twice")', "pass"))

    assert outcome.verdict("SI-NODE-004") == "pass"
    assert outcome.results["sentence"].endswith("SI 2024-10)")


@pytest.mark.parametrize(
    ("one", "verdict", "code"),
    [("pass", "challenged", 10), ('raise ConformanceFailure("no")', "fail", 1)],
)
def test_single_test_can_be_disputed(
    conformance: Run, challenged: Enter, one: str, verdict: str, code: int
) -> None:
    challenged(ONE_TEST)
    outcome = conformance(TWO.replace("ONE", one))

    assert outcome.verdict("SI-NODE-004") == verdict
    assert outcome.code == code


def test_run_of_disputed_requirement_only_is_not_conformant(
    conformance: Run, challenged: Enter
) -> None:
    challenged(ALL_OF_IT)
    outcome = conformance(FAILS)

    assert outcome.code == 10
    assert outcome.results["verdict"] == "INCOMPLETE"
    assert "all tested requirements are challenged (SI-NODE-004)" in outcome.results["sentence"]


def test_inconclusive_disputed_requirement_does_not_decide(
    conformance: Run, challenged: Enter
) -> None:
    source = FAILS.replace("ConformanceFailure", "PreconditionFailed") + PASSES
    assert conformance(source).code == 10
    challenged(ALL_OF_IT)
    outcome = conformance(source)

    assert outcome.verdict("SI-NODE-004") == "could-not-run"
    assert outcome.code == 0


def test_internal_error_is_not_excused_by_dispute(conformance: Run, challenged: Enter) -> None:
    challenged(ALL_OF_IT)

    assert conformance(FAILS.replace("ConformanceFailure", "KeyError")).code == 13


def test_baseline_entry_for_disputed_requirement_is_not_stale(
    conformance: Run, challenged: Enter
) -> None:
    Path("known.yaml").write_text(
        "- {requirement: SI-NODE-004, outcome: fail, says: twice, reason: Ours.}\n", "utf-8"
    )
    challenged(ALL_OF_IT)
    outcome = conformance(FAILS + PASSES, "--baseline", "known.yaml")

    assert outcome.code == 0
    assert outcome.verdict("SI-NODE-004") == "challenged"
    assert outcome.results["baseline"]["stale"] == []


def test_certificate_warns_of_dispute() -> None:
    sent = {"SI-NODE-004": Certified("MUST", Verdict.CHALLENGED)}
    result = result_of(sent)

    assert result["result"] == "WARNED"
    assert result["warned_tests"] == ("SI-NODE-004",)
    assert result["passed_tests"] == result["failed_tests"] == ()


def test_catalogue_shows_dispute(challenged: Enter) -> None:
    challenged(ONE_TEST)
    requirement = find_requirement("SI-NODE-004")
    received = f"- **challenged since 2026-11-20: {LINK}** (The sentence may mean less.)"

    assert received in page([requirement], {"NODE": "nodes"})
    explained = render_explanation(
        requirement, {Side.SCHEDULER: ["suite/x.py::test_two"]}
    ).splitlines()
    place = explained.index(f"  challenged since 2026-11-20: {LINK}")
    assert [line.strip() for line in explained[place + 1 : place + 3]] == [
        "The sentence may mean less.",
        "in test_two",
    ]


def test_challenge_has_required_fields(challenged: Enter) -> None:
    requirement = find_requirement("SI-NODE-004")
    cited = dict.fromkeys(catalogue(), ("suite/x.py::test_two",))

    def wrong() -> list[str]:
        found = [*complaints(list(catalogue().values()))]
        found += complaints_about_challenges([requirement], cited)
        return [f for f in found if f.startswith("SI-NODE-004: ") and "halleng" in f]

    challenged(ONE_TEST)
    assert wrong() == []
    challenged(replace(ONE_TEST, since="2026-13-01", reason=" ", tests=("test_three",)))
    assert wrong() == [
        'SI-NODE-004: is challenged since "2026-13-01", which is not a date',
        "SI-NODE-004: is challenged and gives no reason",
        'SI-NODE-004: the challenged test "test_three" does not cite it',
    ]


AREA = """
area: NODE
subject: nodes
requirements:
- {id: SI-NODE-001, title: t, level: MUST, level_reason: r, authority: spec, sides: [scheduler],
   observations: [plain], deadline: ack, text: x, given: g, when: w, then: t,
   sources: [{where: w, sha256: 0123456789abcdef}],
   challenged: CHALLENGED}
"""


def test_a_challenge_is_read_strictly() -> None:
    sent = f"{{since: '2026-11-20', link: '{LINK}', reason: r, tests: [a]}}"
    (requirement,) = read_area(AREA.replace("CHALLENGED", sent), "nodes.yaml").requirements

    assert requirement.challenged == Challenge("2026-11-20", LINK, "r", ("a",))
    for wrong in ("{since: '2026-11-20', reason: r}", sent.replace(LINK, "17"), "yes"):
        with pytest.raises(CatalogueError, match="SI-NODE-001"):
            read_area(AREA.replace("CHALLENGED", wrong), "nodes.yaml")
