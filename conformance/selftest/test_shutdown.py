"""A signal at any moment ends a command in time, and no process is left."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from patience import patient, wait_for
from siconform.catalogue import catalogue
from siwire import DEFAULT_REVISION

from .commands import results_in, siconform
from .shutdown_moments import MOMENTS, Command, Moment, begin

pytestmark = pytest.mark.end_to_end

LIMIT: Final = 10.0  # seconds from the first signal until all processes are gone
INTERRUPTED: Final = 2  # exit code
REQUIREMENTS: Final = sum(DEFAULT_REVISION.name in r.revisions for r in catalogue().values())


@dataclass(frozen=True)
class Sent:
    """Signals to the first process, or to its whole group as from a terminal."""

    number: signal.Signals
    pause: float | None = None  # seconds until the same is sent again; None for once only
    to_group: bool = False

    def send(self, command: Command) -> None:
        """Send them; a process that has ended meanwhile is skipped."""
        self._once(command)
        if self.pause is not None:
            time.sleep(self.pause)
            with suppress(ProcessLookupError):
                self._once(command)

    def _once(self, command: Command) -> None:
        if self.to_group:
            os.killpg(command.process.pid, self.number)
        else:
            command.process.send_signal(self.number)


SIGNALS: Final = {
    "Ctrl-C": Sent(signal.SIGINT, to_group=True),
    "Ctrl-C twice": Sent(signal.SIGINT, 0.3, to_group=True),
    "SIGINT twice at once": Sent(signal.SIGINT, 0.0),
    "SIGINT twice, later": Sent(signal.SIGINT, 1.5),
    "SIGTERM": Sent(signal.SIGTERM),
    "terminal closed": Sent(signal.SIGHUP, to_group=True),
    "kill -9": Sent(signal.SIGKILL),
}
IN_CI: Final = {"Ctrl-C", "SIGINT twice at once", "SIGTERM", "terminal closed", "kill -9"}
"""The other columns are run with SICONFORM_TEST_ALL_SIGNALS=1."""


def _columns() -> list[str]:
    whole = os.environ.get("SICONFORM_TEST_ALL_SIGNALS") == "1"
    return [name for name in SIGNALS if whole or name in IN_CI]


@pytest.fixture(scope="module")
def failed_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history that can be replayed."""
    folder = tmp_path_factory.mktemp("failed")
    words = (*MOMENTS["reference asked"].words, "--no-reference")
    moment = Moment(words, lambda c: c.process.poll() is not None)
    begin(moment, folder).process.wait(patient())
    return min((folder / "out" / "histories").glob("*.jsonl"))


@pytest.fixture
def started(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Command]:
    """The command at this moment."""
    name: str = request.param
    if name == "replay":
        shutil.copy(request.getfixturevalue("failed_history"), tmp_path / "history.jsonl")
    command = begin(MOMENTS[name], tmp_path)
    yield command
    for pid in command.left():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    command.process.wait()


@pytest.mark.slow("starts a command and ends it, with a scheduler that ignores SIGTERM")
@pytest.mark.parametrize("sent", [pytest.param(SIGNALS[name], id=name) for name in _columns()])
@pytest.mark.parametrize(
    ("started", "moment"),
    [pytest.param(name, moment, id=name) for name, moment in MOMENTS.items()],
    indirect=["started"],
)
def test_signal_ends_command_and_children(
    started: Command, moment: Moment, sent: Sent, record_property: Callable[[str, object], None]
) -> None:
    assert started.process.poll() is None, started.sent()

    began = time.monotonic()
    sent.send(started)
    code = started.process.wait(patient())
    wait_for(lambda: not started.left(), limit=30.0, what=f"{started.left()} to end")
    seconds = time.monotonic() - began - (sent.pause or 0.0)
    record_property("seconds", round(seconds, 2))

    killed = sent.number is signal.SIGKILL
    output = started.sent()
    assert "Traceback" not in output
    assert seconds < patient(LIMIT)
    if moment.kept and not killed:
        sentence = f"siconform: interrupted ({sent.number.name}): {moment.kept}"
        assert output.splitlines()[-1] == sentence
    if moment.has_results:
        document = results_in(started.results)
        if moment.is_decided and (killed or code == document["exit_code"] != INTERRUPTED):
            return  # the verdict was written before the signal
        assert document["verdict"] == "INCOMPLETE"
        assert document["exit_code"] == INTERRUPTED
        assert "interrupted" in document["ended_early"]
        assert len(document["requirements"]) == REQUIREMENTS
        assert killed or "INCOMPLETE: interrupted" in output
    assert code == (-signal.SIGKILL if killed else INTERRUPTED), output


INTERRUPTED_IMPORT = """
import os, signal, time

class Descriptor:
    def __set_name__(self, owner, name):  # Python makes a RuntimeError of what is raised here
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

if os.getppid() == int(os.environ["PARENT"]):
    class Owner:
        late = Descriptor()
"""


def test_signal_while_pytest_imports_is_no_internal_error(tmp_path: Path) -> None:
    (tmp_path / "pdb.py").write_text(INTERRUPTED_IMPORT, "utf-8")  # pytest imports it
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PARENT": str(os.getpid())}

    done = siconform("run", "SI-NODE-004", "--results", "out", cwd=tmp_path, env=environment)

    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr
    assert "INCOMPLETE: interrupted" in done.stdout
    assert done.returncode == INTERRUPTED
