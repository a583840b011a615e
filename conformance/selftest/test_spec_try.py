"""The results of trying an edited specification, and how they are reported."""

import json
from importlib import resources
from typing import Any

import jsonschema
import pytest
from siconform.outcomes import NotExpressible, inexpressible_in
from siconform.verdicts import Verdict
from sispec.trying.showing import document, markdown_lines, shown, trial_lines
from sispec.trying.trial import Trial, TrialVerdict, findings, suspects

TEST = "suite/test_nodes.py::test_one"
OTHER = "suite/test_nodes.py::test_other"
LOST = NotExpressible({"si.v1.NodeInfo.nodeID": "there is no such field"})

Received = tuple[str, str, str, str]  # test, verdict, message, monitor


def received(test: str, verdict: str, message: str = "", monitor: str = "") -> Received:
    return test, verdict, message, monitor


def results(verdict: str, *tests: Received, identifier: str = "SI-NODE-001") -> dict[str, Any]:
    """Return a minimal results.json with one requirement."""
    return {
        "requirements": [
            {
                "id": identifier,
                "title": "A node is accepted",
                "level": "MUST",
                "verdict": verdict,
                "tests": [
                    {"id": test, "verdict": verdict, "says": message, "monitor": monitor}
                    for test, verdict, message, monitor in tests
                ],
            }
        ]
    }


def came(*runs: dict[str, Any] | None) -> TrialVerdict:
    (finding,) = findings(*runs)  # type: ignore[arg-type]  # the first is none
    return finding.came


PASSED = results("pass", received(TEST, "pass"))
FAILED = results("fail", received(TEST, "fail", "never received: node accepted"))
UNSAID = results("could-not-run", received(TEST, "could-not-run", LOST.message))


def test_passing_text_needs_no_second_run() -> None:
    assert suspects(PASSED) == ()
    assert came(PASSED) is TrialVerdict.PASSES


def test_failure_with_edited_text_alone_is_due_to_change() -> None:
    assert suspects(FAILED) == (TEST,)
    assert came(FAILED, PASSED) is TrialVerdict.FAILS


def test_failure_without_change_is_not_counted() -> None:
    assert came(FAILED, FAILED) is TrialVerdict.AS_BEFORE
    assert came(UNSAID, FAILED) is TrialVerdict.AS_BEFORE


def test_flaky_failure_is_not_counted() -> None:
    assert came(FAILED, PASSED, PASSED) is TrialVerdict.PASSES
    assert came(FAILED, PASSED, FAILED) is TrialVerdict.FAILS


def test_failed_precondition_counts_as_failure() -> None:
    lost = results("could-not-run", received(TEST, "could-not-run", "precondition failed (a node)"))

    assert came(lost, PASSED) is TrialVerdict.FAILS
    assert came(UNSAID, PASSED) is TrialVerdict.UNSAID


def test_feature_no_longer_offered_fails() -> None:
    not_offered = results("not-applicable", received(TEST, "not-applicable", "not offered: late"))

    assert suspects(not_offered) == (TEST,)
    assert came(not_offered, PASSED) is TrialVerdict.FAILS
    assert came(not_offered, not_offered) is TrialVerdict.AS_BEFORE


def test_monitor_violations_are_compared_in_the_same_tests() -> None:
    complaint = received(TEST, "fail", "undeclared field 3", "every_field_is_declared")
    held = received("monitor every_field_is_declared", "pass", "held in 1 test", "every_field")
    silent = results("not-selected", received(TEST, "pass"), identifier="SI-NODE-002")

    assert suspects(results("fail", complaint)) == (TEST,)
    assert came(results("fail", complaint, held), silent) is TrialVerdict.FAILS
    assert came(results("fail", complaint), results("fail", complaint)) is TrialVerdict.AS_BEFORE


def test_some_of_many_tests_with_violations_are_run_again() -> None:
    many = [
        received(f"suite/test_nodes.py::test_{n}", "fail", "no", "a monitor") for n in range(99)
    ]

    assert 1 < len(suspects(results("fail", *many))) < 20


def test_worst_test_decides() -> None:
    both = results(
        "fail", received(TEST, "fail", "no"), received(OTHER, "could-not-run", LOST.message)
    )
    passes = results("pass", received(TEST, "pass"), received(OTHER, "pass"))

    (finding,) = findings(both, passes)

    assert finding.came is TrialVerdict.FAILS
    assert [outcome.test for outcome in finding.outcomes] == [TEST]


