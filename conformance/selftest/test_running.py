"""A run as a whole: selection, abortion, and the files it leaves."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from patience import wait_for
from siconform.catalogue import catalogue
from siconform.verdicts import Verdict
from siwire import DEFAULT_REVISION, rpc

from .commands import results_in
from .processes import exists
from .serving import scheduler

NOT_REACHED = Verdict.NOT_REACHED.label

OF_THE_REVISION = sum(DEFAULT_REVISION.name in r.revisions for r in catalogue().values())
Run = Callable[..., Any]

TWO = (
    '@requirement("SI-NODE-004")\ndef test_one(target): pass\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): raise ConformanceFailure("no")\n'
)


def test_requirement_id_selects_its_tests(conformance: Run) -> None:
    outcome = conformance(TWO, "-k", "SI-NODE-004")

    assert outcome.code == 0
    assert outcome.verdict("SI-NODE-004") == "pass"
    assert outcome.verdict("SI-NODE-006") == "not-selected"
    assert outcome.results["left_out"] == [
        {"test": "test_fake.py::test_two", "reason": Verdict.NOT_SELECTED.label}
    ]


def test_unknown_id_is_usage_error(conformance: Run) -> None:
    outcome = conformance(TWO, "-k", "SI-NODE-4 or gang")

    assert outcome.code == 4
    assert outcome.err.strip() == (
        'siconform: unknown requirement "SI-NODE-4"; did you mean SI-NODE-004?'
    )


def test_empty_selection_keeps_pytest_exit_code(conformance: Run) -> None:
    outcome = conformance(TWO, "-k", "nothing_like_it")

    assert outcome.code == 5
    assert outcome.results["sentence"] == (
        "INCOMPLETE: no test was selected (SI 2024-10; selected: -k nothing_like_it)"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--revision", "2023-13"], 'unknown revision "2023-13"; did you mean "2023-12"?'),
        (["--target", "nowhere"], 'unknown target "nowhere": give HOST:PORT or NAME@VERSION.'),
        (["--target", "127.0.0.1:99999"], '--target "127.0.0.1:99999" has a port that is not'),
        (["--target", "yunikorn-core@0.0.1"], "unknown version of yunikorn-core. Known: 1.4.0"),
        (["--time-scale", "fast"], '--time-scale "fast" must be a positive number'),
        (["--time-scale", "0"], '--time-scale "0" must be a positive number'),
        (["--time-scale", "inf"], '--time-scale "inf" must be a positive number'),
        (["--baseline", "none.yaml"], "none.yaml: the baseline cannot be read: No such file"),
        (["--target-command", "'unclosed"], "is not a valid command line: No closing quotation"),
        (["--target-command", " "], "--target-command is empty"),
        (["--target", "127.0.0.1:1", "--target-command", "x"], "are mutually exclusive"),
        (["--results", "/proc/none"], "results cannot be written to /proc/none"),
    ],
)  # fmt: skip
def test_wrong_option_is_one_sentence_and_code_4(
    conformance: Run, options: list[str], sentence: str
) -> None:
    outcome = conformance(TWO, *options, target=False)

    assert outcome.code == 4
    assert len(outcome.err.strip().splitlines()) == 1
    assert outcome.err.startswith("siconform: ")
    assert sentence in outcome.err
    assert outcome.results == {}


def test_run_without_listener(conformance: Run, closed_address: str) -> None:
    outcome = conformance(TWO, "--target", closed_address, target=False)

    assert outcome.code == 12
    assert outcome.results["sentence"].startswith(
        f"siconform: nothing listens on {closed_address}. Start"
    )
    assert "--target-command" in outcome.out
    assert len(outcome.results["requirements"]) == OF_THE_REVISION
    assert outcome.results["counts"]["pass"] == 0
    assert not (outcome.folder / "report.html").exists()


def test_dead_target_reports_last_output(conformance: Run) -> None:
    dying = f"{sys.executable} -c \"import sys; sys.exit('no license found')\""
    source = (
        '@requirement("SI-NODE-004")\ndef test_one(target): target.address\n'
        '@requirement("SI-NODE-006")\ndef test_two(target): target.address\n'
    )
    outcome = conformance(source, "--target-command", dying, target=False)

    assert outcome.code == 12
    assert outcome.verdict("SI-NODE-004") == "could-not-run"
    assert outcome.results["sentence"] == (
        "siconform: the target command did not start: it ended with exit status 1: no license found"
    )
    assert outcome.results["sentence"] in outcome.out


DISRUPTIVE = (
    '@requirement("SI-NODE-004")\n@pytest.mark.disruptive\ndef test_one(target): pass\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): pass\n'
)


@pytest.fixture
def listening() -> Iterator[str]:
    """A scheduler that ends every call."""
    with scheduler(dict.fromkeys(rpc.methods(DEFAULT_REVISION), lambda *_: iter(()))) as address:
        yield address


def test_disruptive_tests_need_restartable_target(conformance: Run, listening: str) -> None:
    outcome = conformance(DISRUPTIVE, "--target", listening, target=False)

    assert outcome.verdict("SI-NODE-004") == "not-selected"
    assert "give --disruptive" in outcome.reason("SI-NODE-004")
    assert outcome.verdict("SI-NODE-006") == "pass"


@pytest.mark.parametrize("attached", [True, False])
def test_disruptive_tests_run_when_asked_for_or_harmless(
    conformance: Run, listening: str, *, attached: bool
) -> None:
    options = ["--target", listening, "--disruptive"] if attached else []
    outcome = conformance(DISRUPTIVE, *options, target=not attached)

    assert outcome.verdict("SI-NODE-004") == "pass"


def test_test_of_other_revisions_is_left_out(conformance: Run) -> None:
    source = '@requirement("SI-WIRE-002")\ndef test_old(target): raise KeyError\n' + TWO
    outcome = conformance(source, "-k", "test_o")

    assert {
        "test": "test_fake.py::test_old",
        "reason": f"none of its requirements belongs to SI {DEFAULT_REVISION}",
    } in outcome.results["left_out"]
    assert outcome.code == 0


def test_junit_has_requirements_and_verdicts(conformance: Run, tmp_path: Path) -> None:
    baseline = tmp_path / "known.yaml"
    baseline.write_text("- {requirement: SI-NODE-006, outcome: fail, says: 'no', reason: old}\n")
    three = (
        TWO + '@requirement("SI-NODE-009")\ndef test_three(target): raise PreconditionFailed("x")\n'
    )
    outcome = conformance(three, "--baseline", str(baseline))

    suite = ET.parse(outcome.folder / "junit.xml").getroot()[0]  # noqa: S314  # our own file
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    properties = {(p.get("name"), p.get("value")) for p in cases["test_two"].iter("property")}
    assert ("requirement", "SI-NODE-006") in properties
    assert ("verdict", "SI-NODE-006 fail") in properties
    assert not any("si." in str(name) for name, _ in properties)
    assert [child.tag for child in cases["test_one"]] == ["properties"]
    assert [child.tag for child in cases["test_two"]] == ["properties", "skipped"]
    assert [child.tag for child in cases["test_three"]] == ["properties", "failure"]
    received = {p.get("name"): p.get("value") for p in suite[0]}
    assert received["verdict"] == outcome.results["verdict"]
    assert received["SI-NODE-006"] == "baselined"


@pytest.mark.slow("starts two workers")
def test_two_workers_give_same_results(conformance: Run) -> None:
    alone = conformance(TWO)
    shared = conformance(TWO, "-n", "2", fresh=True)

    assert shared.code == alone.code == 1
    verdicts = [[r["verdict"] for r in o.results["requirements"]] for o in (alone, shared)]
    assert verdicts[0] == verdicts[1]


@pytest.mark.slow("starts two workers and one more")
def test_crashed_worker_is_kit_error(conformance: Run) -> None:
    source = TWO.replace("(target): pass", "(target): os.kill(os.getpid(), signal.SIGKILL)")
    outcome = conformance(source, "-n", "1", fresh=True)

    assert outcome.code == 13
    assert outcome.verdict("SI-NODE-004") == "kit-error"
    assert "worker" in outcome.reason("SI-NODE-004")
    assert outcome.verdict("SI-NODE-006") == "fail"


def test_hanging_test_is_kit_error(conformance: Run) -> None:
    source = TWO.replace("(target): pass", "(target): time.sleep(30)")
    outcome = conformance(source, "--timeout", "0.5", "--timeout-method", "signal", fresh=True)

    assert outcome.code == 13
    assert "Timeout" in outcome.reason("SI-NODE-004")
    assert outcome.verdict("SI-NODE-006") == "fail"


def test_run_timeout_lists_unreached_tests(conformance: Run) -> None:
    source = TWO.replace("(target): pass", "(target): time.sleep(0.3)")
    outcome = conformance(source, "--session-timeout", "0.1", fresh=True)

    assert outcome.verdict("SI-NODE-004") == "pass"
    assert outcome.verdict("SI-NODE-006") == "not-reached"
    assert "session-timeout" in outcome.reason("SI-NODE-006")
    assert outcome.code == 10


INTERRUPTED = TWO.replace('raise ConformanceFailure("no")', "os.kill(os.getpid(), signal.SIGINT)")


def test_interrupt_leaves_complete_results(conformance: Run) -> None:
    outcome = conformance(INTERRUPTED, interrupted=True)

    assert outcome.code == 2
    assert outcome.results["verdict"] == "INCOMPLETE"
    assert outcome.verdict("SI-NODE-004") == "pass"
    assert outcome.verdict("SI-NODE-006") == "not-reached"
    assert "interrupted" in outcome.reason("SI-NODE-006")
    assert outcome.results["counts"]["not-reached"] == 1
    assert outcome.results["counts"]["could-not-run"] == 0
    assert f"SI-NODE-006: {outcome.results['ended_early']}" in outcome.out


@pytest.mark.slow("xdist gives a worker ten seconds to end")
@pytest.mark.parametrize("workers", ["0", "1"])
def test_junit_is_complete_after_interrupt(conformance: Run, workers: str) -> None:
    run = "os.getpid()" if workers == "0" else "os.getppid()"
    interrupts = f"time.sleep(0.5); os.kill({run}, signal.SIGINT); time.sleep(20)"
    source = TWO.replace('raise ConformanceFailure("no")', interrupts)
    source = source.replace("test_two(target)", "test_two(target, worker_id)")
    source += '@requirement("SI-NODE-008")\ndef test_three(target): pass\n'
    outcome = conformance(source, "-n", workers, interrupted=True)

    (suite,) = ET.parse(outcome.folder / "junit.xml").getroot()  # noqa: S314  # our own
    cases = suite.findall("testcase")
    skipped = {c.get("name"): [e.get("message") for e in c.findall("skipped")] for c in cases}
    assert (suite.get("tests"), suite.get("skipped")) == ("3", "2")
    assert {c.get("classname") for c in cases} == {"test_fake"}
    assert list(skipped) == ["test_one", "test_two", "test_three"]
    assert skipped["test_one"] == []
    for name in ("test_two", "test_three"):
        assert skipped[name] == [f"{NOT_REACHED}: {outcome.results['ended_early']}"]
    received = [p.get("value") for p in cases[1].iter("property")]
    assert received == ["SI-NODE-006", "SI-NODE-006 not-reached"]


def test_plugin_failing_on_interrupt_does_not_block_reports(
    conformance: Run, pytester: pytest.Pytester
) -> None:
    """As pytest's terminal rarely does, when it shows where the interrupt came."""
    pytester.makeconftest(
        "class Breaks:\n"
        "    def pytest_keyboard_interrupt(self): raise OSError('no such frame')\n"
        "def pytest_sessionstart(session): session.config.pluginmanager.register(Breaks())\n"
    )

    outcome = conformance(INTERRUPTED, interrupted=True, results=False)

    document = results_in(outcome.folder)
    assert document["exit_code"] == 2
    assert document["sentence"].startswith("INCOMPLETE: interrupted")


