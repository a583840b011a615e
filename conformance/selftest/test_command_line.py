"""The command that is told is the one that was run, and the next one does not spoil its results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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

    assert command.startswith("nox -s conformance -- -k 'SI-NODE-004 or SI-NODE-005' -n 0")


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
            [sys.executable, "-m", "pytest", "-p", "siconform.plugin", *given],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        again = [line for line in done.stdout.splitlines() if line.startswith("  again")]

        command = "python -m pytest SI-NODE-004 -p siconform.plugin -p xdist --time-scale 2"
        assert again == [f"  again      {command} {told}".rstrip()]
        assert (tmp_path / results / "results.json").exists()


def test_a_part_of_the_suite_does_not_overwrite_the_results_of_a_whole_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.requirement('SI-NODE-004')\ndef test_it(): pass\n"
    )
    pytest_run = [sys.executable, "-m", "pytest", "-p", "siconform.plugin"]
    for options in ([], ["-k", "SI-NODE-004"], ["node-4"], ["test_it.py::test_it"]):
        subprocess.run([*pytest_run, *options], cwd=tmp_path, capture_output=True, check=False)  # noqa: S603  # ourselves

    whole = json.loads((tmp_path / "build/conformance/results.json").read_text("utf-8"))
    part = json.loads((tmp_path / "build/conformance-selected/results.json").read_text("utf-8"))
    assert whole["command"] == "python -m pytest -p siconform.plugin"
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
