"""Tells of a run while it goes on: failures as they come, and on a terminal how far it is."""

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
"""Under this name a worker is told where to write what it waits for; "": nobody looks."""

_BOARD: Final = "waits-"  # begins the names of their files
_SIGN_OF_LIFE: Final = 30.0  # seconds without a line, where lines are all there is


class ProgressReporter:
    """One a run, beside the controller and after it: it hears what the evidence has heard."""

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
        self._observed = 0  # of the evidence
        self._selected_tests = 0
        self._received: set[str] = set()  # requirements of which a failure was told
        self._workers = 0
        self._named = False  # where the targets of the run listen
        self._last_line = time.monotonic()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Begin to show how far it is, where that can be seen."""
        earlier = durations.earlier(session.config, self._target)
        self._progress = RunProgress(time.monotonic(), earlier)
        if self._console.can_draw and not _talks_itself(session.config):
            self._draws = True
            waits.listen(Board(self._board("main")))
            self._console.draws(lambda: self._progress.view(time.monotonic()), self._waits)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker writes what it waits for, where anybody looks."""
        node.workerinput[RECEIVED] = str(self._board(node.gateway.id)) if self._draws else ""
        self._workers += 1

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test is under way."""
        self._progress.begins(nodeid, time.monotonic())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a test is over."""
        self._names_targets(at_least=max(1, self._workers))
        if len(self._evidence.tests) > self._selected_tests:  # a worker has collected its own
            self._selected_tests = len(self._evidence.tests)
            self._progress.selects(dict(self._selected()))
        fresh = self._evidence.evidence[self._observed :]
        self._observed = len(self._evidence.evidence)
        explained = [self._evidence.explained(one) for one in fresh]
        self._progress.observe(explained)
        for failure in self._unheard(explained):
            self._console.failure(failure)
            self._last_line = time.monotonic()
        ended = report.when not in ("setup", "call")
        failed = report.failed and report.when != "teardown"
        self._progress.phase(report.nodeid, report.duration, failed=failed, is_last=ended)
        self._gives_a_sign_of_life()

    @pytest.hookimpl(trylast=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Say that it was understood, while others end what they do."""
        self._console.notes(
            f"{self._evidence.ended_early or 'interrupted'}: ending what is under way"
        )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Remember for the next run how long tests took."""
        self._names_targets(at_least=1)
        durations.keep(session.config, self._target, self._progress.over())

    def pytest_unconfigure(self) -> None:
        """Whatever happened, the terminal is as it was."""
        self._console.stops_drawing()
        if self._draws:
            for board in self._boards.glob(f"{_BOARD}*"):
                with suppress(OSError):
                    board.unlink()

    def _board(self, worker: str) -> Path:
        """A file of this run, which the next one clears away should this one be killed."""
        path = self._boards / f"{_BOARD}{worker}"
        with suppress(OSError):
            adds(self._evidence.settings.results, path)
        return path

    def _names_targets(self, *, at_least: int) -> None:
        """Say once where the targets listen that were started for so many workers."""
        if not self._named and len(self._evidence.addresses) >= at_least:
            self._named = True
            self._console.addresses(tuple(self._evidence.addresses))

    def _selected(self) -> Iterator[tuple[str, list[str]]]:
        for test, ids in self._evidence.tests.items():
            if test not in self._evidence.left_out:
                yield test, [i for i in ids if i in self._of_the_revision]

    def _waits(self) -> Iterator[Wait]:
        yield from read(sorted(self._boards.glob(f"{_BOARD}*")))

    def _unheard(self, evidence: list[Evidence]) -> Iterator[Evidence]:
        """The first failure of each requirement, the worst first."""
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
    """In a worker: write what it waits for where the controller of the run looks."""
    received: dict[str, Any] = getattr(config, "workerinput", {})
    if received.get(RECEIVED):
        with suppress(OSError):
            waits.listen(Board(Path(received[RECEIVED])))


def _talks_itself(config: pytest.Config) -> bool:
    """Whether pytest or the tests write to the terminal meanwhile."""
    return bool(config.getoption("usepdb") or config.getoption("capture") == "no")
