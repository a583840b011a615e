"""Small suites and targets to test the kit with."""

import importlib
import json
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from siconform import results

from .preloaded import preloaded_python

pytest_plugins = ["pytester"]

# Else each run within a test imports it again. Registered, as pytest does, it is not warned of.
pytest.register_assert_rewrite("siconform.plugin")
importlib.import_module("siconform.plugin")

# Child processes inherit ignored signals: of a shell's background jobs, of nohup.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

_SCHEMA = jsonschema.Draft202012Validator(results.schema())

ANNOUNCING = (
    "-c \"import socket, time; server = socket.create_server(('127.0.0.1', 0)); "
    "print('listening on 127.0.0.1:%d' % server.getsockname()[1], flush=True); time.sleep(120)\""
)
"""Arguments of a Python that listens, says so and does nothing else."""


@dataclass
class FinishedRun:
    """The exit code of a run and the results it wrote."""

    code: int
    out: str
    err: str
    folder: Path
    results: dict[str, Any] = field(default_factory=dict)

    def requirement(self, identifier: str) -> dict[str, Any]:
        found: dict[str, Any] = next(
            r for r in self.results["requirements"] if r["id"] == identifier
        )
        return found

    def verdict(self, identifier: str) -> str:
        verdict: str = self.requirement(identifier)["verdict"]
        return verdict

    def reason(self, identifier: str) -> str:
        reason: str = self.requirement(identifier)["reason"]
        return reason


@pytest.fixture(autouse=True)
def _not_of_the_session_that_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide environment variables of this test session from the runs it starts."""
    for name in ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def conformance(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., FinishedRun]:
    """Run suite source under the plugin, against a target that only prints its address.

    ``fresh``: in a process of its own, forked from one that has imported the kit; ``interrupted``:
    in one that is started as users do, with their signal handlers.
    """
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(
        source: str,
        *options: str,
        target: bool = True,
        fresh: bool = False,
        interrupted: bool = False,
        results: bool = True,
    ) -> FinishedRun:
        pytester.makepyfile(test_fake=PREAMBLE + source)
        arguments = [
            "-p",
            "siconform.suite_plugin",
            "-p",
            "xdist",
            "-p",
            "timeout",
            "--results",
            "out",
        ]
        arguments += ["-p", "no:cacheprovider"]
        if target:
            arguments += ["--target-command", f"{sys.executable} {ANNOUNCING}"]
        if fresh or interrupted:
            python = (sys.executable,) if interrupted else preloaded_python()
            done = pytester.run(*python, "-m", "pytest", *arguments, *options)
        else:
            done = pytester.runpytest_inprocess(*arguments, *options)
        received = int(done.ret), done.stdout.str(), done.stderr.str(), pytester.path / "out"
        return read(*received) if results else FinishedRun(*received)

    return run


PREAMBLE = """
import os, signal, time
import pytest
from siconform.marks import requirement
from siconform.outcomes import *

@pytest.fixture(scope="session", autouse=True)
def _worker(worker_id): pass
"""


RM_WITH_HISTORY = """
from siconform.protocol.notifications import NodeAccepted, StreamEnded, UpdateKind
from siconform.recording.history import Exchange, History
from siconform.running.stash import HISTORY

@pytest.fixture
def rm(target, request):
    history = History()
    request.node.stash[HISTORY] = Exchange(history, 0)
    return history
"""
"""Suite source whose RM is only a history."""


def read(code: int, out: str, err: str, folder: Path) -> FinishedRun:
    file = folder / "results.json"
    document = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if document:
        found = document["requirements"]
        distinct = found[:1] + [r for r in found if r["verdict"] != "not-selected"]
        _SCHEMA.validate({**document, "requirements": distinct})
        assert document["exit_code"] == code
    return FinishedRun(code, out, err, folder, document)


@pytest.fixture
def mute() -> Iterator[str]:
    """A port that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def accept() -> None:
            with suppress(OSError):
                while True:
                    kept.append(server.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        for connection in kept:
            connection.close()


@pytest.fixture
def closed_address() -> str:
    """An address without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"
