"""The plugin in a custom test project tests its requirements and changes nothing else."""

import json
from collections.abc import Sequence
from typing import Any

import jsonschema
import pytest
from patience import patient
from siconform.results import schema
from siconform.verdicts import Verdict

FAIL = Verdict.FAIL.label.upper()

pytestmark = pytest.mark.end_to_end

CATALOGUE = """\
area: ACME-NODE
subject: What nodes of ACME are promised
requirements:
  - id: ACME-NODE-001
    title: A node with a label is accepted
    level: MUST
    text: ACME labels its nodes. A scheduler accepts a node whatever its labels are.
  - id: ACME-NODE-002
    title: A second node is rejected
    level: MUST
    text: ACME has one node. A scheduler rejects another.
"""
TESTS = """\
from siconform.marks import requirement
from siconform.protocol.notifications import NodeAccepted, NodeRejected

def test_of_their_own():
    assert 1 + 1 == 2

@requirement("ACME-NODE-001", "SI-NODE-001")
def test_a_node_is_accepted(rm):
    rm.expect(NodeAccepted(rm.registers_node(memory=16)))

@requirement("ACME-NODE-002")
def test_a_second_node_is_rejected(rm):
    rm.has_node()
    rm.expect(NodeRejected(rm.registers_node(memory=16)))
"""
THEIR_OPTIONS = """\
def pytest_addoption(parser):
    for name in ("--target", "--results", "--revision", "--baseline"):
        parser.addoption(name)
"""
RESULTS = "build/conformance-own/results.json"


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makefile(".yaml", acme=CATALOGUE)
    pytester.makefile(
        ".ini",
        pytest="[pytest]\naddopts = -p siconform.plugin --strict-markers\n"
        "si_catalogue = acme.yaml\n",
    )
    pytester.makeconftest(THEIR_OPTIONS)
    pytester.makepyfile(test_theirs=TESTS)
    return pytester


def run(project: pytest.Pytester, *options: str) -> pytest.RunResult:
    return project.runpytest_subprocess("-p", "no:cacheprovider", *options, timeout=patient())


def results(project: pytest.Pytester) -> dict[str, Any]:
    received: dict[str, Any] = json.loads((project.path / RESULTS).read_text("utf-8"))
    return received


