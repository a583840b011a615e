"""What a run records: known failures, monitor messages, histories, Allure labels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from siconform.verdicts import Verdict

from .conftest import RM_WITH_HISTORY

FAIL = Verdict.FAIL.label.upper()

Run = Callable[..., Any]

FAILS = (
    '@requirement("SI-NODE-004")\ndef test_one(target): raise ConformanceFailure("accepted 2")\n'
)
PASSES = '@requirement("SI-NODE-006")\ndef test_two(target): pass\n'
KNOWN = "- {requirement: SI-NODE-004, outcome: fail, says: accepted 2, reason: core keeps none}\n"


@pytest.fixture
def known(tmp_path: Path) -> Callable[[str], list[str]]:
    """Return the options for a baseline with this content."""

    def write(text: str) -> list[str]:
        path = tmp_path / "known.yaml"
        path.write_text(text)
        return ["--baseline", str(path)]

    return write


def test_known_failure_does_not_fail_the_run(conformance: Run, known: Any) -> None:
    outcome = conformance(FAILS + PASSES, *known(KNOWN))

    assert outcome.code == 0
    assert outcome.results["verdict"] == "NON-CONFORMANT"
    assert (
        outcome.results["sentence"]
        == f"NON-CONFORMANT as recorded: 1 MUST {Verdict.BASELINED.label}"
    )
    assert outcome.verdict("SI-NODE-004") == "baselined"
    assert outcome.reason("SI-NODE-004") == "accepted 2 (known: core keeps none)"
    assert outcome.requirement("SI-NODE-004")["known"][0]["reason"] == "core keeps none"
    assert "1 xfailed" in (outcome.folder / "pytest.log").read_text()


PASSES_NOW = PASSES + FAILS.replace("raise ConformanceFailure", "str")


@pytest.mark.parametrize(
    ("source", "text", "stale"),
    [
        (PASSES_NOW, KNOWN, "passes now"),
        (FAILS + PASSES, KNOWN.replace("accepted 2", "refused"), "the message has changed"),
        (FAILS + PASSES, KNOWN.replace("fail", "late"), "the message has changed"),
        (FAILS + PASSES, KNOWN + KNOWN.replace("}", ", test: test_none}"), "matches nothing"),
        (PASSES, KNOWN.replace("NODE-004", "GANG-001"), "matches nothing that ran"),
    ],
)
def test_stale_entry_fails_the_run(
    conformance: Run, known: Any, source: str, text: str, stale: str
) -> None:
    outcome = conformance(source, *known(text))

    assert outcome.code == 11
    assert len(outcome.results["baseline"]["stale"]) == 1
    assert stale in outcome.results["baseline"]["stale"][0]
    assert "STALE" in outcome.out


@pytest.mark.slow("starts two workers")
def test_known_failure_applies_to_every_worker(conformance: Run, known: Any) -> None:
    outcome = conformance(FAILS + PASSES, *known(KNOWN), "-n", "2", fresh=True)

    assert outcome.code == 0
    assert outcome.verdict("SI-NODE-004") == "baselined"


WITH_HISTORY = f"""{RM_WITH_HISTORY}
from siconform.monitors import MonitorResult
import siconform.running.test_hooks as test_hooks

def says(monkeypatch, *results):
    monkeypatch.setattr(test_hooks.monitors, "check", lambda exchange, lacks, side: list(results))
