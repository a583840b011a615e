"""The kit as a pytest plugin in a user's own test project.

It handles only tests with the mark ``requirement``. Other tests, the terminal report and the exit
code remain pytest's.
"""

from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from siconform import results
from siconform.catalogue import CatalogueError, Side, adopt, find_requirement, own_requirements
from siconform.catalogue.own import read_own
from siconform.config.command_line import ProjectCommandLine
from siconform.config.open_target import check_command
from siconform.config.option_list import SIDE, STARTED_AS
from siconform.config.option_values import BadOption
from siconform.config.options import (
    Settings,
    assign,
    getter,
    read_settings,
    sentence_in_a_project,
    started,
)
from siconform.config.results_dir import CannotWrite, ResultsDir
from siconform.config.target_file_options import with_target_file_of
from siconform.outcomes import Outcome
from siconform.output import failures
from siconform.output.events import RunFinished
from siconform.output.results_files import Page, write_failures
from siconform.policy import RequirementResult
from siconform.results import Run
from siconform.running import report_payload
from siconform.running.run_controller import CRASHED, RECEIVED, RunController
from siconform.running.selecting import REQUIREMENTS, Selector, requirements_of
from siconform.running.target_lease import TargetLease
from siconform.running.test_hooks import TestHooks
from siconform.verdicts import BAD, SHOWN, Verdict

CATALOGUE: Final = "--si-catalogue"
CATALOGUE_INI: Final = "si_catalogue"
RESULTS: Final = "build/conformance-own"
"""Default results folder, so that results of the kit's own suite are kept."""

_USAGE: Final = "siconform_usage"  # attribute of the report of a usage error
_TEST_TIMEOUT: Final = 60.0  # seconds, before scaling


def add_options(parser: pytest.Parser) -> None:
    """Add the options that only other projects have."""
    group = parser.getgroup("si conformance", "SI conformance")
    about = "file with your own requirements, in the format of the kit's catalogue (repeatable)"
    group.addoption(CATALOGUE, metavar="FILE", action="append", default=[], help=about)
    parser.addini(CATALOGUE_INI, about, type="paths", default=[])


def begin(config: pytest.Config) -> TargetLease:
    """Register the plugins of this process; raise UsageError, one sentence per line."""
    try:
        adopt(read_own(_catalogues(config)))
        settings = _worker_settings(config) if _is_worker(config) else _settings(config)
    except (BadOption, CannotWrite, CatalogueError) as error:
        raise _usage_error(error) from None
    if settings.side is Side.RM:
        raise pytest.UsageError(f"{SIDE} rm: only siconform run tests resource managers")
    worker: dict[str, str] = getattr(config, "workerinput", {})
    lease = TargetLease(settings, worker.get("workerid", "main"), prepares=True)
    selector = ProjectSelector(settings)
    manager = config.pluginmanager
    manager.register(selector, "siconform-selector")
    manager.register(ProjectHooks(settings, lease, selector.selection), "siconform-test-hooks")
    if not _is_worker(config):
        manager.register(ProjectController(settings, _catalogues(config)), "siconform-controller")
    return lease


class ProjectSelector(Selector):
    """Deselects requirement tests that cannot run; leaves other tests and the order alone."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Mark the tests of requirements and add a timeout if pytest-timeout is installed.

        Raise UsageError if a test names an unknown requirement.
        """
        evaluated = [item for item in items if requirements_of(item)]
        if unknown := list(dict.fromkeys(_unknown(evaluated))):
            _refuse(config, "; ".join(unknown))
            items.clear()
            return
        kept = list(evaluated)
        super().pytest_collection_modifyitems(config, kept)
        for test, why in self.selection.left_out.items():
            self.selection.left_out[test] = sentence_in_a_project(why)
        dropped = {id(item) for item in evaluated} - {id(item) for item in kept}
        items[:] = [item for item in items if id(item) not in dropped]
        if self._settings is None or not config.pluginmanager.hasplugin("timeout"):
            return
        limit = pytest.mark.timeout(_TEST_TIMEOUT * max(1.0, self._settings.time_scale))
        for item in kept:
            if item.get_closest_marker("timeout") is None:
                item.add_marker(limit)


