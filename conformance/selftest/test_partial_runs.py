"""A run of selected requirements or tests states first that it is partial."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from siconform.catalogue import Level
from siconform.config.command_line import RUN, CommandLine
from siconform.policy import RequirementResult, RunStatus, evaluate
from siconform.verdicts import Verdict

from .commands import invoke
from .stored_runs import OF_SCHEDULERS, document, folder_of, requirement

Run = Callable[..., Any]

ALL = len(OF_SCHEDULERS)
MUST = next(r for r in OF_SCHEDULERS if r.level is Level.MUST)
SHOULD = next(r for r in OF_SCHEDULERS if r.level is Level.SHOULD)
OPTIONS = RunStatus("2024-10", partial="NODE, level MUST")

SUITE = """
@requirement("SI-NODE-004")
def test_one(target): pass

@requirement("SI-NODE-006")
def test_two(target): pass
"""


def sentence(*results: RequirementResult, status: RunStatus = OPTIONS) -> str:
    others = [
        RequirementResult(r, Verdict.NOT_SELECTED, "not selected")
        for r in OF_SCHEDULERS
        if r not in (one.requirement for one in results)
    ]
    return evaluate([*results, *others], status).sentence


def test_passed_partial_run_is_not_called_conformant() -> None:
    received = sentence(RequirementResult(MUST, Verdict.PASS, ""))

    assert received == (
        f"PARTIAL: 1 of {ALL} requirements tested, all passed "
        "(SI 2024-10; selected: NODE, level MUST)"
    )


@pytest.mark.parametrize(
    ("results", "begins"),
    [
        ([(MUST, Verdict.FAIL)], "NON-CONFORMANT: 1 MUST fail; partial run: 1 of "),
        (
            [(MUST, Verdict.COULD_NOT_RUN)],
            f"INCOMPLETE: 1 MUST {Verdict.COULD_NOT_RUN.label}; partial run: 0 of ",
        ),
        ([(MUST, Verdict.BASELINED)], "NON-CONFORMANT as recorded: 1 MUST known failure; partial"),
        ([], "INCOMPLETE: nothing was tested; partial run: 0 of "),
        ([(MUST, Verdict.PASS), (SHOULD, Verdict.FAIL)], "PARTIAL: 2 of "),
    ],
)
def test_other_verdicts_state_that_the_run_was_partial(results: Any, begins: str) -> None:
    received = sentence(*(RequirementResult(one, verdict, "") for one, verdict in results))

    assert received.startswith(begins)
    assert "(SI 2024-10; selected: NODE, level MUST)" in received


def test_failed_should_is_not_among_all_passed() -> None:
    passed, failed = (MUST, Verdict.PASS), (SHOULD, Verdict.FAIL)

    assert ", no MUST failed (SI " in sentence(
        *(RequirementResult(one, verdict, "") for one, verdict in (passed, failed))
    )


def test_long_selection_is_cut() -> None:
    ids = " ".join(r.id for r in OF_SCHEDULERS)
    received = sentence(
        RequirementResult(MUST, Verdict.PASS, ""), status=RunStatus("2024-10", partial=ids)
    )

    assert received.endswith(" ...)")
    assert len(received) < 200


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        (["NODE", "--level", "MUST"], "NODE, level MUST"),
        (["node-4", "-k", "SI-NODE-004"], "node-4, -k SI-NODE-004"),
    ],
)
def test_partial_run_is_partial_in_every_output(
    conformance: Run, options: list[str], selected: str
) -> None:
    outcome = conformance(SUITE, *options, "-q")

    stated = outcome.results["sentence"]
    assert stated.startswith("PARTIAL: ")
    assert stated.endswith(f"requirements tested, all passed (SI 2024-10; selected: {selected})")
    assert outcome.out.startswith(stated)
    assert (outcome.code, outcome.results["verdict"]) == (0, "CONFORMANT")
    assert outcome.results["partial"] is True
    assert properties(outcome.folder)["sentence"] == stated
    assert properties(outcome.folder)["partial"] == "true"
    page = (outcome.folder / "report.html").read_text("utf-8")
    assert "<title>PARTIAL: " in page
    assert "(partial run)</h1>" in page
    assert not list(outcome.folder.glob("*.sha256"))
    assert not {"certificate.json", "badge.json"} & {f.name for f in outcome.folder.iterdir()}


@pytest.mark.parametrize("options", [[], ["--profile", "base"]])
def test_whole_run_and_profile_are_not_partial(conformance: Run, options: list[str]) -> None:
    outcome = conformance(SUITE, *options, "-q")

    assert outcome.results["sentence"].startswith("CONFORMANT")
    assert outcome.results["partial"] is False
    assert properties(outcome.folder)["partial"] == "false"
    page = (outcome.folder / "report.html").read_text("utf-8")
    assert "<title>CONFORMANT: " in page
    assert "partial run" not in page


@pytest.mark.parametrize(
    ("options", "partial"),
    [
        (["-k", "gang or wire", "-x"], "-k 'gang or wire'"),
        (["-kgang"], "-kgang"),
        (["-m", "not waits", "--explore", "0"], "-m 'not waits'"),
        (["suite/test_nodes.py::test_x"], "suite/test_nodes.py::test_x"),
        (["--deselect=suite/test_nodes.py", "-q"], "--deselect=suite/test_nodes.py"),
        (["--ignore", "suite/test_nodes.py"], "--ignore suite/test_nodes.py"),
        (["-x", "--without", "gang", "--target", "127.0.0.1:1"], ""),
    ],
)
def test_options_that_select_tests_are_stated(options: list[str], partial: str) -> None:
    assert CommandLine(RUN, tuple(options)).test_selection == partial


def test_failed_partial_run_stays_non_conformant(conformance: Run) -> None:
    outcome = conformance(SUITE.replace("pass\n\n", "raise ConformanceFailure('no')\n\n"), "NODE")

    assert (outcome.code, outcome.results["verdict"]) == (1, "NON-CONFORMANT")
    assert "1 MUST fail; partial run: 2 of " in outcome.results["sentence"]
    assert "<title>NON-CONFORMANT (partial run): " in (outcome.folder / "report.html").read_text()


def properties(folder: Path) -> dict[str, str]:
    root = ET.parse(folder / "junit.xml").getroot()  # noqa: S314  # our own
    found = root.iterfind("./testsuite/properties/property")
    return {one.attrib["name"]: one.attrib["value"] for one in found}


def test_partial_run_is_never_certified(tmp_path: Path) -> None:
    selects_everything = document(requirement("SI-NODE-004", "pass"), partial=True)
    run = folder_of(selects_everything, tmp_path / "out")

    done = invoke("certify", str(run), "-o", "-")

    assert done.exit_code == 4
    assert "is not certified: it ran a part of the suite; run the whole suite" in done.stderr


def test_comparison_names_partial_run(tmp_path: Path) -> None:
    one = requirement("SI-NODE-004", "pass")
    before = folder_of(document(one), tmp_path / "before")
    after = folder_of(document(one, partial=True), tmp_path / "after")

    first, second = invoke("compare", str(before), str(after)).stdout.split("\n")[:2]

    assert first == f"before  mine 1.0, SI 2024-10   ({before})"
    assert second == f"after   mine 1.0, SI 2024-10, partial run   ({after})"
