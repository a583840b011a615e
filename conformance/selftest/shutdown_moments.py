"""The moments of a command at which a signal may arrive, and how to recognise each."""

import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from patience import wait_for

HERE: Final = Path(__file__).parent
MARK: Final = "SICONFORM_TEST_MARK"
"""An environment variable that everything a command starts inherits."""

_SERVING: Final = """
import signal, sys, threading
from concurrent import futures
import grpc
from siwire import DEFAULT_REVISION, rpc

signal.signal(signal.SIGTERM, signal.SIG_IGN)

def silence(*_):
    threading.Event().wait()

server = grpc.server(futures.ThreadPoolExecutor(20))
methods = rpc.methods(DEFAULT_REVISION)
server.add_generic_rpc_handlers(
    (rpc.scheduler_handlers(DEFAULT_REVISION, dict.fromkeys(methods, silence)),))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(f"listening on 127.0.0.1:{port}", flush=True)
server.wait_for_termination()
"""
"""A scheduler that answers nothing and ignores SIGTERM: what is hardest to end in time."""

_NEVER_LISTENS: Final = """
import threading
print('starting', flush=True)
threading.Event().wait()
"""


@dataclass
class Command:
    """A command of the kit in a separate folder and session."""

    process: "subprocess.Popen[bytes]"
    folder: Path
    mark: str

    @property
    def results(self) -> Path:
        """The results folder of a run."""
        return self.folder / "out"

    def sent(self) -> str:
        """The output so far, of both streams."""
        return (self.folder / "said.txt").read_text("utf-8", "replace")

    def left(self) -> list[int]:
        """The living processes it started, itself included."""
        return [pid for pid, line in marked(self.mark) if line]

    def has_started(self, word: str) -> bool:
        """Return whether one of its processes has this word in its command line."""
        return any(word in line for _, line in marked(self.mark))


def marked(mark: str) -> list[tuple[int, str]]:
    """Return pid and command line of each living process that inherited the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if state != "Z":
            found.append((int(folder.name), line))
    return found


@dataclass(frozen=True)
class Moment:
    """When a signal is sent: the command, and how to recognise the moment."""

    words: tuple[str, ...]
    has_come: Callable[[Command], bool]
    has_results: bool = True  # the run has begun, so its results record the interruption
    kept: str = ""  # what the command reports when it is interrupted
    is_decided: bool = False  # the test verdicts are written; reports are not
    python: tuple[str, ...] = field(default=())  # options of the interpreter


def begin(moment: Moment, folder: Path) -> Command:
    """Start the command and return at that moment."""
    (folder / "mute.py").write_text(_SERVING)
    (folder / "starting.py").write_text(_NEVER_LISTENS)
    mark = uuid.uuid4().hex
    with (folder / "said.txt").open("wb") as sent:
        process = subprocess.Popen(  # noqa: S603  # the kit
            [sys.executable, *moment.python, "-m", "siconform", *moment.words],
            cwd=folder,
            stdout=sent,
            stderr=subprocess.STDOUT,
            env={**os.environ, MARK: mark},
            start_new_session=True,
        )
    command = Command(process, folder, mark)
    wait_for(lambda: moment.has_come(command) or process.poll() is not None, what="the moment")
    return command


def _listening(command: Command) -> int:
    logs = (command.results / "logs").glob("*.log")
    return sum("listening" in log.read_text("utf-8", "replace") for log in logs)


def _starting(command: Command) -> bool:
    logs = (command.results / "logs").glob("*.log")
    return any("starting" in log.read_text("utf-8", "replace") for log in logs)


def _has_begun(command: Command) -> bool:
    return (command.results / "results.json").exists()


def _has_written_results(command: Command) -> bool:
    """Return whether the verdicts are written, but pages and certificate are not."""
    try:
        text = (command.results / "results.json").read_text("utf-8")
    except OSError:
        return False
    return bool(text) and "did not finish" not in text


_WORKERS: Final = 2
_RUN: Final = ("run", "--results", "out", "--target-file", "none")
_MUTE: Final = ("--target-command", f"{sys.executable} mute.py")
_FAULTY: Final = (
    "--target-command",
    f"{sys.executable} {HERE / 'overcommitter.py'}",
)
_FAILS: Final = "test_an_ask_with_a_negative_amount_is_rejected"  # with the careless scheduler
_NOWHERE: Final = ("--target", "127.0.0.1:9")
_TEXT: Final = str(HERE.parents[1] / "proto" / "si" / "2024-10" / "si.proto")

MOMENTS: Final[dict[str, Moment]] = {
    "import": Moment(
        (*_RUN, *_MUTE),
        lambda c: " click" in c.sent(),
        has_results=False,
        kept="nothing was done",
        python=("-X", "importtime"),
    ),
    "waiting for the target": Moment(
        (*_RUN, *_NOWHERE, "--wait", "100"),
        lambda c: "wait" in c.sent(),
        has_results=False,
        kept="nothing was tested",
    ),
    "collecting": Moment((*_RUN, *_MUTE, "-n", f"{_WORKERS}"), _has_begun),
    "start of targets": Moment(
        (*_RUN, "-n", f"{_WORKERS}", "--target-command", f"{sys.executable} starting.py"), _starting
    ),
    "tests in two workers": Moment(
        (*_RUN, *_MUTE, "-n", f"{_WORKERS}"), lambda c: _listening(c) == 2
    ),  # workers
    "tests in one process": Moment((*_RUN, *_MUTE, "-n", "0"), lambda c: _listening(c) == 1),
    "reference asked": Moment(
        (*_RUN, *_FAULTY, "-n", "0", "-k", _FAILS),
        lambda c: c.has_started("--no-reference"),
        is_decided=True,
    ),
    "results": Moment(
        (*_RUN, "--explore", "0", "-n", "0", "-k", "SI-NODE-004"),
        _has_written_results,
        is_decided=True,
    ),
    "explore": Moment(
        ("explore", "--time", "100", "--histories", "10000"),
        lambda c: "exploring" in c.sent(),
        has_results=False,
    ),
    "replay": Moment(
        ("replay", "history.jsonl", "--results", "out", *_MUTE),
        lambda c: _listening(c) == 1,
        has_results=False,
        kept="the history was not replayed to its end",
    ),
    "doctor": Moment(
        ("doctor", "--results", "out"),
        lambda c: c.has_started("siconform.doctor.proxy"),
        has_results=False,
        kept="the self-test is incomplete",
    ),
    "spec try": Moment(
        ("spec", "try", _TEXT),
        lambda c: c.has_started(" --edited "),
        has_results=False,
        kept="nothing was compared",
    ),
}
