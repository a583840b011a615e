"""The command that is told is the one that was run, and the next one does not spoil its results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from siconform.running.starting import words_of_nox

pytestmark = pytest.mark.end_to_end

SICONFORM = Path(sys.executable).with_name("siconform")
PYTHON = Path(sys.executable).name
GIVEN = ("--revision", "2023-08", "--time-scale", "2", "--waiting-timeout", "1.5", "--disruptive")


def ran(folder: Path, *words: str, **env: str) -> str:
    """The command in the results of this run."""
    subprocess.run(  # noqa: S603  # ourselves
        words, cwd=folder, capture_output=True, check=False, env={**os.environ, **env}
    )
    found = [*folder.glob("build/*/results.json"), *folder.glob("out*/results.json")]
    document = json.loads(found[0].read_text("utf-8"))
    command: str = document["command"]
    return command


ONE = ("-k", "SI-NODE-004 or SI-NODE-005", "-n", "0")


def test_every_option_is_told(tmp_path: Path) -> None:
    command = ran(tmp_path, str(SICONFORM), "run", *ONE, *GIVEN, "--results", "out 1")

    assert command.endswith(
        "siconform run -k 'SI-NODE-004 or SI-NODE-005' -n 0 --revision 2023-08 --time-scale 2 "
        "--waiting-timeout 1.5 --disruptive --results 'out 1'"
    )


@pytest.mark.parametrize(
    ("words", "path", "told"),
    [
        ([str(SICONFORM), "run"], True, "siconform run -k"),
        ([str(SICONFORM), "run"], False, f"{SICONFORM} run -k"),
        ([sys.executable, "-m", "siconform", "run"], True, f"{PYTHON} -m siconform run -k"),
        ([sys.executable, "-m", "siconform", "run"], False, f"{sys.executable} -m siconform run"),
    ],
)
def test_in_the_words_of_how_the_kit_was_started(
    tmp_path: Path, words: list[str], told: str, *, path: bool
) -> None:
    folder = f"{SICONFORM.parent}:" if path else ""

    assert ran(tmp_path, *words, *ONE, PATH=f"{folder}/usr/bin").startswith(told)


def test_in_the_words_of_nox(tmp_path: Path) -> None:
    command = ran(tmp_path, str(SICONFORM), "run", *ONE, *GIVEN, NOX_CURRENT_SESSION="conformance")

    told = "nox -s conformance -- -k 'SI-NODE-004 or SI-NODE-005' -n 0"
    assert told in command
    assert command.partition(told)[0].rpartition("/")[2] == ""  # the nox these tests run in, if any


def test_the_nox_of_a_folder_is_named_as_it_was_started(tmp_path: Path) -> None:
    """Whoever has nox in .venv/bin and no other cannot run "nox"."""
    nox = tmp_path / ".venv" / "bin" / "nox"
    nox.parent.mkdir(parents=True)
    nox.write_text(
        f"#!{sys.executable}\n"
        "import os, subprocess, sys\n"
        "os.environ['NOX_CURRENT_SESSION'] = 'conformance'\n"
        "given = sys.argv[sys.argv.index('--') + 1 :]\n"
        "subprocess.run([sys.executable, '-m', 'siconform', 'run', *given])\n"
    )
    nox.chmod(0o755)

    command = ran(tmp_path, ".venv/bin/nox", "-s", "conformance", "--", *ONE)

    assert command.startswith(".venv/bin/nox -s conformance -- -k 'SI-NODE-004 or SI-NODE-005'")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["/usr/bin/python3", ".venv/bin/nox", "-s", "conformance"], (".venv/bin/nox",)),
        (["/opt/py", "-m", "nox", "-s", "conformance"], ("/opt/py", "-m", "nox")),
        (["/opt/py", "bin/nox", "-f", "a/noxfile.py", "--", "-f", "x"],
         ("bin/nox", "-f", "a/noxfile.py")),
        (["/opt/py", "bin/nox", "--noxfile=n.py"], ("bin/nox", "--noxfile=n.py")),
        (["/bin/sh", "-c", "nox"], None),
        (["/opt/py", "-m", "siconform"], None),
        ([], None),
    ],
)  # fmt: skip
def test_what_was_typed_before_the_session(line: list[str], words: tuple[str, ...] | None) -> None:
    assert words_of_nox(line) == words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([str(SICONFORM)], str(SICONFORM)),
        ([sys.executable, "-m", "siconform"], f"{sys.executable} -m siconform"),
    ],
)
def test_the_next_command_is_in_the_same_words(tmp_path: Path, words: list[str], told: str) -> None:
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
        "from siconform.outcomes import NotAsTheTextSays\n"
        "@pytest.mark.requirement('SI-NODE-004')\n"
        "def test_it(target): raise NotAsTheTextSays('no')\n"
    )
    run = [*words, "run", "-n", "0", "--target-command", f"{sys.executable} wrong.py", "test_it.py"]

    done = subprocess.run(  # noqa: S603  # ourselves
        run, cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": "/usr/bin"},
    )  # fmt: skip

    assert f"Look closer:  {told} explain SI-NODE-004" in done.stdout
    assert f"Run one:      {told} run " in done.stdout


def test_one_requirement_again_keeps_every_option_and_leaves_the_results_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "from siconform.outcomes import NotAsTheTextSays\n"
        "@pytest.mark.requirement('SI-NODE-004')\n"
        "def test_it(): raise NotAsTheTextSays('no')\n"
    )
    for results, told in (("build/conformance", ""), ("out", "--results out-again ")):
        given = ["-p", "xdist", "--time-scale", "2", "-x", "-n", "1", "-v"]
        given += ["--results", results] if told else []
        done = subprocess.run(  # noqa: S603  # ourselves
            [sys.executable, "-m", "pytest", "-p", "siconform.suite_plugin", *given],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        again = [line for line in done.stdout.splitlines() if line.startswith("  again")]

        command = "python -m pytest SI-NODE-004 -p siconform.suite_plugin -p xdist --time-scale 2"
        assert again == [f"  again      {command} {told}".rstrip()]
        assert (tmp_path / results / "results.json").exists()


def test_a_part_of_the_suite_does_not_overwrite_the_results_of_a_whole_run(
    tmp_path: Path,
) -> None:
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


def test_exploring_tells_how_to_replay_with_every_option(tmp_path: Path) -> None:
    careless = f"{sys.executable} {Path(__file__).with_name('careless_scheduler.py')}"
    done = subprocess.run(  # noqa: S603  # ourselves
        [str(SICONFORM), "explore", "--time", "30", "--seed", "1", "--time-scale", "0.1",
         "--target-command", careless, "--waiting-timeout", "3"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": f"{SICONFORM.parent}:/usr/bin"},
    )  # fmt: skip
    again = next(line for line in done.stdout.splitlines() if line.startswith("  again"))

    assert "siconform replay build/exploring/histories/" in again
    assert "--time-scale 0.1" in again
    assert "--waiting-timeout 3" in again