REPORTS_ITS_PID = """
import os, socket, time
server = socket.create_server(("127.0.0.1", 0))
print(f"listening on localhost:{server.getsockname()[1]}", os.getpid(), flush=True)
time.sleep(60)
"""


def test_killed_run_leaves_no_process_or_verdict(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest, time\n"
        "@pytest.mark.requirement('SI-NODE-004')\n"
        "def test_it(target): target.address; time.sleep(60)\n"
    )
    program = pytester.makepyfile(program=REPORTS_ITS_PID)
    plugin = ["-m", "pytest", "-p", "siconform.suite_plugin", "--results", "out"]
    started = subprocess.Popen(  # noqa: S603  # ourselves
        [sys.executable, *plugin, "--target-command", f"{sys.executable} {program}"],
        cwd=pytester.path,
        stdout=subprocess.DEVNULL,
    )
    log = pytester.path / "out" / "logs" / "target-main.log"
    wait_for(lambda: log.exists() and b"listening" in log.read_bytes())
    pid = int(log.read_text().split()[-1])
    assert exists(pid)

    started.kill()
    started.wait()

    wait_for(lambda: not exists(pid))
    document = (pytester.path / "out" / "results.json").read_text()
    assert '"verdict": "INCOMPLETE"' in document
    assert "did not finish" in document