@pytest.mark.parametrize(
    "open_one",
    [
        received(TEST, "not-reached", "not reached: failing tests took more than 60 s"),
        received(
            "monitor a", "could-not-run", "its precondition never held in the tests that ran", "a"
        ),
    ],
)
def test_not_reached_is_neither_passed_nor_failed(open_one: Received) -> None:
    edited = results("could-not-run", open_one)

    assert suspects(edited) == ()
    assert came(edited) is TrialVerdict.UNJUDGED


def test_unexercised_monitor_keeps_passed_tests() -> None:
    absent = received("monitor a", "could-not-run", "its precondition never held", "a")

    assert came(results("pass", received(TEST, "pass"), absent)) is TrialVerdict.PASSES


@pytest.mark.parametrize("verdict", ["excluded", "no-test-yet", "not-selected", "of-the-rm"])
def test_untested_requirement_is_left_out(verdict: str) -> None:
    assert findings(results(verdict)) == ()


def test_known_deviation_stays_known() -> None:
    known = results("baselined", received(TEST, "baselined", "no (known: so it is)"))

    assert suspects(known) == ()
    assert came(known) is TrialVerdict.AS_BEFORE


def test_unsendable_elements_are_all_named() -> None:
    lost = NotExpressible({"si.v1.NodeInfo.nodeID": "it is bytes there", "si.v1.Allocation.a": ""})

    assert inexpressible_in(lost.message) == ("si.v1.NodeInfo.nodeID", "si.v1.Allocation.a")
    assert inexpressible_in(f"precondition: {lost.message}") == inexpressible_in(lost.message)
    assert inexpressible_in("si.v1.NodeInfo.nodeID was undeclared") == ()


def trial(*parts: dict[str, Any], losses: tuple[tuple[str, str], ...] = ()) -> Trial:
    found = tuple(finding for edited in parts for finding in findings(edited, PASSED))
    return Trial("si.md", "2024-10", "the embedded reference", found, losses)


def test_counts_come_first_then_each_requirement_under_its_reason() -> None:
    losses = (("si.v1.NodeInfo.nodeID", "gone"), ("si.v1.UtilizationReport.a", "gone"))

    lines = list(trial_lines(trial(PASSED, FAILED, UNSAID, losses=losses)))

    assert lines == [
        "BREAKS   si.md against the embedded reference, which implements SI 2024-10",
        "  1 still pass, 1 fail because of the change, 1 can no longer be sent",
        "",
        "FAIL BECAUSE OF THE CHANGE (1)",
        "  never received: node accepted",
        "    SI-NODE-001 MUST  A node is accepted  [test_one]",
        "",
        "CAN NO LONGER BE SENT (1)",
        "  si.v1.NodeInfo.nodeID (there is no such field) can no longer be sent",
        "    SI-NODE-001 MUST  A node is accepted  [test_one]",
        "",
        "GONE, BUT NOT NEEDED BY ANY TEST THAT RAN (1)",
        "  si.v1.UtilizationReport.a: gone",
    ]


def test_nothing_broken_has_short_report() -> None:
    assert not trial(PASSED).breaks
    assert [*trial_lines(trial(PASSED))] == [
        "NOTHING BREAKS   si.md against the embedded reference, which implements SI 2024-10",
        "  1 still pass, 0 fail because of the change, 0 can no longer be sent",
    ]


def test_in_markdown_the_reasons_are_lists_and_brackets_no_markup() -> None:
    lines = "\n".join(markdown_lines(trial(FAILED)))

    assert "#### Fail because of the change (1)" in lines
    assert "\\[test_one\\]" in lines


def test_json_matches_schema() -> None:
    schema = resources.files("sispec.trying").joinpath("trial.schema.json").read_text("utf-8")
    some = trial(PASSED, FAILED, UNSAID, losses=(("si.v1.NodeInfo.nodeID", "gone"),))

    sent = json.loads(shown(some, "json"))

    jsonschema.validate(sent, json.loads(schema))
    assert sent == document(some)
    assert sent["counts"] == {"fails": 1, "unsaid": 1, "unjudged": 0, "passes": 1, "as_before": 0}
    assert [one["came"] for one in sent["requirements"]] == ["passes", "fails", "unsaid"]
    assert all(one["tests"] for one in sent["requirements"] if one["came"] != "passes")
    assert {Verdict(t["verdict"]) for one in sent["requirements"] for t in one["tests"]} == {
        Verdict.FAIL,
        Verdict.COULD_NOT_RUN,
    }
