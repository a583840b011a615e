"""Controls a run: hears every report, judges at the end, writes the results."""

import contextlib
import time
from datetime import UTC, datetime

import pytest
from _pytest.junitxml import xml_key

from siconform import results
from siconform.policy import ExitCode, judge
from siconform.results import Run, TargetFacts
from siconform.running import carrying
from siconform.running.console import Console
from siconform.running.failure_text import again_command
from siconform.running.ledger import Ledger
from siconform.running.options import Settings
from siconform.targets.opening import describe
from siconform.verdicts import Verdict

_OF_THE_CATALOGUE = (Verdict.PASS, Verdict.EXCLUDED, Verdict.NO_TEST_YET, Verdict.OF_THE_RM)
_CRASHED = "???"  # the phase xdist reports when a worker died


class Controller:
    """One a run, in the process the user started."""

    def __init__(self, settings: Settings, console: Console) -> None:
        self.settings = settings
        self.ledger = Ledger(settings)
        self._console = console
        self._started = datetime.now(UTC)
        self._began = time.monotonic()
        self._done = 0
        self._failed = 0

    def not_begun(self, why: str) -> ExitCode:
        """There is no target: write down that nothing ran."""
        self.ledger.not_begun = why
        run = self._finish(ended_by=0)
        return run.judgement.exit_code

    def pytest_sessionstart(self) -> None:
        """Say what begins; leave honest results in case this process is killed."""
        self._console.header(self.settings, *describe(self.settings))
        self.ledger.ended_early = "the run did not come to its end"
        self._write(self._run(ended_by=int(ExitCode.INTERRUPTED)))
        self.ledger.ended_early = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what the worker sent before anyone else looks at the report."""
        for parcel, content in carrying.take(report):
            self.ledger.receive(report.nodeid, parcel, content)
        if report.when == _CRASHED:
            self.ledger.crashed(report.nodeid, f"the worker died: {report.longrepr}")
        if report.when != "teardown":
            self._failed += report.failed
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self._done += 1
            total = len(self.ledger.tests) - len(self.ledger.left_out)
            self._console.test(report, f"{self._done} of {total} tests, {self._failed} failed")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of the suite that cannot even be read."""
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1:]
            self.ledger.broke(f"{report.nodeid} cannot be collected: {''.join(last)}")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Something in pytest or in this plugin."""
        said = [s for s in excinfo.exconly().splitlines() if s.strip() and s != "assert False"]
        self.ledger.broke(f"the run broke: {said[-1].strip()} (see pytest.log)")

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C, SIGTERM or pytest.exit()."""
        said = str(excinfo.value)
        self.ledger.ended_early = f"interrupted ({said})" if said else "interrupted"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge, write, tell; the exit code is the policy's."""
        stopped = session.shouldfail or session.shouldstop
        if stopped and not self.ledger.ended_early:
            self.ledger.ended_early = str(stopped)
        run = self._run(int(exitstatus))
        self._tell_junit(session.config, run)
        session.exitstatus = int(run.judgement.exit_code)
        self._finish(int(exitstatus))

    def _finish(self, ended_by: int) -> Run:
        run = self._run(ended_by)
        self._write(run)
        self._console.finish(run, self.settings)
        return run

    def _run(self, ended_by: int) -> Run:
        findings = self.ledger.findings()
        course = self.ledger.course(ended_by)
        name, version = describe(self.settings)
        return Run(
            target=TargetFacts(name, self.settings.address, version),
            course=course,
            judgement=judge(findings, course),
            findings=findings,
            baseline=self.settings.baseline,
            started=self._started,
            seconds=time.monotonic() - self._began,
            left_out=self.ledger.left_out,
            command=again_command(self.settings),
            notes=self.ledger.notes,
            failures=self.ledger.failures,
        )

    def _write(self, run: Run) -> None:
        results.write(results.document(run), self.settings.results)
        told = self.settings.results / "failures.txt"
        if run.failures:
            told.write_text("\n\n\n".join(failure.text for failure in run.failures) + "\n", "utf-8")
        else:
            with contextlib.suppress(FileNotFoundError):
                told.unlink()

    def _tell_junit(self, config: pytest.Config, run: Run) -> None:
        """The verdict of the run, and how many requirements have each, as suite properties."""
        xml = config.stash.get(xml_key, None)
        if xml is None:
            return
        xml.add_global_property("verdict", run.judgement.verdict.value)
        xml.add_global_property("sentence", run.judgement.sentence)
        xml.add_global_property("revision", run.course.revision)
        xml.add_global_property("target", run.target.name)
        for verdict, count in run.counts().items():
            xml.add_global_property(f"requirements.{verdict.value}", str(count))
        for finding in run.findings:
            if finding.verdict not in _OF_THE_CATALOGUE:
                xml.add_global_property(finding.requirement.id, finding.verdict.value)
