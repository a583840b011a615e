"""``siconform record``: usage errors, and its end by a signal."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import patient

from .certificates import Authority
from .commands import invoke

ADDRESSES = ("--listen", "127.0.0.1:0", "--to", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--output", "trace", "--keep", "3"], "--keep needs a folder: give --output trace/"),
        (["--output", "trace", "--max-age", "3"], "--max-age needs a folder"),
        (["--output", "t/", "--max-size", "3X"], '"3X" is not a size such as 500k, 64M or 1G'),
        (["--output", "t/", "--max-size", "0"], '"0" is not a size'),
        (["--output", "t", "--tls-cert", "x"], "--tls-cert needs --tls-key"),
        (["--output", "t", "--tls-ca", ""], "--tls-ca is empty"),
        (["--output", "t", "--tls-ca", "/nowhere"], "/nowhere cannot be read"),
        (["--output", "t", "--listen-tls-key", "x"], "--listen-tls-key needs --listen-tls-cert"),
        (
            ["--output", "t", "--listen-tls-client-ca", "x"],
            "--listen-tls-client-ca needs --listen-tls-cert and --listen-tls-key",
        ),
        (["--output", "/proc/trace"], "/proc/trace: "),
    ],
)
def test_usage_error_is_one_sentence(words: list[str], problem: str) -> None:
    done = invoke("record", *ADDRESSES, *words)

    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.exit_code == 4


def test_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    one, other = authority.issues("one"), authority.issues("other")
    words = ["--listen-tls-cert", str(one.certificate), "--listen-tls-key", str(other.key)]

    done = invoke("record", *ADDRESSES, "--output", "trace", *words)

    assert f"the key in {other.key} does not match the certificate" in done.stderr
    assert done.exit_code == 4


@pytest.mark.end_to_end
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_record(tmp_path: Path, number: signal.Signals) -> None:
    words = ["record", *ADDRESSES, "--output", "trace/", "--keep", "2"]
    command = [sys.executable, "-m", "siconform", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as recording:  # noqa: S603  # ourselves
        assert recording.stdout is not None
        assert recording.stdout.readline().startswith("listening on 127.0.0.1:")
        recording.send_signal(number)
        written, _ = recording.communicate(timeout=patient())

    assert recording.returncode == 0
    assert written.endswith("1 lines written to trace/\n")
    header = json.loads((tmp_path / "trace" / "trace-000001.jsonl").read_text("utf-8"))
    assert header["revision"] == "2024-10"
