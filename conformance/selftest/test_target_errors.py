"""Targets that cannot be tested: one sentence each, however much they print."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from patience import patient
from siconform import child_processes, grpc_log

from .certificates import HERE, Authority, secured
from .commands import siconform
from .conftest import FinishedRun

pytestmark = pytest.mark.end_to_end

Run = Callable[..., FinishedRun]

ONE: Final = """
from siconform.expecting.deadlines import Deadlines
from siconform.rm.session import Session

@pytest.fixture
def rm(target):
    return Session(target, Deadlines(), "w").resource_manager("one")

@requirement("SI-NODE-004")
def test_one(rm): pass

@requirement("SI-NODE-006")
def test_two(rm): pass
"""
TALKATIVE: Final = "import sys; sys.stderr.write(60 * ('x' * 100 + chr(10))); sys.exit('y' * 6000)"
WEB: Final = (
    "import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.BaseHTTPRequestHandler); "
    "print('listening on 127.0.0.1:%d' % s.server_port, flush=True); s.serve_forever()"
)
_NARROW: Final = 60
_SENTENCE: Final = 400  # characters, with the folder of a test in it


def command(program: str) -> str:
    return f'{sys.executable} -c "{program}"'


def sentence(outcome: FinishedRun, code: int = 12) -> str:
    assert outcome.code == code, outcome.out + outcome.err
    sent: str = outcome.results["sentence"] if outcome.results else outcome.err.strip()
    assert "\n" not in sent
    assert len(sent) < _SENTENCE
    return sent


def test_long_output_of_dead_target_is_shortened(conformance: Run) -> None:
    outcome = conformance(ONE, "--target-command", command(TALKATIVE), target=False, fresh=True)

    sent = sentence(outcome)
    assert "it ended with exit status 1: yyyy" in sent
    assert "full output in " in sent
    log = Path(sent.rpartition(" output in ")[2].rstrip(")"))
    assert log.read_text().count("y") >= 6000


def test_a_command_that_starts_a_web_server(conformance: Run) -> None:
    sent = sentence(conformance(ONE, "--target-command", command(WEB), target=False, fresh=True))

    assert "uses HTTP/1, not gRPC" in sent


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def test_certificates_that_do_not_fit_end_with_a_sentence(
    conformance: Run, authority: Authority
) -> None:
    late = authority.issues("late", expired=True)
    trusted = ["--tls-ca", str(authority.file)]
    cases: list[tuple[list[str], int, str]] = [
        ([], 12, "uses TLS: give --tls"),
        (trusted, 12, "give --tls-cert and --tls-key"),
        ([*trusted, *late.options()], 4, "late.pem has expired"),
    ]  # others: test_access.py
    with secured(authority.issues("own", *HERE), {}, authority.file) as address:
        for options, code, received in cases:
            given = ("--target", address, *options)
            outcome = conformance(ONE, *given, target=False, results=code == 12)  # else kept
            assert received in sentence(outcome, code), options


def test_lines_of_grpc_do_not_precede_the_sentence(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
    with secured(authority.issues("own", *HERE), {}) as address:
        done = siconform("explore", "--target", address, "--tls", cwd=tmp_path)

    assert done.returncode == 12
    [sentence] = done.stderr.splitlines()
    assert sentence.startswith("siconform: the scheduler at ")
    assert [*tmp_path.glob("build")] == []


def test_environment_of_a_started_scheduler_is_that_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
    before = {**os.environ}
    monkeypatch.setattr(os, "environ", {**before})
    grpc_log.silence()
    assert os.environ != before
    program = "import json, os; print(json.dumps({**os.environ}))"

    with (tmp_path / "log").open("wb") as log:
        process = child_processes.start([sys.executable, "-c", program], stderr=log)
        assert process.stdout is not None
        with process.stdout as output:
            assert json.loads(output.read()) == before
        child_processes.end(process)


def test_tls_is_not_for_the_embedded_reference(conformance: Run) -> None:
    assert "the embedded reference does not support TLS" in sentence(
        conformance(ONE, "--tls", target=False), 4
    )


def test_messages_fit_terminal(tmp_path: Path, closed_address: str) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, _NARROW, 0, 0))
    plain = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    words = [
        "-m",
        "siconform",
        "run",
        "--target",
        closed_address,
        "--results",
        "out",
        "--color",
        "never",
    ]
    done = subprocess.run(  # noqa: S603  # ourselves
        [sys.executable, *words],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=tmp_path, check=False,
        env={**plain, "TERM": "xterm"}, timeout=patient(),
    )  # fmt: skip
    os.close(theirs)
    lines = _all(ours).decode().splitlines()

    assert done.returncode == 12
    assert any("nothing listens on" in line for line in lines)
    assert [line for line in lines if len(line) > _NARROW] == []


def _all(terminal: int) -> bytes:
    sent = b""
    try:
        while part := os.read(terminal, 4096):
            sent += part
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return sent


def test_values_of_metadata_are_in_nothing_a_run_writes(
    conformance: Run, closed_address: str
) -> None:
    given = ["--metadata", "token=s3cret", "--metadata=other=s3cret", "--target", closed_address]
    outcome = conformance(ONE, *given, target=False, fresh=True)

    sentence(outcome)
    assert "token=***" in outcome.results["command"]
    assert "--metadata=other=***" in outcome.results["argv"]
    assert "s3cret" not in outcome.out.partition("siconform ")[2]
    for file in outcome.folder.rglob("*"):
        assert file.is_dir() or b"s3cret" not in file.read_bytes(), file
