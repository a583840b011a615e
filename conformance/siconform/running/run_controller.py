"""The run controller: processes every report, evaluates the run, writes the results."""

import contextlib
import os
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import pytest

from siconform import results, shutdown
from siconform.policy import ExitCode, evaluate
from siconform.reporting import certifying
from siconform.reporting.html import report
from siconform.reporting.stored import RecordError
from siconform.results import Conditions, Failure, Run, TargetFacts
from siconform.running import failures, phases, report_payload
from siconform.running.console import Console
from siconform.running.evidence_store import EvidenceStore
from siconform.running.fork_servers import python_of_workers
from siconform.running.junit import Junit
from siconform.running.open_target import artifacts, describe
from siconform.running.option_list import SEED, STARTED_AS
from siconform.running.options import Settings
from siconform.running.progress_reporter import ProgressReporter
from siconform.running.reference_histories import of_the_reference
from siconform.running.results_dir import CannotWrite
from siconform.running.slowest import Slowest
from siconform.verdicts import of_monitors_alone

RECEIVED: Final = "siconform"
"""Key of the worker input with what the worker's command line does not contain."""

_INTERRUPTED: Final = "interrupted"
CRASHED: Final[str] = "???"  # the phase xdist reports when a worker died


class RunController:
    """The controller of a run, in the main process."""

    def __init__(self, settings: Settings, console: Console) -> None:
        self.settings = settings
        self.evidence = EvidenceStore(settings)
        self._console = console
        self._junit = Junit()
        self._started = datetime.now(UTC)
        self._began = time.monotonic()
        self._workers = 1
        self._failures: list[Failure] = []
        self._failing = 0.0  # seconds
        self._stopped = False  # by an option such as -x
        self._interrupted = False
        self._concluded = False
        self._slowest: Slowest | None = None  # with --durations
        self._phases = phases.Phases()
        self._prints_phases = False
        self._artifacts: Mapping[str, str] = {}

    def progress_reporter(self) -> ProgressReporter:
        """Return the progress reporter of this run."""
        target = " ".join((*describe(self.settings), "as", self.settings.implemented))
        return ProgressReporter(self.evidence, self._console, target)

    def not_begun(self, why: str) -> ExitCode:
        """Write the results of a run without a target."""
        self.evidence.not_begun = why
        run = self._finish(ended_by=0)
        return run.evaluation.exit_code

    def prepares(self) -> None:
        """Begin the phase that reaches or builds the target."""
        self._phases.begin(phases.TARGET)

    def begins(self) -> None:
        """Write preliminary results in case this process is killed; raise CannotWrite."""
        self._phases.begin(phases.WORKERS)
        self.evidence.ended_early = f"{_INTERRUPTED}: the run did not finish"
        self._artifacts = artifacts(self.settings)
        try:
            run = self._run(ended_by=int(ExitCode.INTERRUPTED))
            self._write(run)
        except OSError as error:
            raise CannotWrite(self._unwritten(error)) from None
        shutdown.report_if_killed(run.evaluation.sentence)
        self.evidence.ended_early = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None, None, None]:
        """Print the header and start the workers."""
        option = session.config.option
        if option.durations is not None:
            self._slowest = Slowest(option.durations, option.durations_min or 0.0)
        self._prints_phases = option.timings
        self._workers = getattr(session.config.option, "numprocesses", None) or 1
        self._console.header(self.settings, *describe(self.settings))
        with shutdown.signals_blocked_in_children():
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Begin the shutdown phase of workers after the tests."""
        done = yield
        self._phases.begin(phases.WORKERS_END)
        return done

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: Sequence[Any]) -> None:
        """Fork workers if there is a fork server."""
        for spec in specs:
            spec.python = python_of_workers() or spec.python

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker what its command line does not contain."""
        option = node.config.option
        started_as = getattr(option, STARTED_AS[2:].replace("-", "_"))
        node.workerinput[RECEIVED] = (option.results, started_as, os.getpid())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the payloads out of the report before other plugins see it."""
        self._phases.begin(phases.TESTS)
        for payload, content in report_payload.take(report):
            self.evidence.receive(report.nodeid, payload, content)
        self._junit.observe(report)
        if self._slowest is not None:
            self._slowest.observe(report)
        if report.when == CRASHED:
            self.evidence.crashed(report.nodeid, f"the worker died: {report.longrepr}")
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self._console.test(report)
        if self.settings.failing is not None and report.failed and self._waited(report):
            self._failing += report.duration
            if self._failing > self.settings.failing:
                raise pytest.Session.Interrupted(
                    f"failing tests took more than {self.settings.failing:g} s"
                )

    def _waited(self, report: pytest.TestReport) -> bool:
        """Return whether the test itself failed; with only monitor violations it did not wait."""
        received = (one for one in self.evidence.evidence if one.test == report.nodeid)
        return not of_monitors_alone(received)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a test file that cannot be collected."""
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1:]
            self.evidence.broke(f"{report.nodeid} cannot be collected: {''.join(last)}")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record an internal error of pytest or this plugin."""
        sent = [s for s in excinfo.exconly().splitlines() if s.strip() and s != "assert False"]
        self.evidence.broke(f"internal error: {sent[-1].strip()} (see pytest.log)")

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Handle Ctrl-C, SIGTERM and pytest.exit()."""
        sent = str(excinfo.value)
        if isinstance(excinfo.value, KeyboardInterrupt) and excinfo.type is not KeyboardInterrupt:
            # subclasses of pytest and xdist: stopped by -x or --maxfail
            self._stopped, self.evidence.ended_early = True, sent
            return
        self._interrupt(sent)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(
        self, session: pytest.Session, exitstatus: int
    ) -> Generator[None, None, None]:
        """Evaluate the run, write and print its results, and set the exit code."""
        stopped = session.shouldfail or session.shouldstop
        if stopped and not self.evidence.ended_early:
            self.evidence.ended_early = str(stopped)
        ended_by = int(pytest.ExitCode.TESTS_FAILED if self._stopped else exitstatus)
        if self._interrupted:
            ended_by = int(pytest.ExitCode.INTERRUPTED)
        self._write_early(ended_by)
        self._phases.begin(phases.REFERENCE)
        with self._until_interrupted():
            self._report_failures()
        with self._until_interrupted():
            self._junit.report(session.config, self._run(ended_by), self.evidence.not_reached())
        try:
            self._phases.begin(phases.WORKERS_END)
            with self._until_interrupted():
                yield
        except Exception as error:  # noqa: BLE001  # of other plugins
            self.evidence.broke(f"a pytest plugin failed: {_in_short(error)}")
        with self._until_interrupted():
            session.exitstatus = self._conclude(ended_by)
            return
        session.exitstatus = self._conclude(ended_by)

    def conclude_interrupted(self) -> None:
        """Write and report the verdict of a run that was interrupted before pytest started."""
        if shutdown.interrupted_by() and not self._concluded:
            if not self._interrupted:
                self._interrupt()
            self._conclude(int(pytest.ExitCode.INTERRUPTED))

    def _interrupt(self, how: str = "") -> None:
        """Mark the run as interrupted and terminate workers and targets."""
        self._interrupted = True
        self.evidence.ended_early = f"{_INTERRUPTED} ({how})" if how else _INTERRUPTED
        shutdown.terminate_children()

    @contextlib.contextmanager
    def _until_interrupted(self) -> Iterator[None]:
        """Mark the run as interrupted if a signal ends the block; at most one does."""
        try:
            yield
        except KeyboardInterrupt as signal:
            self._interrupt(str(signal))

    def _write_early(self, ended_by: int) -> None:
        """Write results before other plugins finish, which may take long."""
        with self._until_interrupted(), contextlib.suppress(OSError):
            self._write(self._run(ended_by))

    def _conclude(self, ended_by: int) -> int:
        """Write and report the verdict; return the exit code, which is now final."""
        self._concluded = True
        if self._interrupted:
            ended_by = int(pytest.ExitCode.INTERRUPTED)
        code = int(self._finish(ended_by).evaluation.exit_code)
        shutdown.settle(code)
        return code

    def _report_failures(self) -> None:
        """Format the failures, with the reference's histories if the run was complete."""
        ask: failures.AskReference = partial(of_the_reference, self.settings)
        if self.evidence.ended_early:
            ask = _no_reference
        blocks, command = self.evidence.failures, self.settings.command_line
        self._failures = failures.received(blocks, self.settings.results, command, ask)

    def _finish(self, ended_by: int) -> Run:
        """Write and print the results; if that fails, the verdict is KIT ERROR."""
        self._phases.begin(phases.RESULTS)
        run = self._run(ended_by)
        try:
            self._write(run)
            self._write_page(run)
        except OSError as error:
            self.evidence.broke(self._unwritten(error))
            run = self._run(ended_by)
        self._certify()
        if self._slowest is not None:
            self._console.first_lines = tuple(self._slowest.received())
        if self._prints_phases:
            self._console.last_lines = tuple(self._phases.lines())
        self._console.finish(run, self.settings)
        if self._console.broken:
            self.evidence.broke(self._console.broken)
            run = self._run(ended_by)
            with contextlib.suppress(OSError):
                self._write(run)
                certifying.withdraw(self.settings.results)
                self._write_page(run)
            _complain(f"{self._console.broken}; the results are in {self.settings.results}")
        return run

    def _certify(self) -> None:
        """Write certificate and badge, for complete runs only."""
        folder = self.settings.results
        try:
            certifying.write(folder, certifying.certify(folder))
        except RecordError:
            return
        except OSError as error:
            self.evidence.broke(self._unwritten(error))

    def _unwritten(self, error: OSError) -> str:
        return f"results cannot be written to {self.settings.results}: {error.strerror}"

    def _run(self, ended_by: int) -> Run:
        requirements = self.evidence.requirements()
        status = self.evidence.status(ended_by)
        name, version = describe(self.settings)
        about = self.settings.about
        return Run(
            target=TargetFacts(
                name,
                self.settings.address,
                about.version or version,
                self._artifacts,
                about.name,
                about.contact,
            ),
            status=status,
            evaluation=evaluate(requirements, status),
            requirements=requirements,
            baseline=self.settings.baseline,
            started=self._started,
            seconds=time.monotonic() - self._began,
            left_out=self.evidence.left_out,
            command=(*self.settings.command_line.started, *self.settings.command_line.options),
            conditions=self._conditions(),
            notes=self.evidence.notes,
            observed=self.evidence.behaviour(),
            without=sorted(self.settings.terms.without),
            failures=self._failures,
            deadlines=self.evidence.deadlines.received(),
            selected_by=self.settings.selected_by,
        )

    def _conditions(self) -> Conditions:
        on_virtual_time = self.evidence.on_virtual_time
        scale, fail_on = self.settings.time_scale, self.settings.fail_on.value
        return Conditions(scale, SEED, self._workers, on_virtual_time, fail_on)

    def _write(self, run: Run) -> None:
        results.write(results.document(run), self.settings.results)
        self._write_failures(run)

    def _write_failures(self, run: Run) -> None:
        received = self.settings.results / "failures.txt"
        texts = [failure.text for failure in run.failures if not failure.known]
        if texts:
            received.write_text("\n\n\n".join(texts) + "\n", "utf-8")
        else:
            with contextlib.suppress(FileNotFoundError):
                received.unlink()

    def _write_page(self, run: Run) -> None:
        """Write the HTML page, unless the target was unreachable."""
        if not run.status.unreachable:
            report.write(results.document(run), self.settings.results)


def _no_reference(_: Sequence[str]) -> Mapping[str, str]:
    """Return no histories, without running the reference."""
    return {}


def _in_short(error: Exception) -> str:
    sent = error.strerror if isinstance(error, OSError) else ""
    return sent or f"{type(error).__name__}: {error}"


def _complain(sentence: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"siconform: {sentence}\n")