class ProjectHooks(TestHooks):
    """Test hooks for requirement tests only."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Do not start a test without a target."""
        if REQUIREMENTS in item.stash:
            super().pytest_runtest_setup(item)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add the evidence of this phase to its report."""
        if REQUIREMENTS not in item.stash:
            return (yield)
        if call.excinfo is not None and isinstance(call.excinfo.value, Outcome):
            outcome = call.excinfo.value  # its message stays: baselines quote it
            outcome.happened = sentence_in_a_project(outcome.happened)
        return (yield from super().pytest_runtest_makereport(item, call))


class ProjectController(RunController):
    """Collects the evidence of requirement tests and writes the results."""

    def __init__(self, settings: Settings, catalogues: list[Path]) -> None:
        folder = ResultsDir(settings.results)
        super().__init__(settings, [Page(settings.results)], folder)
        self._catalogues = catalogues
        self._ended: Run | None = None
        self._unwritable = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None, None, None]:
        """Prepare the results folder early if workers collect the tests."""
        if session.config.pluginmanager.hasplugin("dsession"):
            self._takes_results()
        yield

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Prepare the results folder only if requirement tests are selected."""
        if any(REQUIREMENTS in item.stash for item in session.items):
            self._takes_results()

    def _takes_results(self) -> None:
        try:
            self._folder.lock()
            self._folder.begin()
        except (BadOption, CannotWrite) as error:
            raise _usage_error(error) from None

    def pytest_unconfigure(self) -> None:
        """Release the results folder."""
        self._folder.release()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker what its command line does not contain."""
        received = getter(node.config)
        node.workerinput[RECEIVED] = (received("--results"), received(STARTED_AS))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the payloads out of the report before other plugins see it."""
        for payload, content in report_payload.take(report):
            self.evidence.receive(report.nodeid, payload, content)
        if report.when == CRASHED and report.nodeid in self.evidence.tests:
            self.evidence.crashed(report.nodeid, f"the worker died: {report.longrepr}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Raise a usage error that a worker reports; pytest reports other errors."""
        if hasattr(report, _USAGE):
            raise pytest.UsageError(str(report.longrepr))

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Do nothing: pytest reports internal errors."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(
        self, session: pytest.Session, exitstatus: int
    ) -> Generator[None, None, None]:
        """Write the results; the exit code remains pytest's unless that fails."""
        if self.evidence.tests:
            self._ends(session, int(exitstatus))
        yield  # includes the terminal report

    def _ends(self, session: pytest.Session, exitstatus: int) -> None:
        self._folder.replace()
        stopped = session.shouldfail or session.shouldstop
        self.evidence.ended_early = self.evidence.ended_early or (str(stopped) if stopped else "")
        self._report_failures()
        self._ended = self._run(exitstatus)
        try:
            self._write(self._ended)
            self._send(RunFinished(self._ended, self.evidence.not_reached()))
        except OSError as error:
            self._unwritable = self._unwritten(error)
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def _report_failures(self) -> None:
        """Format the failures, without the reference, which cannot run these tests."""
        self._failures = failures.received(self.evidence.failures, self.settings, lambda _: {})

    def _write(self, run: Run) -> None:
        own = results.own_document(self.evidence.own_requirements(), self._catalogues)
        results.write({**results.document(run), "own": own}, self.settings.results)
        write_failures(run, self.settings.results)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, None, None]:
        """Add the results of requirements after pytest's summary, before its last line."""
        yield
        if self._ended is None:
            return
        terminalreporter.write_sep("=", "SI conformance")
        for line in self._summary(self._ended):
            terminalreporter.write_line(line)

    def _summary(self, run: Run) -> Iterator[str]:
        results = [*run.requirements, *self.evidence.own_requirements()]
        cited = {identifier for ids in self.evidence.tests.values() for identifier in ids}
        yield _counted(results, cited)
        for result in results:
            if result.verdict in BAD:
                words = result.verdict.label.upper()
                by = "" if result.requirement.id in cited else " (found by a monitor)"
                yield f"  {words}  {result.requirement.id}: {result.requirement.title}{by}"
        yield self._unwritable or f"results in {self.settings.results}"


def _counted(results: list[RequirementResult], cited: set[str]) -> str:
    """Return how many requirements the tests cite, by verdict, and how many own ones have none."""
    verdicts = {result.requirement.id: result.verdict for result in results}
    counts = Counter(verdicts.get(one, Verdict.NOT_APPLICABLE) for one in cited)
    received = ", ".join(verdict.counted(counts[verdict]) for verdict in SHOWN if counts[verdict])
    uncited = len(own_requirements().keys() - cited)
    rest = f"; {uncited} of your own without a test" if uncited else ""
    return f"{len(cited)} requirement{'s' * (len(cited) > 1)} cited: {received}{rest}"


def _unknown(items: list[pytest.Item]) -> Iterator[str]:
    """Yield a sentence for each unknown requirement of these tests."""
    for item in items:
        for identifier in requirements_of(item):
            try:
                find_requirement(identifier)
            except LookupError as error:
                yield f"{item.nodeid.partition('[')[0]}: {error}"


def _refuse(config: pytest.Config, sentence: str) -> None:
    """Raise a usage error; a worker sends it to the controller, because xdist would lose it."""
    error = _usage_error(sentence)
    if not _is_worker(config):
        raise error
    mark: dict[str, Any] = {_USAGE: True}
    report = pytest.CollectReport("", "failed", str(error), None, **mark)
    config.hook.pytest_collectreport(report=report)


def _usage_error(error: object) -> pytest.UsageError:
    return pytest.UsageError(f"siconform: {sentence_in_a_project(str(error))}")


def _settings(config: pytest.Config) -> Settings:
    with_target_file_of(config)
    given: str | None = getter(config)("--results")
    results_dir = Path(RESULTS if given is None else given).absolute()
    assign(config, "--results", str(results_dir) if given is None or given.strip() else given)
    started(config)
    settings = _in_the_project(config)
    check_command(settings)
    return settings


def _in_the_project(config: pytest.Config) -> Settings:
    settings = read_settings(config)
    line = settings.command_line
    return replace(settings, command_line=ProjectCommandLine(line.started, line.options))


def _worker_settings(config: pytest.Config) -> Settings:
    results_dir, command = getattr(config, "workerinput")[RECEIVED]  # noqa: B009  # xdist's
    assign(config, "--results", results_dir)
    assign(config, STARTED_AS, command)
    return _in_the_project(config)


def _catalogues(config: pytest.Config) -> list[Path]:
    """Return the catalogues of the command line, else of the configuration file."""
    given: list[str] = config.getoption(CATALOGUE)
    if given:
        return [config.invocation_params.dir / file for file in given]
    listed: list[Path] = config.getini(CATALOGUE_INI)
    return listed


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