"""


def test_monitor_decides_its_own_requirements(conformance: Run) -> None:
    outcome = conformance(
        WITH_HISTORY
        + '@requirement("SI-NODE-006")\n'
        + "def test_two(rm, monkeypatch):\n"
        + "    says(monkeypatch,\n"
        + '        MonitorResult("capacity", ("SI-NODE-004",), 3, "20 of 16 in use"),\n'
        + '        MonitorResult("identities", ("SI-NODE-005",), 2, None),\n'
        + '        MonitorResult("silence", ("SI-NODE-008",), 0, None))\n'
    )

    assert outcome.verdict("SI-NODE-006") == "pass"
    assert outcome.verdict("SI-NODE-004") == "fail"
    assert outcome.reason("SI-NODE-004") == "20 of 16 in use"
    assert outcome.requirement("SI-NODE-004")["tests"][0]["monitor"] == "capacity"
    assert outcome.verdict("SI-NODE-005") == "pass"
    assert outcome.verdict("SI-NODE-008") == "not-selected"
    assert "precondition never held" in outcome.reason("SI-NODE-008")
    assert outcome.code == 1
    assert "seen by    the monitor capacity" in outcome.out
    assert "1 failed" in (outcome.folder / "pytest.log").read_text()


def test_failure_message_is_of_worst_failure(conformance: Run) -> None:
    outcome = conformance(
        WITH_HISTORY
        + '@requirement("SI-NODE-006")\n'
        + "def test_two(rm, monkeypatch):\n"
        + "    says(monkeypatch,\n"
        + '        MonitorResult("capacity", ("SI-NODE-004",), 3, "20 of 16 in use"))\n'
        + '    raise PreconditionFailed("no node")\n'
    )
    assert outcome.verdict("SI-NODE-006") == "could-not-run"
    assert f"{FAIL}  SI-NODE-004   MUST" in outcome.out
    assert f"also       {Verdict.COULD_NOT_RUN.label} SI-NODE-006: no node" in outcome.out


def test_recorded_values_are_stored_with_requirement(conformance: Run) -> None:
    outcome = conformance(
        WITH_HISTORY
        + '@requirement("SI-NODE-004", "SI-NODE-006")\n'
        + "def test_one(rm, request):\n"
        + '    request.node.stash[HISTORY].recorded.append("gw1-12-node-3 stays")\n'
        + '@requirement("SI-NODE-006")\ndef test_two(rm): pass\n'
    )
    first, second = (
        [t for t in outcome.requirement(name)["tests"] if not t["monitor"]]
        for name in ("SI-NODE-004", "SI-NODE-006")
    )

    assert [test["recorded"] for test in first] == [["node-3 stays"]]
    assert [test["recorded"] for test in second] == [["node-3 stays"], []]


def test_monitor_exception_is_kit_error(conformance: Run) -> None:
    outcome = conformance(
        WITH_HISTORY
        + '@requirement("SI-NODE-006")\ndef test_two(rm, monkeypatch):\n'
        + '    monkeypatch.setattr(test_hooks.monitors, "check", None)\n'
    )
    assert outcome.code == 13
    assert "error in a monitor" in outcome.results["kit_errors"][0]


def test_failure_history_is_kept_and_shown(conformance: Run) -> None:
    outcome = conformance(
        WITH_HISTORY
        + '@requirement("SI-NODE-004")\n'
        + "def test_one(rm):\n"
        + '    rm.add("rm-1", [NodeAccepted("node-1")], sent_by_rm=False)\n'
        + '    raise ConformanceFailure("accepted")\n'
        + PASSES.replace("target", "rm")
    )
    (kept,) = (outcome.folder / "histories").iterdir()

    assert kept.name == "test_fake.py_test_one.jsonl"
    entry, ending = map(json.loads, kept.read_text().splitlines())
    assert "node-1" in entry["says"]
    assert ending["judged"]["requirement"] == "SI-NODE-004"
    assert "node-1" in outcome.out
    assert "node-1" in (outcome.folder / "failures.txt").read_text()


def test_allure_results_carry_the_requirement(conformance: Run, pytester: pytest.Pytester) -> None:
    outcome = conformance(PASSES, "-p", "allure_pytest", "--alluredir", "allure", fresh=True)

    assert outcome.code == 0
    (result,) = (pytester.path / "allure").glob("*-result.json")
    labels = {(x["name"], x["value"]) for x in json.loads(result.read_text())["labels"]}
    assert ("tag", "SI-NODE-006") in labels
    assert ("feature", "NODE") in labels
    assert ("level", "MUST") in labels
    assert ("severity", "critical") in labels


@pytest.mark.parametrize(
    ("options", "received", "not_received"),
    [
        (["-q"], f"NON-CONFORMANT: 1 MUST {Verdict.FAIL.label}", "expected"),
        (["-qq"], f"NON-CONFORMANT: 1 MUST {Verdict.FAIL.label}", f"{FAIL}  SI-NODE-004"),
        (["-v"], "failed   test_fake.py::test_one", "ERROR"),
    ],
)
def test_quiet_option(
    conformance: Run, options: list[str], received: str, not_received: str
) -> None:
    source = FAILS.replace('2")', '2", expected="a rejection")')
    outcome = conformance(source + PASSES, *options)

    assert received in outcome.out
    assert not_received not in outcome.out
