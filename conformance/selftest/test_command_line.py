"""The reported command reproduces the run, and the next one does not spoil its results."""

import sys
from pathlib import Path

import pytest

from .commands import finished, python, results_in, siconform

pytestmark = pytest.mark.end_to_end

SICONFORM = Path(sys.executable).with_name("siconform")
GIVEN = ("--revision", "2023-08", "--time-scale", "2", "--waiting-timeout", "1.5", "--disruptive")


FAILS = """
import pytest
from siconform.outcomes import ConformanceFailure
@pytest.mark.requirement('SI-NODE-004')
def test_it(): raise ConformanceFailure('no')
"""


def test_every_option_is_in_repeated_command(tmp_path: Path) -> None:
    words = ["run", "-k", "SI-NODE-004 or SI-NODE-005", "-n", "0", *GIVEN, "--results", "out 1"]

    finished([str(SICONFORM), *words], tmp_path)

    assert results_in(tmp_path / "out 1")["command"] == (
        "siconform run -k 'SI-NODE-004 or SI-NODE-005' -n 0 --revision 2023-08 --time-scale 2 "
        "--waiting-timeout 1.5 --disruptive --results 'out 1'"
    )


def test_next_command_is_siconform(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import socket, time\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print('listening on 127.0.0.1:%d' % server.getsockname()[1], flush=True)\n"
        "while True: server.accept()[0].close()\n"
    )
    (tmp_path / "test_it.py").write_text(FAILS)
    command = ("--target-command", f"{sys.executable} wrong.py")

    done = siconform("run", "-n", "0", *command, "test_it.py", cwd=tmp_path)

    assert "Look closer:  siconform explain SI-NODE-004" in done.stdout
    assert "Run one:      siconform run SI-NODE-004 " in done.stdout


def test_repeating_one_requirement_keeps_options_and_results(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FAILS)
    for results, received in (("build/conformance", ""), ("out", "--results out-again ")):
        given = ["-p", "xdist", "--time-scale", "2", "-x", "-n", "1", "-v"]
        given += ["--results", results] if received else []
        done = python("-m", "pytest", "-p", "siconform.suite_plugin", *given, cwd=tmp_path)
        again = [line for line in done.stdout.splitlines() if line.startswith("  again")]

        command = "python -m pytest SI-NODE-004 -p siconform.suite_plugin -p xdist --time-scale 2"
        assert again == [f"  again      {command} {received}".rstrip()]
        assert (tmp_path / results / "results.json").exists()


def test_partial_run_keeps_results_of_whole_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.requirement('SI-NODE-004')\ndef test_it(): pass\n"
    )
    for options in ([], ["-k", "SI-NODE-004"], ["node-4"], ["test_it.py::test_it"]):
        python("-m", "pytest", "-p", "siconform.suite_plugin", *options, cwd=tmp_path)

    whole = results_in(tmp_path / "build" / "conformance")
    part = results_in(tmp_path / "build" / "conformance-selected")
    assert whole["command"] == "python -m pytest -p siconform.suite_plugin"
    assert part["command"].endswith("test_it.py::test_it")
