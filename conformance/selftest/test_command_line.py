"""The reported command reproduces the run, and the next one does not spoil its results."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

SICONFORM = Path(sys.executable).with_name("siconform")
GIVEN = ("--revision", "2023-08", "--time-scale", "2", "--waiting-timeout", "1.5", "--disruptive")


def ran(folder: Path, *words: str) -> str:
    """Return the command in the results of this run."""
    subprocess.run(words, cwd=folder, capture_output=True, check=False)  # noqa: S603  # ourselves
    found = [*folder.glob("build/*/results.json"), *folder.glob("out*/results.json")]
    document = json.loads(found[0].read_text("utf-8"))
    command: str = document["command"]
    return command


ONE = ("-k", "SI-NODE-004 or SI-NODE-005", "-n", "0")


def test_every_option_is_in_repeated_command(tmp_path: Path) -> None:
    command = ran(tmp_path, str(SICONFORM), "run", *ONE, *GIVEN, "--results", "out 1")

    assert command == (
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
    suite = tmp_path / "test_it.py"
    suite.write_text(
        "import pytest\n"
        "from siconform.outcomes import ConformanceFailure\n"
        "@pytest.mark.requirement('SI-NODE-004')\n"
        "def test_it(target): raise ConformanceFailure('no')\n"
    )
    run = [sys.executable, "-m", "siconform", "run", "-n", "0"]
    run += ["--target-command", f"{sys.executable} wrong.py", "test_it.py"]

    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603  # ourselves

    assert "Look closer:  siconform explain SI-NODE-004" in done.stdout
    assert "Run one:      siconform run SI-NODE-004 " in done.stdout


def test_repeating_one_requirement_keeps_options_and_results(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "from siconform.outcomes import ConformanceFailure\n"
        "@pytest.mark.requirement('SI-NODE-004')\n"
        "def test_it(): raise ConformanceFailure('no')\n"
    )
    for results, received in (("build/conformance", ""), ("out", "--results out-again ")):
        given = ["-p", "xdist", "--time-scale", "2", "-x", "-n", "1", "-v"]
        given += ["--results", results] if received else []
        done = subprocess.run(  # noqa: S603  # ourselves
            [sys.executable, "-m", "pytest", "-p", "siconform.suite_plugin", *given],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        again = [line for line in done.stdout.splitlines() if line.startswith("  again")]

        command = "python -m pytest SI-NODE-004 -p siconform.suite_plugin -p xdist --time-scale 2"
        assert again == [f"  again      {command} {received}".rstrip()]
        assert (tmp_path / results / "results.json").exists()


def test_partial_run_keeps_results_of_whole_run(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.requirement('SI-NODE-004')\ndef test_it(): pass\n"
    )
    pytest_run = [sys.executable, "-m", "pytest", "-p", "siconform.suite_plugin"]
    for options in ([], ["-k", "SI-NODE-004"], ["node-4"], ["test_it.py::test_it"]):
        subprocess.run([*pytest_run, *options], cwd=tmp_path, capture_output=True, check=False)  # noqa: S603  # ourselves

    whole = json.loads((tmp_path / "build/conformance/results.json").read_text("utf-8"))
    part = json.loads((tmp_path / "build/conformance-selected/results.json").read_text("utf-8"))
    assert whole["command"] == "python -m pytest -p siconform.suite_plugin"
    assert part["command"].endswith("test_it.py::test_it")