def verdicts(found: Sequence[dict[str, Any]]) -> dict[str, str]:
    return {one["id"]: one["verdict"] for one in found}


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_custom_requirements_run_with_other_tests(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    done = run(project, *workers, "--target", "theirs")

    done.assert_outcomes(passed=2, failed=1)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    found = results(project)
    jsonschema.validate(found, schema())
    assert verdicts(found["own"]["requirements"]) == {
        "ACME-NODE-001": "pass",
        "ACME-NODE-002": "fail",
    }
    of_the_si = verdicts(found["requirements"])
    assert of_the_si["SI-NODE-001"] == "pass"
    assert not [identifier for identifier in of_the_si if not identifier.startswith("SI-")]
    assert found["verdict"] == "CONFORMANT"
    assert [failure["requirement"] for failure in found["failures"]] == ["ACME-NODE-002"]
    assert "ACME-NODE-002" in (project.path / RESULTS).with_name("failures.txt").read_text("utf-8")
    assert (project.path / RESULTS).with_name("report.html").exists()
    done.stdout.fnmatch_lines(
        [
            f"{FAIL}  ACME-NODE-002   MUST   source: your own catalogue (acme.yaml)",
            "*= short test summary info =*",
            "*= SI conformance =*",
            f"3 requirements cited: 2 {Verdict.PASS.label}, 1 {Verdict.FAIL.label}",
            f"  {FAIL}  ACME-NODE-002: A second node is rejected",
            "results in */build/conformance-own",
            "*= 1 failed, 2 passed in *",
        ]
    )
    assert "1 failed, 2 passed" in done.stdout.lines[-1]
    assert " of SI " not in done.stdout.str()


def test_other_tests_start_no_scheduler(project: pytest.Pytester) -> None:
    done = run(project, "-k", "of_their_own", "--si-target", "127.0.0.1:1")

    done.assert_outcomes(passed=1, deselected=2)
    assert done.ret == 0
    assert not (project.path / "build").exists()
    assert "SI conformance" not in done.stdout.str()


def test_missing_target_fails_only_dependent_tests(project: pytest.Pytester) -> None:
    done = run(project, "--si-target", "127.0.0.1:1")

    assert done.parseoutcomes()["passed"] == 1
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert set(verdicts(results(project)["own"]["requirements"]).values()) == {"could-not-run"}
    done.stdout.fnmatch_lines(['  happened   *let the kit start it: --si-target-command "*'])


def test_requirement_selected_by_id(project: pytest.Pytester) -> None:
    done = run(project, "-k", "ACME-NODE-001")

    done.assert_outcomes(passed=1, deselected=2)
    assert done.ret == 0
    assert verdicts(results(project)["own"]["requirements"])["ACME-NODE-002"] == "not-selected"


def test_all_catalogue_errors_are_reported(project: pytest.Pytester) -> None:
    project.makefile(
        ".yaml",
        acme=CATALOGUE.replace("level: MUST", "level: HAS", 1).replace("ACME-NODE-002", "SI-NODE-1")
        + "    colour: green\n  - id: ACME-NODE-001\n    level: MAY\n  - id: acme-1\n    title: T\n"
        "    level: MAY\n    text: T\n",
    )

    done = run(project)

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    mutants = [
        line.partition("acme.yaml: ")[2] for line in done.stderr.lines if "acme.yaml" in line
    ]
    assert mutants == [
        'ACME-NODE-001: level: unknown value "HAS" (known: MUST, SHOULD, MAY)',
        'SI-NODE-1: unknown key "colour"',
        'ACME-NODE-001: "title" is missing',
        'ACME-NODE-001: "text" is missing',
        "acme-1: an id is capital letters, digits and hyphens with a number last, as ACME-NODE-001",
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--si-target", "mine@1"), '*unknown target "mine@1": *'),
        (("--si-catalogue", "none.yaml"), "*none.yaml: the catalogue cannot be read: *"),
        (("--si-results", ""), "*: --si-results is empty*"),
        (("--si-time-scale", "fast"), '*: --si-time-scale "fast" must be a positive number'),
    ],
)
def test_a_wrong_option_is_one_sentence(
    project: pytest.Pytester, options: tuple[str, ...], sentence: str
) -> None:
    done = run(project, *options)

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([sentence])


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "two workers"])
def test_unknown_requirement_of_a_test_is_one_sentence(
    project: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    project.makepyfile(test_theirs=TESTS.replace("ACME-NODE-002", "ACME-NODE-0002"))

    done = run(project, *workers)

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert done.stderr.str().strip() == (
        "ERROR: siconform: test_theirs.py::test_a_second_node_is_rejected: "
        'unknown requirement "ACME-NODE-0002"; did you mean ACME-NODE-002?'
    )
    assert "INTERNALERROR" not in done.stdout.str()


def test_requirements_without_a_test_are_counted_apart(project: pytest.Pytester) -> None:
    project.makepyfile(test_theirs=TESTS.replace('"ACME-NODE-002"', '"SI-NODE-002"'))

    done = run(project, "-k", "a_node")

    counts = f"2 {Verdict.PASS.label}, 1 {Verdict.NOT_SELECTED.label}"
    done.stdout.fnmatch_lines([f"3 requirements cited: {counts}; 1 of your own without a test"])


@pytest.mark.parametrize("identifier", ['["SI-NODE-001"]', "1"])
def test_requirement_id_that_is_not_text_is_unknown(
    project: pytest.Pytester, identifier: str
) -> None:
    project.makepyfile(test_theirs=TESTS.replace('"ACME-NODE-002"', identifier))

    done = run(project)

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "unknown requirement" in done.stderr.str()