def test_lost_target_is_restarted(conformance: Run) -> None:
    source = (
        "@requirement('SI-NODE-004')\n"
        "def test_one(target):\n"
        "    target.address\n"
        "    raise TargetLost('the connection broke')\n"
        "@requirement('SI-NODE-006')\n"
        "def test_two(target):\n"
        "    assert not target.alive()\n"
        "    target.restart()\n"
        "    assert target.alive()\n"
    )
    outcome = conformance(source)

    assert outcome.verdict("SI-NODE-004") == "could-not-run"
    assert outcome.reason("SI-NODE-004") == "the connection broke"
    assert outcome.verdict("SI-NODE-006") == "pass"
    assert outcome.code == 10


def test_a_dead_target_never_passes(conformance: Run, pytester: pytest.Pytester) -> None:
    program = pytester.makepyfile(
        program="import socket, time\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print('listening on 127.0.0.1:%d' % server.getsockname()[1], flush=True)\n"
        "time.sleep(0.3)\nexit(7)\n"
    )
    source = (
        "@requirement('SI-NODE-004')\n"
        "def test_it(target):\n"
        "    target.address\n"
        "    time.sleep(0.8)\n"
    )
    outcome = conformance(source, "--target-command", f"{sys.executable} {program}", target=False)

    assert outcome.verdict("SI-NODE-004") == "could-not-run"
    assert outcome.reason("SI-NODE-004").startswith("the target died: it ended with exit status 7")


