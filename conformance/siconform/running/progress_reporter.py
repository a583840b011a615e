"""Progress reports during a run: failures at once, and live progress on a terminal."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from siconform.catalogue import catalogue
from siconform.expecting import waits
from siconform.running.console import Console
from siconform.running.evidence_store import EvidenceStore
from siconform.running.live import durations
from siconform.running.live.board import Board, Wait, read
from siconform.running.live.progress import RunProgress
from siconform.running.results_dir import adds
from siconform.verdicts import LISTED, Evidence, worst_first

RECEIVED: Final = "siconform-boards"
"""Key of the worker input with the path of the worker's board; "" for none."""

_BOARD: Final = "waits-"  # prefix of their file names
_SIGN_OF_LIFE: Final = 30.0  # seconds between progress lines, if nothing is drawn


class ProgressReporter:
    """The progress reporter, one per run; runs after the controller, whose evidence it reads."""

    def __init__(self, evidence: EvidenceStore, console: Console, target: str) -> None:
        self._evidence = evidence
        self._console = console
        self._target = target
        revision = evidence.settings.revision.name
        known = catalogue().values()
        self._of_the_revision = {r.id for r in known if revision in r.revisions}
        self._progress = RunProgress(time.monotonic(), {})
        self._boards = evidence.settings.results / "logs"
        self._draws = False
        self._observed = 0  # number of processed evidence records
        self._selected_tests = 0
        self._received: set[str] = set()  # requirements with a reported failure
        self._workers = 0
        self._named = False  # whether target addresses were printed
        self._last_line = time.monotonic()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Start drawing the progress, on a terminal."""
        earlier = durations.earlier(session.config, self._target)
        self._progress = RunProgress(time.monotonic(), earlier)
        if self._console.can_draw and not _writes_directly(session.config):
            self._draws = True
            waits.listen(Board(self._board("main")))
            self._console.draws(lambda: self._progress.view(time.monotonic()), self._waits)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker the path of its board, if the progress is drawn."""
        node.workerinput[RECEIVED] = str(self._board(node.gateway.id)) if self._draws else ""
        self._workers += 1

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Record that a test has begun."""
        self._progress.begins(nodeid, time.monotonic())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Process the end of a phase: report new failures and the progress."""
        self._names_targets(at_least=max(1, self._workers))
        if len(self._evidence.tests) > self._selected_tests:  # a worker has sent its selection
            self._selected_tests = len(self._evidence.tests)
            self._progress.selects(dict(self._selected()))
        fresh = self._evidence.evidence[self._observed :]
        self._observed = len(self._evidence.evidence)
        explained = [self._evidence.explained(one) for one in fresh]
        self._progress.observe(explained)
        for failure in self._unreported(explained):
            self._console.failure(failure)
            self._last_line = time.monotonic()
        ended = report.when not in ("setup", "call")
        failed = report.failed and report.when != "teardown"
        self._progress.phase(report.nodeid, report.duration, failed=failed, is_last=ended)
        self._gives_a_sign_of_life()

    @pytest.hookimpl(trylast=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Show that the interruption was received, while workers finish."""
        self._console.notes(
            f"{self._evidence.ended_early or 'interrupted'}: finishing running tests"
        )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Store the durations of tests for the next run."""
        self._names_targets(at_least=1)
        durations.keep(session.config, self._target, self._progress.over())

    def pytest_unconfigure(self) -> None:
        """Restore the terminal and remove the boards."""
        self._console.stops_drawing()
        if self._draws:
            for board in self._boards.glob(f"{_BOARD}*"):
                with suppress(OSError):
                    board.unlink()

    def _board(self, worker: str) -> Path:
        """Return the board of a worker, listed so that the next run removes leftovers."""
        path = self._boards / f"{_BOARD}{worker}"
        with suppress(OSError):
            adds(self._evidence.settings.results, path)
        return path

    def _names_targets(self, *, at_least: int) -> None:
        """Print the addresses of started targets once there are enough."""
        if not self._named and len(self._evidence.addresses) >= at_least:
            self._named = True
            self._console.addresses(tuple(self._evidence.addresses))

    def _selected(self) -> Iterator[tuple[str, list[str]]]:
        for test, ids in self._evidence.tests.items():
            if test not in self._evidence.left_out:
                yield test, [i for i in ids if i in self._of_the_revision]

    def _waits(self) -> Iterator[Wait]:
        yield from read(sorted(self._boards.glob(f"{_BOARD}*")))

    def _unreported(self, evidence: list[Evidence]) -> Iterator[Evidence]:
        """Yield the first failure of each requirement, worst first."""
        for one in worst_first(evidence):
            is_new = one.requirement in self._of_the_revision - self._received
            if one.verdict in LISTED and is_new:
                self._received.add(one.requirement)
                yield one

    def _gives_a_sign_of_life(self) -> None:
        now = time.monotonic()
        if now - self._last_line >= _SIGN_OF_LIFE:
            self._last_line = now
            self._console.so_far(self._progress.view(now))


def report_waits(config: pytest.Config) -> None:
    """Publish the waits of this worker on its board."""
    received: dict[str, Any] = getattr(config, "workerinput", {})
    if received.get(RECEIVED):
        with suppress(OSError):
            waits.listen(Board(Path(received[RECEIVED])))


def _writes_directly(config: pytest.Config) -> bool:
    """Return whether pytest or the tests write to the terminal directly."""
    return bool(config.getoption("usepdb") or config.getoption("capture") == "no")
