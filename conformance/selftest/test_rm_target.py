"""An RM that the kit starts: it gets both addresses, reports failures, and ends with the kit."""

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from patience import wait_for
from siconform import child_processes
from siconform.targets import TargetUnavailable
from siconform.targets.launch import Launch
from siconform.targets.rm_target import RmTarget, check_can_serve
from siwire import DEFAULT_REVISION

from .processes import exists

SCHEDULER = "127.0.0.1:9080"
RUNS = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(*sys.argv[1:], os.getpid(), child.pid, flush=True)
time.sleep(60)
"""

Start = Callable[..., RmTarget]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a Python program as an RM; stop it after the test."""
    monkeypatch.setattr(child_processes, "GRACE", 0.3)
    started: list[RmTarget] = []

    def start(program: str, *words: str) -> RmTarget:
        file = tmp_path / "rm.py"
        file.write_text(program)
        launch = Launch("rm: mine", (sys.executable, str(file), *words), 5.0)
        log = tmp_path / "rm.log"
        target = RmTarget("rm: mine", DEFAULT_REVISION, 1.0, log, launch, patience=0.5)
        started.append(target)
        target.connect_to(SCHEDULER)
        return target

    yield start
    for target in started:
        target.stop()


def printed(target: RmTarget) -> list[str]:
    """Return the words that the program printed last."""

    def lines() -> list[str]:
        return target.log.read_text("utf-8").splitlines()

    wait_for(lambda: bool(lines()))
    return lines()[-1].split()


def test_command_has_both_addresses(start: Start) -> None:
    target = start(RUNS, "--scheduler={address}", "{driver}")

    scheduler, driver, *_ = printed(target)

    assert scheduler == f"--scheduler={SCHEDULER}"
    assert driver == target.driver
    assert driver.startswith("127.0.0.1:")
    assert target.restartable


def test_rm_without_driver(start: Start) -> None:
    assert start(RUNS, "{address}").driver == ""


def test_rm_ends_with_all_its_processes(start: Start) -> None:
    target = start(RUNS)
    pids = [int(word) for word in printed(target)]
    assert all(map(exists, pids))
    assert target.alive()

    target.stop()

    assert not any(map(exists, pids))
    assert not target.alive()
    target.stop()  # idempotent


def test_restart_is_a_new_process_with_the_same_scheduler(start: Start) -> None:
    target = start(RUNS, "{address}")
    _, first, _ = printed(target)

    target.restart()
    wait_for(lambda: printed(target)[1] != first)

    assert printed(target)[0] == SCHEDULER
    assert not exists(int(first))


def test_dead_rm_is_reported_with_its_last_output(start: Start) -> None:
    target = start("import sys\nprint('no licence', flush=True)\nsys.exit(3)")
    assert "no licence" in target.ended(5.0)
    assert not target.alive()

    error = target.did_not_register()

    assert str(error) == "rm: mine did not register: it ended with exit status 3: no licence"


def test_silent_rm_is_reported(start: Start) -> None:
    target = start(RUNS)
    assert str(target.did_not_register()) == (
        f"rm: mine was started and did not register at {SCHEDULER} within 0.5 s (its output is in "
        f"{target.log})"
    )


def test_registration_with_another_service_is_reported(start: Start) -> None:
    error = start(RUNS).did_not_register(called="/si.v2.Scheduler/RegisterResourceManager")
    assert str(error) == (
        'the RM called "/si.v2.Scheduler/RegisterResourceManager" '
        'instead of "/si.v1.Scheduler/RegisterResourceManager"'
    )


def test_missing_rm_is_reported(tmp_path: Path) -> None:
    log = tmp_path / "rm.log"
    target = RmTarget("rm: h:1", DEFAULT_REVISION, 1.0, log, serve_at=SCHEDULER, patience=20.0)
    target.connect_to(SCHEDULER)
    assert target.alive()
    assert not target.restartable
    assert str(target.did_not_register()) == f"no RM connected to {SCHEDULER} within 20 s"
    assert str(target.did_not_register(again=True)) == (
        f"the RM did not register again at {SCHEDULER} within 20 s"
    )


def test_address_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(TargetUnavailable, match=f"the kit cannot listen on {address}: Address"):
            check_can_serve(address)
    check_can_serve(address)
