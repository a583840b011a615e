"""The command line of ``siconform``, and the pytest command line made from it."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from siconform.commands.launching import arguments, run
from siconform.policy import ExitCode
from siconform.running import index

from .commands import invoke, siconform

SUITE = str(index.suite_folder())


def workers(*options: str) -> str:
    given = arguments(options)
    return given[given.index("-n") + 1] if "-n" in given else ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], True),
        (["--target", "yunikorn-core@1.5.1"], True),
        (["--target-command", "x {address}"], True),
        (["--target", "127.0.0.1:9080"], False),
        (["--target=127.0.0.1:9080"], False),
        (["-k", "SI-NODE-004"], False),
        (["-k", "gang"], True),
        (["node-4"], False),
        (["-x", "node-4"], False),
        (["node-4", "node-5"], True),
        (["REL"], True),
        (["--text", "rel-3"], True),
        (["--pdb"], False),
        (["--collect-only"], False),
    ],
)
def test_default_workers_for_started_target(options: list[str], *, expected: bool) -> None:
    assert bool(workers(*options)) is expected


def test_more_workers_for_lighter_target() -> None:
    assert int(workers("--target", "yunikorn-core@1.5.1")) > int(workers())
    assert int(workers("--target-command", "x {address}")) < int(workers())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-n", "7"], ["worksteal"]),
        (["-n3"], ["worksteal"]),
        (["--numprocesses=2"], ["worksteal"]),
        (["-n", "7", "--dist", "load"], ["load"]),
        (["-n", "7", "--dist=loadfile"], []),
        (["--pdb", "-n0"], []),
        ([], ["worksteal"]),
    ],
)
def test_workers_steal_unless_dist_is_given(options: list[str], expected: list[str]) -> None:
    given = arguments(options)
    assert [given[i + 1] for i, word in enumerate(given) if word == "--dist"] == expected


def test_worker_option_overrides_default() -> None:
    assert workers("-n", "7") == "7"
    assert "-n3" in arguments(["-n3"])
    assert "-n" not in arguments(["-n3"])


def test_options_pass_through_in_order() -> None:
    given = arguments(["-k", "gang", "-x", "--target", "127.0.0.1:1"])
    assert given[-6:] == [SUITE, "-k", "gang", "-x", "--target", "127.0.0.1:1"]


def test_an_option_without_value_does_not_take_the_suite() -> None:
    assert arguments(["--area"])[-1] == "--area"


def test_tests_named_as_in_a_summary_replace_the_suite() -> None:
    given = arguments(["suite/test_nodes.py::test_a_new_node_is_accepted", "-v"])

    assert given[-2:] == [f"{SUITE}/test_nodes.py::test_a_new_node_is_accepted", "-v"]
    assert SUITE not in given


@pytest.mark.parametrize("separator", [" ", "="])
def test_deselected_test_is_not_a_selection(separator: str) -> None:
    words = f"--deselect{separator}suite/test_nodes.py::test_x".split()
    given = arguments(words)
    assert given[-1 - len(words) :] == [SUITE, *words]


def test_pytest_settings_of_user_project_are_ignored(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\naddopts = --no-such-option\n")
    pytester.makeconftest("raise SystemExit('a conftest of the user')")
    done = pytester.run(sys.executable, "-m", "siconform", "run", "--collect-only", "-q")

    assert done.ret == 0
    done.stdout.fnmatch_lines(["suite/test_nodes.py::*"])


def test_pytest_error_on_interrupt_counts_as_interrupted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def breaks(_: list[str]) -> int:
        try:
            raise KeyboardInterrupt("SIGTERM")  # noqa: TRY301  # as it comes
        except KeyboardInterrupt:
            raise TypeError("no line number") from None

    monkeypatch.setattr(pytest, "main", breaks)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # of this process
    monkeypatch.setattr(os, "environ", {**os.environ})

    assert run(["--results", str(tmp_path / "results")]) == ExitCode.INTERRUPTED


@pytest.mark.parametrize(
    ("arguments", "code", "received"),
    [
        (["explain", "SI-NOD-4"], 4, "did you mean SI-NODE-004?"),
        (["explain"], 4, "no requirement given"),
        (["explain", "--text", "no text says this"], 4, "no requirement matches all the"),
        (["list", "--profile", "bsae"], 4, 'unknown profile "bsae"; did you mean base'),
        (["list", "--area", "nope"], 4, 'unknown area "nope"'),
        (["list", "--revision", "2.0"], 4, 'unknown revision "2.0"'),
        (["list", "--bogus"], 4, "No such option '--bogus' (see main list --help)"),
        (["spec", "diff", "--bogus"], 4, "No such option '--bogus' (see main spec diff --help)"),
        (["run", "--rootdir", "."], 4, "siconform run does not accept --rootdir"),
        (["run", "--setup-plan"], 4, "siconform run does not accept --setup-plan"),
        (["run", "--ignore", "suite/test_nope.py"], 4, 'no file "suite/test_nope.py" to ignore'),
        (["run", "--ignore-glob=suite/test_z*"], 4, '"suite/test_z*" matches no file'),
        (["nope"], 4, "No such command"),
        (["replay"], 4, "Missing argument"),
        (["run", "suite/test_nope.py"], 4, "no test file"),
    ],
)
def test_wrong_commands_are_one_sentence(arguments: list[str], code: int, received: str) -> None:
    result = invoke(*arguments)

    assert result.exit_code == code
    assert received in result.stderr
    assert result.stderr.startswith("siconform: ")
    assert len(result.stderr.splitlines()) == 1


def test_unknown_run_option_is_one_sentence() -> None:
    done = siconform("run", "-x", "--bogus")
    assert done.returncode == 4
    assert done.stderr.strip() == ("siconform: No such option '--bogus' (see siconform run --help)")
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ([], "Commands:"),
        (["--help"], "Commands:"),
        (["run", "--help"], "--target-command COMMAND"),
        (["--version"], "siconform, version"),
        (["run", "--version"], "siconform, version"),
        (["run", "-k", "gang", "-V"], "siconform, version"),
        (["spec"], "Commands:"),
        (["explain", "SI-NODE-004", "SI-NODE-005"], "SI-NODE-005   SHOULD"),
        (["list", "--area", "node", "--level", "must"], "SI-NODE-004  MUST"),
        (["list", "node-4", "si-rel-1"], "2 requirements: 2 MUST"),
        (["list", "--profile", "2021-02/base"], " MUST, 0 SHOULD, 0 MAY"),
        (["explain", "node-4"], "SI-NODE-004   MUST"),
        (["explain", "--area", "RES", "--level", "must"], "SI-RES-003   MUST"),
        (["profiles"], "2024-10/base.1"),
    ],
)
def test_commands_that_report(arguments: list[str], received: str) -> None:
    result = invoke(*arguments)

    assert result.exit_code == 0
    assert received in result.stdout


@pytest.mark.parametrize(
    "command", [["list"], ["run", "--collect-only", "-q", "-k", "SI-CONN-001"]]
)
def test_approximate_release_line_is_named_once(command: list[str]) -> None:
    done = siconform(*command, "--revision", "1.5")

    near = [line for line in done.stderr.splitlines() if "is mapped to" in line]
    assert done.returncode == 0
    assert [line.partition(", ")[0] for line in near] == ["siconform: SI 1.5 is mapped to 2023-12"]


def test_index_matches_pytest_collection(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("")
    collector = pytester.makepyfile(
        collector="""
        import json, pytest
        def pytest_collection_finish(session):
            found = {}
            for item in session.items:
                for mark in item.iter_markers("requirement"):
                    for i in mark.args:
                        found.setdefault(i, set()).add(item.nodeid.partition("[")[0])
            with open("found.json", "w") as out:
                json.dump({i: sorted(t) for i, t in found.items()}, out)
        """
    )
    pytester.syspathinsert(collector.parent)
    done = pytester.run(
        sys.executable, "-m", "siconform", "run", "--collect-only", "-p", "collector"
    )
    assert done.ret == 0
    found = json.loads((pytester.path / "found.json").read_text())
    assert {i: sorted(set(tests)) for i, tests in index.tests_by_requirement().items()} == found


def test_ids_of_parameters_and_modules_are_indexed(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "test_x.py").write_text(
        "pytestmark = requirement('SI-NODE-001')\n"
        "@requirement('SI-NODE-002', 'SI-NODE-003')\n"
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=marks.requirement('SI-NODE-004'))])\n"
        "def test_a(x): requirement('SI-NODE-009')\n"
        "def helper(): requirement('SI-NODE-008')\n"
    )
    name = "suite/test_x.py::test_a"
    assert index.read_index(folder) == {f"SI-NODE-00{n}": (name,) for n in (2, 3, 4, 1)}