def test_unresponsive_target_is_given_up(conformance: Run, listening: str) -> None:
    fixture = (
        "@pytest.fixture\ndef rm(target):\n"
        "    with open('tries', 'a') as f: f.write('x')\n"
        "    raise TargetLost('did not answer RegisterResourceManager in 10 s')\n"
    )
    tests = "".join(f"@requirement('SI-NODE-00{n}')\ndef test_{n}(rm): pass\n" for n in range(1, 7))
    outcome = conformance(fixture + tests, "--target", listening, target=False)

    assert outcome.code == 12
    assert outcome.results["sentence"] == (
        "siconform: did not answer RegisterResourceManager in 10 s"
    )
    assert outcome.results["counts"]["could-not-run"] == 6
    assert len((outcome.folder.parent / "tries").read_text()) == 2


def test_other_runs_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    done = pytester.runpytest_subprocess()

    done.assert_outcomes(passed=1)
    assert "siconform" not in done.stdout.str()
    assert not (pytester.path / "build").exists()


SLOW_FAILURES = (
    '@requirement("SI-NODE-004")\n'
    "def test_one(target):\n    time.sleep(0.3)\n    raise ConformanceFailure('no')\n"
    '@requirement("SI-NODE-006")\ndef test_two(target): pass\n'
)


def test_trial_run_stops_after_failure_budget(conformance: Run) -> None:
    outcome = conformance(SLOW_FAILURES, "--failing", "0.2")

    assert outcome.verdict("SI-NODE-004") == "fail"
    assert outcome.verdict("SI-NODE-006") == "not-reached"
    assert outcome.reason("SI-NODE-006") == (f"{NOT_REACHED}: failing tests took more than 0.2 s")
    assert conformance(SLOW_FAILURES, "--failing", "9").verdict("SI-NODE-006") == "pass"
