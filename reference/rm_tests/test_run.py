"""The command ``sirm run`` against ``sireference serve``, both as processes."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from patience import patient, wait_for
from sirm.cli import main
from siwire import rpc
from siwire.ext import extension_pb2 as ext

WORKLOAD = Path(__file__).parents[2] / "fixtures/rms/sirm/batch-and-gang.yaml"
LIMIT = patient(20.0)


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a Python module as a process; yield it and the first line that it prints."""
    with subprocess.Popen(  # noqa: S603  # our own commands
        [sys.executable, "-m", *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().rstrip()
        finally:
            process.terminate()


@contextmanager
def serving(revision: str = "2024-10") -> Iterator[str]:
    """Serve the reference; yield its address."""
    listen = ("--listen", "127.0.0.1:0", "--revision", revision)
    with started("sireference", "serve", *listen) as (_, line):
        yield line.split()[-1]


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with serving() as address:
        yield address


def run(scheduler: str, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-m", "sirm", "run", "--scheduler", scheduler, *options],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


@pytest.mark.parametrize("revision", ["2021-02", "2024-10"])
def test_a_workload_ends_as_stated(revision: str) -> None:
    with serving(revision) as address:
        done = run(address, "--revision", revision, "--workload", str(WORKLOAD))

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("registered", "ended as stated")
    assert lines.count("registered") == 2  # the file restarts the RM


def test_a_workload_that_ends_otherwise_is_reported(scheduler: str, tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    file.write_text("applications: [{id: a1, groups: [], queue: root.default}]\nwithin: 0.1\n")

    done = run(scheduler, "--rm-id", "o", "--workload", str(file))

    assert done.returncode == 1
    # not always the last line: a slow RM is registered later
    assert "application a1 is live, stated: completed" in done.stdout.splitlines()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_rm(scheduler: str, number: signal.Signals) -> None:
    with started("sirm", "run", "--scheduler", scheduler) as (process, line):
        process.send_signal(number)

        assert (line, process.wait(LIMIT)) == ("registered", 0)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--revision", "2099-01"), 'unknown revision "2099-01"'),
        (("--workload", "none.yaml"), "none.yaml cannot be read"),
        (("--tls-cert", str(WORKLOAD)), "--tls-cert and --tls-key need each other"),
        (("--scheduler", "here"), '--scheduler "here" has no port: give here:PORT'),
        (("--driver", "nowhere:x"), 'the driver cannot listen on "nowhere:x"'),
    ],
)
def test_an_invalid_option_is_one_sentence(
    option: tuple[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--scheduler", "127.0.0.1:1", *option])

    assert ended.value.code == 4
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_a_scheduler_that_is_not_there_is_given_up() -> None:
    done = run("127.0.0.1:1", "--attempts", "2")

    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "gave up the scheduler")


def test_a_scheduler_given_up_is_not_reported_as_slow() -> None:
    done = run("127.0.0.1:1", "--attempts", "1", "--workload", str(WORKLOAD))

    assert done.returncode == 1
    assert "not ended within" not in done.stdout


# requirement: SI-REG-009, SI-REG-010, SI-CONN-013
def test_what_runs_is_recovered(scheduler: str) -> None:
    options = ("--scheduler", scheduler, "--rm-id", "r", "--driver", "127.0.0.1:0")
    with started("sirm", "run", *options) as (_, line):
        drive = _driver(line.split()[-1])
        group = ext.Workload.Group(members=2, resource={"memory": 2})
        submitted = ext.Workload(application_id="a1", queue="root.default", groups=[group])
        drive(add_node=ext.NodeView(node_id="n1", capacity={"memory": 9}, schedulable=True))
        drive(submit=submitted)
        wait_for(lambda: len(drive(look=True).running_keys) == 2)

        for action in ("restart_rm", "cut_connection", "fail_over"):
            drive(**{action: True})
            wait_for(lambda: _held(scheduler, "r") == 2)

        refused = drive(submit=submitted)
        assert (refused.done, refused.reason) == (
            False,
            'application "a1" exists; choose another id',
        )


def _driver(address: str) -> Any:
    service = ext.DESCRIPTOR.services_by_name["RmDriver"]
    call = rpc.callable_for(grpc.insecure_channel(address), rpc.methods_of(service)["Drive"])
    return lambda **action: call(ext.DriveCommand(**action))


def _held(scheduler: str, rm_id: str) -> int:
    """Return how many allocations the scheduler holds for this RM."""
    service = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]
    with grpc.insecure_channel(scheduler) as channel:
        call = rpc.callable_for(channel, rpc.methods_of(service)["Snapshot"])
        applications = call(ext.SnapshotQuery(rm_id=rm_id)).applications
    return sum(len(application.allocations) for application in applications)


def test_the_scheduler_is_reached_over_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    issued = authority.issue_cert("localhost")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    secure = ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    with started("sireference", "serve", "--listen", "localhost:0", *secure) as (_, listening):
        address = listening.split()[-1]
        trusting = ("--tls-ca", str(tmp_path / "ca.pem"), "--tls-name", "localhost")
        with started("sirm", "run", "--scheduler", address, *trusting) as (_, line):
            assert line == "registered"


def test_an_interrupted_workload_is_not_a_success(scheduler: str, tmp_path: Path) -> None:
    file = tmp_path / "w.yaml"
    file.write_text("applications: [{id: a1, groups: [], queue: root.default}]\n")
    options = ("--scheduler", scheduler, "--rm-id", "i", "--workload", str(file))
    with started("sirm", "run", *options) as (process, _):
        process.send_signal(signal.SIGINT)

        assert process.wait(LIMIT) == 2
