"""The results folder: files of an earlier run are replaced, others stay."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import patient, wait_for
from siconform.config.results_dir import adds

from .commands import Completed, finished, results_in
from .preloaded import preloaded_python

Run = Callable[..., Any]

TWO = (
    '@requirement("SI-NODE-004")\ndef test_one(target): pass\n'
    '@requirement("SI-NODE-006")\ndef test_two(target): raise ConformanceFailure("no")\n'
)
OURS = ("results.json", "junit.xml", "failures.txt", "pytest.log", "report.html")


@pytest.mark.parametrize(
    "name", [*OURS, "histories/old.jsonl", "logs/application.log", "logs/target-main.log"]
)
def test_foreign_files_are_kept(conformance: Run, pytester: pytest.Pytester, name: str) -> None:
    mine = pytester.path / "out" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("the user's own")

    outcome_code = refused(
        conformance, "has no siconform-files.txt, the list of files written by a run"
    )

    assert outcome_code == 4
    assert mine.read_text() == "the user's own"
    assert [p for p in (pytester.path / "out").rglob("*") if p.is_file()] == [mine]


def test_results_without_file_list_are_kept(conformance: Run) -> None:
    first = conformance(TWO)
    (first.folder / "siconform-files.txt").unlink()
    before = sorted(first.folder.rglob("*"))

    assert refused(conformance, "so its results are not replaced (failures.txt and") == 4
    assert sorted(first.folder.rglob("*")) == before


def test_file_named_like_the_list_is_kept(conformance: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "out").mkdir()
    mine = pytester.path / "out" / "siconform-files.txt"
    mine.write_text("important.txt\n")

    assert refused(conformance, "was not written by siconform") == 4
    assert mine.read_text() == "important.txt\n"


def test_earlier_results_are_replaced_and_other_content_is_kept(
    conformance: Run, pytester: pytest.Pytester
) -> None:
    mine = pytester.path / "out" / "notes" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("the user's own")
    first = conformance(TWO)
    assert (first.folder / "failures.txt").exists()

    second = conformance(TWO, "-k", "SI-NODE-004")

    assert second.code == 0
    assert not (second.folder / "failures.txt").exists()
    assert mine.read_text() == "the user's own"


def test_foreign_history_file_is_kept(conformance: Run) -> None:
    first = conformance(TWO)
    mine = first.folder / "histories" / "kept.jsonl"
    mine.write_text("{}")

    assert refused(conformance, "siconform did not write (histories/kept.jsonl)") == 4
    assert mine.exists()


def test_file_list_cannot_name_files_outside(conformance: Run, pytester: pytest.Pytester) -> None:
    first = conformance(TWO)
    outside = pytester.path / "outside.txt"
    outside.write_text("the user's own")
    with (first.folder / "siconform-files.txt").open("a") as listed:
        listed.write(f"../outside.txt\n{outside}\n")

    conformance(TWO)

    assert outside.exists()


@pytest.fixture(scope="module")
def results_of_a_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a run, to be copied."""
    folder = tmp_path_factory.mktemp("earlier")
    assert siconform(folder, "-k", "SI-NODE-004").returncode == 0
    assert (folder / "out" / "results.json").exists()
    return folder / "out"


@pytest.fixture
def earlier(tmp_path: Path, results_of_a_run: Path) -> Path:
    """The results of a run with a failure and a certificate."""
    folder = tmp_path / "out"
    shutil.copytree(results_of_a_run, folder)
    for name in ("certificate.json", "badge.json", "failures.txt"):
        (folder / name).write_text(name)
    adds(folder, folder / "histories" / "test_x.jsonl").write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--revision", "2023-13"], 4),
        (["--target", "nowhere"], 4),
        (["--target", ""], 4),
        (["-k", "("], 4),
        (["-k", "SI-NOED-004"], 4),
        (["--baseline", "none.yaml"], 4),
        (["--target-file", "none.toml"], 4),
        (["--no-such-option"], 4),
        (["--level", "MUTS"], 4),
        (["NOED"], 4),
        (["suite/test_nope.py"], 4),
        (["-n", "x"], 4),
        (["SI-WIRE-013"], 5),  # excluded
        (["-k", "no_such_test"], 5),
        (["-n", "0", "-k", "no_such_test"], 5),
        (["--target", "127.0.0.1:1"], 12),
        (["-n", "0", "-k", "SI-NODE-004", "--target-command", "false"], 12),
    ],
)
def test_run_that_tests_nothing_keeps_earlier_results(
    tmp_path: Path, earlier: Path, options: list[str], code: int
) -> None:
    before = contents(earlier)

    done = siconform(tmp_path, *options)

    assert done.returncode == code, done.stdout + done.stderr
    assert contents(earlier) == before
    kept = "nothing was tested; out has the results of an earlier run" in done.stdout
    assert kept or done.stdout == ""


