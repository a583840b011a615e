"""What the result of a trace amounts to: verdict, exit code, baseline, like violations."""

import pytest
from selftest.trace_report_samples import (
    BROKEN,
    CLEAN,
    DRAINING,
    IDLE,
    MAY,
    SHOULD,
    known,
    made,
    on_draining,
    requirement,
    result,
)
from siconform.catalogue import Level
from siconform.output.trace_report.evaluation import comparable, evaluate
from siconform.trace_outcomes import TraceOutcome


def test_violated_must_is_code_1() -> None:
    found = evaluate(BROKEN)

    assert found.exit_code == 1
    assert found.sentence == "NON-CONFORMANT: 1 MUST violated (SI 2024-10)"


def test_clean_trace_is_never_called_conformant() -> None:
    found = evaluate(CLEAN)

    assert found.exit_code == 0
    assert found.sentence == "NO VIOLATION SEEN: 1 held, 1 not exercised (SI 2024-10)"


def test_nothing_exercised_is_code_12() -> None:
    assert evaluate(result(requirement(IDLE))).exit_code == 12


@pytest.mark.parametrize(
    ("fail_on", "code", "sentence"),
    [
        (
            Level.MUST,
            0,
            "NO VIOLATION SEEN of a MUST: 1 SHOULD violated, 1 held, 0 not exercised (SI 2024-10)",
        ),
        (Level.SHOULD, 1, "NON-CONFORMANT: 1 SHOULD violated (SI 2024-10)"),
    ],
)
def test_fail_on_decides_whether_should_counts(fail_on: Level, code: int, sentence: str) -> None:
    checked = result(requirement(SHOULD, "rejection of k gives no reason"), CLEAN.requirements[0])

    found = evaluate(checked, fail_on=fail_on)

    assert (found.exit_code, found.sentence) == (code, sentence)


def test_violated_may_is_not_offered() -> None:
    (found,) = evaluate(result(requirement(MAY, "it takes no capacity"))).requirements

    assert found.outcome is TraceOutcome.NOT_APPLICABLE
    assert found.reason == "not offered: it takes no capacity"


# baselines


@pytest.mark.parametrize("message", ["is draining", "allocation ask-#", "/ask-[45] is on/"])
def test_known_failure_is_code_0(message: str) -> None:
    found = evaluate(BROKEN, known(message))

    assert found.exit_code == 0
    assert found.sentence == "NON-CONFORMANT as recorded: 1 MUST known failure (SI 2024-10)"
    assert found.requirements[0].outcome is TraceOutcome.BASELINED


def test_entry_that_explains_some_of_the_violations_is_not_enough() -> None:
    found = evaluate(BROKEN, known("ask-4 is on"))

    assert found.exit_code == 1


def test_other_violation_of_known_requirement_counts() -> None:
    checked = result(requirement(DRAINING, on_draining("k"), "something else"))

    found = evaluate(checked, known("draining"))

    assert found.exit_code == 1
    assert found.requirements[0].reason == "something else (2 times)"


def test_entry_that_the_trace_does_not_show_is_not_stale() -> None:
    found = evaluate(CLEAN, known("draining"))

    assert found.exit_code == 0
    assert found.not_seen == ('SI-NODE-026: fail "draining": not in this trace',)


def test_with_a_baseline_every_violation_needs_an_entry() -> None:
    checked = result(requirement(SHOULD, "no reason"), CLEAN.requirements[0])

    found = evaluate(checked, known("draining"))

    assert found.exit_code == 11
    assert found.sentence.endswith("; the baseline does not explain SI-ASK-026 (SI 2024-10)")


def test_violations_that_were_not_kept_are_named() -> None:
    (note,) = evaluate(BROKEN, known("draining")).notes()

    assert note.startswith("SI-NODE-026: only the first 10 of its 1,204 violations and")


def test_messages_of_two_traces_are_comparable() -> None:
    uid = "0d3a7c1e-94b5-4c21-8a43-1f0c2f6f9d10"

    assert comparable(on_draining("ask-4")) == comparable(on_draining("ask-17", "node-22"))
    assert comparable(on_draining(uid, "ip-10-0-3-17")) == (
        "allocation <id> is on ip-#-#-#-#, which is draining"
    )


def test_like_violations_are_shown_once() -> None:
    (violation,) = made()["violations"]

    assert violation["says"] == "allocation ask-# is on node-#, which is draining"
    assert violation["happened"] == on_draining("ask-4")
    assert violation["times"] == 2


# results.json
