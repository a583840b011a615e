"""The run controller: turns pytest's hooks into events, evaluates the run."""

import contextlib
import os
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import pytest

from siconform import shutdown
from siconform.catalogue import catalogue
from siconform.config.open_target import artifacts, describe
from siconform.config.option_list import SEED, STARTED_AS
from siconform.config.options import Settings
from siconform.config.results_dir import CannotWrite, ResultsDir
from siconform.output import events, failures, phases
from siconform.output.console import nothing_tested
from siconform.output.events import Event, Listener, PhaseBegan
from siconform.policy import ExitCode, evaluate
from siconform.results import Conditions, Failure, Run, TargetFacts
from siconform.running.evidence_store import EvidenceStore
from siconform.running.fork_servers import python_of_workers
from siconform.running.reference_histories import of_the_reference
from siconform.running.report_payload import take as take_payloads
from siconform.verdicts import LISTED, Evidence, of_monitors_alone, worst_first

RECEIVED: Final = "siconform"
"""Key of the worker input with what the worker's command line does not contain."""

_INTERRUPTED: Final = "interrupted"
_KILLED: Final = "INCOMPLETE: interrupted; the results of tests that had ended were not written"
CRASHED: Final[str] = "???"  # the phase xdist reports when a worker died


class RunController:
    """The controller of a run, in the main process."""

    def __init__(
        self, settings: Settings, listeners: Sequence[Listener], folder: ResultsDir
    ) -> None:
        self.settings = settings
        self._folder = folder
        self.evidence = EvidenceStore(settings)
        self._listeners = listeners
        self._started = datetime.now(UTC)
        self._began = time.monotonic()
        self._workers = 1
        self._selected_tests = 0
        self._named = False  # whether target addresses were sent
        self._violated: set[str] = set()  # requirements with a failure that was sent
        self._failures: list[Failure] = []
        self._failing = 0.0  # seconds
        self._stopped = False  # by an option such as -x
        self._interrupted = False
        self._has_begun = self._concluded = False
        self._artifacts: Mapping[str, str] = {}

    def _send(self, event: Event) -> None:
        for listener in self._listeners:
            listener.on_event(event)

    def not_begun(self, why: str) -> ExitCode:
        """Report a run without a target; write it if there are no earlier results."""
        self.evidence.not_begun = why
        if not self._folder.keeps_earlier:
            self._folder.begin()
        run = self._finish(ended_by=0)
        return run.evaluation.exit_code

    def prepares(self) -> None:
        """Begin the phase that reaches or builds the target."""
        if self._folder.keeps_earlier:
            shutdown.on_interrupt(nothing_tested(self.settings))
        self._send(PhaseBegan(phases.TARGET))

    def begins(self) -> None:
        """Write preliminary results in case this process is killed.

        Raises BadOption or CannotWrite if that is impossible.
        """
        self._send(PhaseBegan(phases.WORKERS))
        self._folder.begin()
        self._has_begun = True
        self.evidence.ended_early = f"{_INTERRUPTED}: the run did not finish"
        self._artifacts = artifacts(self.settings)
        try:
            self._send(events.ResultsChanged(self._run(ended_by=int(ExitCode.INTERRUPTED))))
        except OSError as error:
            raise CannotWrite(self._unwritten(error)) from None
        shutdown.report_if_killed(_KILLED)
        self.evidence.ended_early = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None, None, None]:
        """Start the workers."""
        self._workers = getattr(session.config.option, "numprocesses", None) or 1
        with shutdown.signals_blocked_in_children():
            self._send(events.RunStarted(*describe(self.settings), time.monotonic()))
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Begin the shutdown phase of workers after the tests."""
        done = yield
        self._send(PhaseBegan(phases.WORKERS_END))
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

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Send that a test has begun."""
        self._send(events.TestStarted(nodeid, time.monotonic()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the payloads out of the report before other plugins see it."""
        received = len(self.evidence.evidence)
        for payload, content in take_payloads(report):
            self.evidence.receive(report.nodeid, payload, content)
        if self.evidence.met_target:
            self._folder.replace()
        if report.when == CRASHED:
            self.evidence.crashed(report.nodeid, f"the worker died: {report.longrepr}")
        fresh = [self.evidence.explained(e) for e in self.evidence.evidence[received:]]
        is_known, properties = hasattr(report, "wasxfail"), report.user_properties
        test, phase, outcome = report.nodeid, str(report.when), report.outcome
        ended = (test, phase, outcome, report.duration, is_known, fresh, properties)
        self._send_selection()
        self._send(events.TestPhaseEnded(*ended))
        self._send_addresses(at_least=self._workers)
        self._send_violations(fresh)
        if self.settings.failing is not None and report.failed and self._waited(report):
            self._failing += report.duration
            if self._failing > self.settings.failing:
                raise pytest.Session.Interrupted(
                    f"failing tests took more than {self.settings.failing:g} s"
                )

    def _send_selection(self) -> None:
        """Send the selected tests again when a worker has sent more."""
        if len(self.evidence.tests) > self._selected_tests:
            self._selected_tests = len(self.evidence.tests)
            tests, left_out = self.evidence.tests.items(), self.evidence.left_out
            selected = {t: self._of_revision(ids) for t, ids in tests if t not in left_out}
            self._send(events.TestsSelected(selected))

    def _send_addresses(self, *, at_least: int) -> None:
        """Send the addresses of started targets once there are enough."""
        if not self._named and len(self.evidence.addresses) >= at_least:
            self._named = True
            self._send(events.TargetsStarted(tuple(self.evidence.addresses)))

    def _send_violations(self, fresh: Sequence[Evidence]) -> None:
        """Send the first violation of each requirement, the worst first."""
        for one in worst_first(fresh):
            is_new = one.requirement not in self._violated
            if one.verdict in LISTED and is_new and self._of_revision([one.requirement]):
                self._violated.add(one.requirement)
                self._send(events.RequirementFailed(one))

    def _of_revision(self, ids: Sequence[str]) -> list[str]:
        known, revision = catalogue(), self.settings.revision.name
        return [i for i in ids if i in known and revision in known[i].revisions]

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
        """Record an internal error of pytest or this plugin, unless a signal caused it."""
        if shutdown.interrupted_by():
            return
        sent = [s for s in excinfo.exconly().splitlines() if s.strip() and s != "assert False"]
        self.evidence.broke(f"internal error: {sent[-1].strip()} (see pytest.log)")

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Handle Ctrl-C, SIGTERM and pytest.exit()."""
        sent = str(excinfo.value)
        if isinstance(excinfo.value, KeyboardInterrupt) and excinfo.type is not KeyboardInterrupt:
            # subclasses of pytest and xdist: stopped by -x or --maxfail
            self._stopped, self.evidence.ended_early = True, sent
            self._send(events.RunInterrupted(sent or _INTERRUPTED))
            return
        self._interrupt(sent)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(
        self, session: pytest.Session, exitstatus: int
    ) -> Generator[None, None, None]:
        """Evaluate the run and set the exit code."""
        stopped = session.shouldfail or session.shouldstop
        if stopped and not self.evidence.ended_early:
            self.evidence.ended_early = str(stopped)
        ended_by = int(pytest.ExitCode.TESTS_FAILED if self._stopped else exitstatus)
        if self._interrupted:
            ended_by = int(pytest.ExitCode.INTERRUPTED)
        self._write_early(ended_by)
        self._send(PhaseBegan(phases.REFERENCE))
        with self._until_interrupted():
            self._send_addresses(at_least=1)
            self._report_failures()
        self._send(PhaseBegan(phases.WORKERS_END))
        try:
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
        if shutdown.interrupted_by() and self._has_begun and not self._concluded:
            if not self._interrupted:
                self._interrupt()
            self._conclude(int(pytest.ExitCode.INTERRUPTED))

    def _interrupt(self, how: str = "") -> None:
        """Mark the run as interrupted and terminate workers and targets."""
        self._interrupted = True
        self.evidence.ended_early = f"{_INTERRUPTED} ({how})" if how else _INTERRUPTED
        self._send(events.RunInterrupted(self.evidence.ended_early))
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
            self._send(events.ResultsChanged(self._run(ended_by)))

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
        self._failures = failures.received(self.evidence.failures, self.settings, ask)

    def _finish(self, ended_by: int) -> Run:
        """Send the verdict; if an output fails, it is KIT ERROR, also in the outputs before it.

        A run that tested nothing does not replace earlier results.
        """
        self._send(PhaseBegan(phases.RESULTS))
        run = self._run(ended_by)
        if self.evidence.has_tested:
            self._folder.replace()
        elif self._folder.keeps_earlier:
            self._send(events.NothingTested(run))
            return run
        for place, listener in enumerate(self._listeners):
            try:
                listener.on_event(events.RunFinished(run, self.evidence.not_reached()))
            except (OSError, CannotWrite) as error:
                self.evidence.broke(self._unwritten(error))
                run = self._run(ended_by)
                for earlier in self._listeners[:place]:
                    with contextlib.suppress(OSError):
                        earlier.on_event(events.RunFinished(run, self.evidence.not_reached()))
        return run

    def _unwritten(self, error: OSError | CannotWrite) -> str:
        if isinstance(error, CannotWrite):
            return str(error)
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


def _no_reference(_: Sequence[str]) -> Mapping[str, str]:
    """Return no histories, without running the reference."""
    return {}


def _in_short(error: Exception) -> str:
    sent = error.strerror if isinstance(error, OSError) else ""
    return sent or f"{type(error).__name__}: {error}"