def test_killed_run_that_tested_nothing_keeps_earlier_results(
    tmp_path: Path, earlier: Path
) -> None:
    before = contents(earlier)
    killed = "import sys; from siconform.config.results_dir import *; from pathlib import Path;"
    killed += "folder = ResultsDir(Path('out')); folder.lock(); folder.begin(); os._exit(1)"
    subprocess.run([sys.executable, "-c", killed], cwd=tmp_path, check=False)  # noqa: S603
    assert not (earlier / "results.json").exists()

    assert siconform(tmp_path, "--target", "127.0.0.1:1").returncode == 12
    assert contents(earlier) == before


def test_explore_without_target_keeps_earlier_results(tmp_path: Path, earlier: Path) -> None:
    before = contents(earlier)

    done = siconform(tmp_path, "--target", "127.0.0.1:1", command="explore")

    assert done.returncode == 12
    assert contents(earlier) == before


def test_results_of_a_run_without_target_are_replaced(tmp_path: Path) -> None:
    for port in (1, 2):
        assert siconform(tmp_path, "--target", f"127.0.0.1:{port}").returncode == 12

        assert f"nothing listens on 127.0.0.1:{port}" in results_in(tmp_path / "out")["sentence"]


def contents(folder: Path) -> dict[str, tuple[bytes, float]]:
    """Return bytes and time of every file that a verdict consists of."""
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime)
        for file in folder.rglob("*")
        if file.is_file() and not {"logs", "pytest-cache"}.intersection(file.parts)
        if file.name not in ("siconform-files.txt", "pytest.log")
    }


def test_concurrent_runs_in_one_folder(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import pytest, time\n"
        "from pathlib import Path\n"
        "@pytest.mark.requirement('SI-NODE-004')\n"
        "def test_it():\n"
        "    while not Path('go-on').exists(): time.sleep(0.02)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "siconform.suite_plugin", "--results", "out"]
    first = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL)  # noqa: S603  # ourselves
    results = pytester.path / "out" / "results.json"
    wait_for(results.exists)
    wait_for(lambda: "did not finish" in results.read_text())

    second = finished(command, pytester.path)
    (pytester.path / "go-on").touch()

    assert second.returncode == 4
    assert "another run is writing to" in second.stderr
    assert first.wait(patient(60)) == 0
    assert json.loads(results.read_text())["verdict"] == "CONFORMANT"


def test_killed_run_does_not_block_next(pytester: pytest.Pytester, conformance: Run) -> None:
    sleeping = pytester.makepyfile(
        "import pytest, time\n"
        "@pytest.mark.requirement('SI-NODE-004')\n"
        "def test_it(): time.sleep(60)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "siconform.suite_plugin", "--results", "out"]
    first = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL)  # noqa: S603  # ourselves
    wait_for((pytester.path / "out" / "results.json").exists)
    first.kill()
    first.wait()
    sleeping.unlink()

    assert conformance(TWO, "-k", "SI-NODE-004", fresh=True).code == 0


def test_explore_keeps_foreign_files(tmp_path: Path) -> None:
    mine = tmp_path / "out" / "histories" / "mine.jsonl"
    mine.parent.mkdir(parents=True)
    mine.write_text("{}")

    assert siconform(tmp_path, "--time", "0", command="explore").returncode == 4
    assert mine.exists()


def refused(conformance: Run, why: str) -> int:
    """Check that the run ends without writing results."""
    outcome = conformance(TWO, fresh=True, results=False)
    assert why in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    code: int = outcome.code
    return code


def siconform(folder: Path, *options: str, command: str = "run") -> Completed:
    words = ("-m", "siconform", command, "--results", "out", *options)
    return finished([*preloaded_python(), *words], folder)
