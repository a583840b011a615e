"""The command line: output, exit codes, start-up errors."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner
from patience import patient
from sireference.cli import _settings, main, serve
from sireference.cli.operations import limits
from sireference.shell.extension.service import SERVICE
from sireference.shell.options import Limits
from siwire import DEFAULT_REVISION, rpc

TIMEOUT = patient()  # seconds


@contextmanager
def serving(*options: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "sireference", "serve", "--listen", "127.0.0.1:0", *options]
    process = subprocess.Popen(  # noqa: S603  # our own command
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_prints_its_address_and_ends_cleanly(number: signal.Signals) -> None:
    with serving() as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"listening on (127\.0\.0\.1:\d+)\n", line)
        assert found, line
        method = rpc.methods(DEFAULT_REVISION)["RegisterResourceManager"]
        with grpc.insecure_channel(found[1]) as channel:
            register = rpc.callable_for(channel, method)
            register(method.request(rmID="rm"), timeout=TIMEOUT)
            process.send_signal(number)
            rest, errors = process.communicate(timeout=TIMEOUT)

    assert (process.returncode, rest, errors) == (0, "", "")


def ended(*arguments: str) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error of the command."""
    done = subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-m", "sireference", *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_without_arguments_the_help_is_shown() -> None:
    bare, asked = ended(), ended("--help")

    assert bare == asked
    code, received, errors = bare
    assert (code, errors) == (0, "")
    assert received.startswith("Usage: sireference [OPTIONS] COMMAND")
    assert "serve" in received


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-x"], "No such option '-x' (see sireference --help)"),
        (["nonsense"], "No such command 'nonsense' (see sireference --help)"),
        (["serv"], "No such command 'serv'. Did you mean 'serve'? (see sireference --help)"),
        (["serve", "--nonsense"], "No such option '--nonsense' (see sireference serve --help)"),
        (["serve", "--listen"], "Option '--listen' requires an argument"),
        (["serve", "more"], "Got unexpected extra argument (more) (see sireference serve --help)"),
        (["serve", "--max-finished", "-1"], "Invalid value for '--max-finished': -1 is not in"),
        (["serve", "--retention", "x"], "Invalid value for '--retention': 'x' is not a number"),
        (["serve", "--log-level", "x"], "Invalid value for '--log-level': 'x' is not one of"),
        (
            ["serve", "--revision", "1999"],
            "Invalid value for '--revision': unknown revision \"1999\"",
        ),
        (
            ["serve", "--tls-cert", "/dev/null"],
            "--tls-cert and --tls-key must be given together (see",
        ),
    ],
)
def test_typing_error_gives_one_line_without_help(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, arguments, prog_name="sireference")

    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith(f"sireference: {message}")
    assert len(result.stderr.splitlines()) == 1


def test_usage_error_has_its_exit_code_and_message_in_a_process() -> None:
    code, received, errors = ended("serve", "--nonsense")

    assert (code, received) == (4, "")
    message = "No such option '--nonsense' (see sireference serve --help)"
    assert errors == f"sireference: {message}\n"


@pytest.mark.parametrize(
    ("named", "received"), [("1.4", ["SI 1.4 is mapped to 2023-08"]), ("2023-08", [])]
)
def test_approximate_release_line_is_reported(named: str, received: list[str]) -> None:
    result = CliRunner().invoke(main, ["serve", "--revision", named, "--listen", "nonsense"])

    near = [line for line in result.stderr.splitlines() if "is mapped to" in line]
    assert [line.partition(",")[0] for line in near] == received


@pytest.mark.parametrize("listen", ["nonsense", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", ""])
def test_invalid_address_is_a_usage_error(listen: str) -> None:
    result = CliRunner().invoke(main, ["serve", "--listen", listen])

    assert result.exit_code == 4
    assert "HOST:PORT" in result.output


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e308", "9223372037", "-1", "-inf"])
@pytest.mark.parametrize("option", ["--completing-timeout", "--callback-timeout"])
def test_invalid_value_is_a_usage_error_in_one_line(option: str, seconds: str) -> None:
    result = CliRunner().invoke(main, ["serve", option, seconds, "--listen", "nowhere"])

    assert result.exit_code == 4
    message = f"{float(seconds)!r} is not from 0 to 9223372036 seconds (292 years)"
    assert f"Invalid value for '{option}': {message}" in result.output


def test_limits_and_number_of_remembered_applications_are_options() -> None:
    options = ["--max-finished=7", "--max-message-bytes=1000", "--max-streams=3"]
    options += ["--max-streams-per-rm=2", "--max-outbox-bytes=5000"]
    options += ["--first-message-timeout=0.2", "--callback-timeout=0.5"]

    chosen = serve.make_context("serve", options).params

    assert _settings(chosen).max_finished == 7
    assert limits(chosen) == Limits(
        message_bytes=1000,
        streams=3,
        streams_per_rm=2,
        first_message_timeout=0.2,
        outbox_bytes=5000,
        callback_timeout=0.5,
    )


def test_virtual_time_is_an_option() -> None:
    with serving("--virtual-clock") as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        method = rpc.methods_of(SERVICE)["AdvanceClock"]
        with grpc.insecure_channel(address) as channel:
            advance = rpc.callable_for(channel, method)
            began = advance(method.request(), timeout=TIMEOUT).now_milliseconds
            later = advance(method.request(milliseconds=5), timeout=TIMEOUT).now_milliseconds

    assert later - began == 5


def test_live_unix_socket_is_not_taken_over(tmp_path: Path) -> None:
    path = f"unix:{tmp_path / 'scheduler.sock'}"
    with serving("--listen", path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"listening on {path}\n"
        with serving("--listen", path) as second:
            _, errors = second.communicate(timeout=TIMEOUT)
        method = rpc.methods(DEFAULT_REVISION)["RegisterResourceManager"]
        with grpc.insecure_channel(path) as channel:
            rpc.callable_for(channel, method)(method.request(rmID="rm"), timeout=TIMEOUT)

    assert second.returncode == 4
    assert f"cannot listen on {path}" in errors
    assert len(errors.splitlines()) == 1


def test_stale_unix_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.sock"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))
    with serving("--listen", f"unix:{path}") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"listening on unix:{path}\n"
