"""From the outcome of a test to the verdict of its requirement and the exit code of the run."""

from collections.abc import Callable
from typing import Any

import pytest
from siconform.catalogue import catalogue
from siconform.verdicts import Verdict
from siwire import DEFAULT_REVISION

FAIL = Verdict.FAIL.label.upper()

OF_THE_REVISION = sum(DEFAULT_REVISION.name in r.revisions for r in catalogue().values())
Run = Callable[..., Any]


def body(text: str) -> str:
    return f'@requirement("SI-NODE-004")\ndef test_it(target):\n    {text}\n'


@pytest.mark.parametrize(
    ("text", "verdict", "code", "reason"),
    [
        ("pass", "pass", 0, ""),
        ('raise ConformanceFailure("accepted twice")', "fail", 1, "accepted twice"),
        ('raise CameLate("after 3 s")', "late", 1, "after 3 s"),
        ('raise PreconditionFailed("control rejected")', "could-not-run", 10, "control rejected"),
        ('raise NotForThisTarget("one RM only")', "not-selected", 12, "one RM only"),
        ('raise KeyError("x")', "kit-error", 13, "KeyError: 'x'"),
        ("assert 1 == 2", "kit-error", 13, "AssertionError: assert 1 == 2"),
        ('pytest.skip("no")', "could-not-run", 10, "skipped: no"),
        ('pytest.xfail("no")', "kit-error", 13, "XFailed: no"),
    ],
)
def test_test_outcome_decides_verdict(
    conformance: Run, text: str, verdict: str, code: int, reason: str
) -> None:
    outcome = conformance(body(text))

    assert outcome.verdict("SI-NODE-004") == verdict
    assert outcome.reason("SI-NODE-004") == reason
    assert outcome.code == code


@pytest.mark.parametrize(
    ("text", "verdict", "code"),
    [
        ('raise PreconditionFailed("no node")', "could-not-run", 10),
        ('raise ConformanceFailure("no node")', "could-not-run", 10),
        ('raise NotForThisTarget("one RM")', "not-selected", 12),
        ("raise KeyError()", "kit-error", 13),
    ],
)
def test_failed_setup_is_not_evidence_for_requirement(
    conformance: Run, text: str, verdict: str, code: int
) -> None:
    fixture = f"@pytest.fixture\ndef given(target):\n    {text}\n"
    outcome = conformance(fixture + body("pass").replace("target", "given"))

    assert outcome.verdict("SI-NODE-004") == verdict
    assert outcome.code == code


def test_target_error_in_teardown_does_not_decide(conformance: Run) -> None:
    fixture = (
        '@pytest.fixture\ndef given(target):\n    yield\n    raise PreconditionFailed("left one")\n'
    )
    outcome = conformance(fixture + body("pass").replace("target", "given"))

    assert outcome.verdict("SI-NODE-004") == "pass"
    assert outcome.code == 0
    assert outcome.results["notes"] == ["test_fake.py::test_it: clean-up failed: left one"]


def test_kit_error_in_teardown(conformance: Run) -> None:
    fixture = "@pytest.fixture\ndef given(target):\n    yield\n    raise KeyError()\n"
    outcome = conformance(fixture + body("pass").replace("target", "given"))

    assert outcome.verdict("SI-NODE-004") == "kit-error"


def test_test_decides_all_its_requirements(conformance: Run) -> None:
    outcome = conformance(
        '@requirement("SI-NODE-004", "SI-NODE-005")\n'
        'def test_it(target): raise ConformanceFailure("no")\n'
    )
    assert outcome.verdict("SI-NODE-004") == "fail"
    assert outcome.verdict("SI-NODE-005") == "fail"


def test_may_is_a_capability(conformance: Run) -> None:
    source = body('raise ConformanceFailure("no")').replace("SI-NODE-004", "SI-NODE-040")
    outcome = conformance(
        source + body("pass").replace("test_it", "test_must"), "--revision", "2021-02"
    )

    assert outcome.requirement("SI-NODE-040")["level"] == "MAY"
    assert outcome.verdict("SI-NODE-040") == "not-applicable"
    assert outcome.reason("SI-NODE-040") == "not offered: no"
    assert outcome.code == 0
    assert "1 passed, 1 skipped" in (outcome.folder / "pytest.log").read_text()


@pytest.mark.parametrize("marks", ["", '@requirement("SI-NODE-999")\n', "@requirement()\n"])
def test_test_without_known_requirement_is_kit_error(conformance: Run, marks: str) -> None:
    outcome = conformance(f"{marks}def test_it(target): pass\n")

    assert outcome.code == 13
    assert "test_fake.py::test_it" in outcome.results["kit_errors"][0]


def test_every_requirement_of_the_revision_is_in_the_results(conformance: Run) -> None:
    outcome = conformance(body("pass"))

    assert len(outcome.results["requirements"]) == OF_THE_REVISION
    assert sum(outcome.results["counts"].values()) == OF_THE_REVISION
    assert outcome.results["counts"]["pass"] == 1


def test_excluded_requirement_shows_reason(conformance: Run) -> None:
    outcome = conformance(body("pass"))

    assert outcome.verdict("SI-CB-012") == "excluded"
    assert "gRPC does not show" in outcome.reason("SI-CB-012")
    verdicts = [r["verdict"] for r in outcome.results["requirements"]]
    assert outcome.results["counts"]["excluded"] == verdicts.count("excluded") > 0
    assert "  excluded:\n    SI-WIRE-013: no revision marks" in outcome.out
    assert "    SI-CB-012: it is about calls within one process" in outcome.out


def test_collection_error_is_kit_error(conformance: Run) -> None:
    outcome = conformance("import nothing_of_that_name\n")

    assert outcome.code == 13
    assert "cannot be collected" in outcome.results["kit_errors"][0]
    assert "nothing_of_that_name" in outcome.results["kit_errors"][0]


def test_failure_message_is_actionable(conformance: Run) -> None:
    outcome = conformance(
        body(
            'raise ConformanceFailure("accepted twice", expected="a rejection", '
            'happened="accepted")'
        )
    )
    for part in (
        f"{FAIL}  SI-NODE-004   MUST",
        "expected   a rejection",
        "happened   accepted",
        "again      python -m pytest SI-NODE-004 ",
        'says: "accepted twice"',
    ):
        assert part in outcome.out
    assert "Traceback" not in outcome.out


def test_a_kit_error_shows_where_it_broke(conformance: Run) -> None:
    outcome = conformance(body('raise KeyError("unknown step")'))

    assert "test_fake.py" in outcome.out
    assert "unknown step" in outcome.out


def test_run_specific_ids_are_removed_from_messages(conformance: Run) -> None:
    message = (
        "siconform-gw1-77-1795250742-2 lost gw1-12-node-3, gw1-12b-node-4, 18ea02731225ad62-88 "
        "and 7f3c1de2-77aa-4c0e-9b1f-0123456789ab-0"
    )
    outcome = conformance(body(f'raise ConformanceFailure("{message}")'))

    assert outcome.reason("SI-NODE-004") == "<rm> lost node-3, b-node-4, <id> and <id>"


def test_failures_of_random_histories_come_last(conformance: Run) -> None:
    random = "@pytest.mark.explores\n" + body('raise ConformanceFailure("random")')
    other = body('raise ConformanceFailure("no")').replace("004", "006").replace("_it", "_other")
    outcome = conformance(random + other)

    failed = [failure["requirement"] for failure in outcome.results["failures"]]
    assert failed == ["SI-NODE-006", "SI-NODE-004"]
