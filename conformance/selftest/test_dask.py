"""Seeds on a Dask cluster of this machine: what is found, and what a lost worker costs."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
from patience import patient, wait_for
from siconform.policy import ExitCode

pytestmark = [pytest.mark.end_to_end, pytest.mark.timeout(400)]

FAULTY = f"{sys.executable} {Path(__file__).with_name('overcommitter.py')}"
LISTENS = re.compile(r"Scheduler at: +tcp://(\S+)\n")
SEEDS = 4
EXPLORE = (
    *("--seeds", str(SEEDS), "--seed", "1", "--histories", "40", "--steps", "6", "--time", "8"),
    *("--target-command", FAULTY, "--time-scale", "0.1"),
)


@contextmanager
def started(*words: str, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  # ours
            [sys.executable, "-m", *words], stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(patient(20))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Dask scheduler."""
    log = tmp_path_factory.mktemp("scheduler") / "log"
    words = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    with started(*words, "--no-dashboard", log=log):
        wait_for(lambda: LISTENS.search(log.read_text()) is not None)
        yield LISTENS.findall(log.read_text())[0]


@contextmanager
def workers(scheduler: str, folder: Path, count: int) -> Iterator[list[psutil.Process]]:
    """Run so many Dask workers without nannies: a killed one is not replaced."""
    with ExitStack() as stack:
        processes = []
        for number in range(count):
            log = folder / f"worker-{number}.log"
            words = ("distributed.cli.dask_worker", scheduler, "--no-nanny", "--no-dashboard")
            more = ("--nthreads", "1", "--local-directory", str(folder))
            processes.append(stack.enter_context(started(*words, *more, log=log)))
            wait_for(lambda log=log: "Registered to" in log.read_text())  # type: ignore[misc]
        yield [psutil.Process(process.pid) for process in processes]


def explore(scheduler: str, folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # noqa: S603  # ours
        [sys.executable, "-m", "siconform", "explore", *EXPLORE, "--workers", f"dask:{scheduler}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
    )


def test_killed_worker_loses_no_seed(scheduler: str, tmp_path: Path) -> None:
    with workers(scheduler, tmp_path, 2) as (first, _), explore(scheduler, tmp_path) as exploring:
        wait_for(lambda: len(first.children(recursive=True)) > 1)  # it has a target
        orphans = first.children(recursive=True)
        first.kill()
        output, _ = exploring.communicate(timeout=patient(300))

    assert exploring.returncode == ExitCode.NON_CONFORMANT, output
    assert f"{SEEDS} of {SEEDS} seeds done" in output
    assert "begun again" in output
    assert "nodes are not overfilled" in output
    assert (tmp_path / "build/exploring/histories/nodes_are_not_overfilled.jsonl").exists()
    wait_for(lambda: not any(orphan.is_running() for orphan in orphans))


def test_interrupted_command_reports_and_cancels(scheduler: str, tmp_path: Path) -> None:
    with workers(scheduler, tmp_path, 1) as (only,), explore(scheduler, tmp_path) as exploring:
        wait_for(lambda: len(only.children(recursive=True)) > 1)
        os.kill(exploring.pid, signal.SIGINT)
        output, _ = exploring.communicate(timeout=patient())

        assert exploring.returncode == ExitCode.INTERRUPTED
        assert re.search(r"interrupted \(SIGINT\): (nothing was tested|\d of 4 seeds done)", output)
        wait_for(lambda: not only.children(recursive=True))


def test_scheduler_without_workers_is_refused(scheduler: str, tmp_path: Path) -> None:
    with explore(scheduler, tmp_path) as exploring:
        output, _ = exploring.communicate(timeout=patient())

    assert exploring.returncode == ExitCode.NOTHING_RAN
    assert f"no worker has joined the Dask scheduler at {scheduler} in 10 s" in output


def test_address_without_scheduler_is_refused(tmp_path: Path) -> None:
    with explore("127.0.0.1:1", tmp_path) as exploring:
        output, _ = exploring.communicate(timeout=patient())

    assert exploring.returncode == ExitCode.NOTHING_RAN
    assert "the Dask scheduler at 127.0.0.1:1 cannot be reached: refused" in output
