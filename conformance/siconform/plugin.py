"""The pytest plugin of the kit, loaded by ``-p siconform.plugin``.

``siconform run`` also loads ``siconform.suite_plugin``. Without that the plugin runs in a user's
own pytest project: docs/in-your-project.md.
"""

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TextIO, cast

import pytest

from siconform import fork_server, internal_errors, shutdown
from siconform.catalogue import catalogue, find_requirement
from siconform.config.open_target import check_command, prepare
from siconform.config.option_values import BadOption
from siconform.config.options import (
    Settings,
    add_options,
    in_a_project,
    is_kit_suite,
    read_settings,
    results_given,
    started,
)
from siconform.config.results_dir import CannotWrite, ResultsDir
from siconform.config.target_file_options import with_target_file_of
from siconform.output.live.live_view import report_waits
from siconform.output.live.output import BestEffortStream
from siconform.policy import ExitCode
from siconform.running import pytest_project
from siconform.running.listeners import listeners
from siconform.running.naming import NothingChosen, check_chosen, take_named
from siconform.running.run_controller import RECEIVED, RunController
from siconform.running.selecting import ChosenFiles, Selector
from siconform.running.target_lease import TargetLease
from siconform.running.test_hooks import TestHooks
from siconform.running.worker_shutdown import end_with_parent
from siconform.targets import Target, TargetUnavailable

_FIXTURES = "siconform.suite.conftest"  # fixtures for tests of other projects

_SETTINGS = pytest.StashKey[Settings]()
_CONTROLLER = pytest.StashKey[RunController]()
_LEASE = pytest.StashKey[TargetLease]()
_LOG = pytest.StashKey[TextIO]()

_REFUSALS: Mapping[type[Exception], ExitCode] = {
    BadOption: ExitCode.USAGE,
    NothingChosen: ExitCode.NOTHING_SELECTED,
    CannotWrite: ExitCode.KIT_ERROR,
    internal_errors.UnfitPython: ExitCode.KIT_ERROR,
}
_TEST_TIMEOUT = 60.0  # seconds, before scaling
_RUN_TIMEOUT = 1800.0  # seconds, before scaling
_TIMERS_IN_A_TEST = 3  # waited for one after the other
_ID_IN_EXPRESSION = re.compile(r"\bSI-[A-Za-z]+-\w+", re.IGNORECASE)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options of the kit, prefixed in other projects (--si-target)."""
    if is_kit_suite(pluginmanager):
        add_options(parser)
    else:
        add_options(parser, in_a_project)
        pytest_project.add_options(parser)
        pluginmanager.import_plugin(_FIXTURES)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Check the options, the results folder and the target before anything runs."""
    if not is_kit_suite(config.pluginmanager):
        return None
    take_named(config)
    if _is_worker(config) or _only_shows(config):
        return None
    try:
        internal_errors.check_python()
        settings = _checked(config)
        folder = _locked(config, settings)
    except tuple(_REFUSALS) as error:
        return _message(str(error), _REFUSALS[type(error)])
    config.stash[_SETTINGS] = settings
    _set_defaults(config, settings)
    controller = RunController(settings, listeners(config, settings), folder)
    config.stash[_CONTROLLER] = controller
    config.add_cleanup(controller.conclude_interrupted)
    try:
        controller.prepares()
        prepare(settings)
        controller.begins()
    except TargetUnavailable as error:
        return controller.not_begun(str(error))
    except (BadOption, CannotWrite) as error:
        return _message(str(error), _REFUSALS[type(error)])
    return None


def pytest_internalerror() -> bool:
    """Return whether pytest is to be silent: a signal made another exception of itself."""
    return bool(shutdown.interrupted_by())


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the plugins that this process needs."""
    config.addinivalue_line("markers", "requirement(*ids): requirements that the test covers")
    config.addinivalue_line("markers", "disruptive: may leave the scheduler unusable")
    config.addinivalue_line("markers", "race_where(trait): skipped on targets with this trait")
    config.addinivalue_line("markers", "waits: waits for a timer of the scheduler; runs early")
    config.addinivalue_line("markers", "explores: runs random histories")
    config.addinivalue_line("markers", "real_clock: runs on virtual time and on the real clock")
    in_its_own_run = is_kit_suite(config.pluginmanager)
    if _only_shows(config):
        if in_its_own_run:
            config.pluginmanager.register(Selector(None), "siconform-selector")
        return
    if not in_its_own_run:
        config.stash[_LEASE] = pytest_project.begin(config)
        return
    controller = config.stash.get(_CONTROLLER, None)
    if controller is not None:
        config.pluginmanager.register(controller, "siconform-controller")
        _keep_pytest_quiet(config, controller.settings)
    if _is_worker(config):
        received = getattr(config, "workerinput")  # noqa: B009  # xdist's
        config.option.results, config.option.started_as, controller_pid = received[RECEIVED]
        end_with_parent(fork_server.parent_or(controller_pid))
        config.stash[_SETTINGS] = read_settings(config)
        report_waits(config.stash[_SETTINGS].results, _worker_name(config))
    settings = config.stash[_SETTINGS]
    lease = config.stash[_LEASE] = TargetLease(settings, _worker_name(config))
    selector = Selector(settings)
    config.pluginmanager.register(selector, "siconform-selector")
    config.pluginmanager.register(ChosenFiles(settings), "siconform-chosen-files")
    hooks = TestHooks(settings, lease, selector.selection)
    config.pluginmanager.register(hooks, "siconform-test-hooks")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Start the target while the tests are collected."""
    lease = session.config.stash.get(_LEASE, None)
    in_its_own_run = is_kit_suite(session.config.pluginmanager)
    if lease is not None and in_its_own_run and not _distributes(session.config):
        lease.open()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the target and close the log."""
    lease = config.stash.get(_LEASE, None)
    if lease is not None:
        lease.close()
    log = config.stash.get(_LOG, None)
    if log is not None:
        log.close()


@pytest.fixture(scope="session")
def target(pytestconfig: pytest.Config) -> Target:
    """Return the scheduler under test; each worker has its own."""
    return pytestconfig.stash[_LEASE].open()


@pytest.fixture(scope="session")
def target_on_real_clock(pytestconfig: pytest.Config) -> Callable[[], Target]:
    """Return a function that opens a second instance of the scheduler on the real clock."""
    return partial(pytestconfig.stash[_LEASE].open, real_clock=True)


@pytest.fixture(scope="session")
def worker(pytestconfig: pytest.Config) -> str:
    """Return the name of this test worker."""
    received: dict[str, str] = getattr(pytestconfig, "workerinput", {})
    return received.get("workerid", "master")


@pytest.fixture
def short_name(worker: str, numbers: Callable[[], int]) -> str:
    """Return a prefix for ids, unique in the run."""
    return f"{worker}-{numbers()}"


@pytest.fixture(scope="session")
def numbers() -> Callable[[], int]:
    """Return a counter of the worker's tests."""
    counter = iter(range(1, 1_000_000))
    return lambda: next(counter)


def _checked(config: pytest.Config) -> Settings:
    """Return the settings after checking everything that needs no target."""
    with_target_file_of(config)
    config.option.results = str(results_given(config))
    started(config)
    settings = read_settings(config)
    check_chosen(settings)
    check_command(settings)
    _check_expressions(config)
    return settings


def _locked(config: pytest.Config, settings: Settings) -> ResultsDir:
    """Return the locked results folder, which the run replaces once it has tested something."""
    folder = ResultsDir(settings.results)
    config.add_cleanup(folder.release)
    folder.lock(*(["junit.xml"] if config.option.xmlpath is None else []))
    return folder


def _message(sentence: str, code: ExitCode) -> ExitCode:
    print(f"siconform: {sentence}", file=sys.stderr)  # noqa: T201  # why nothing ran
    return code


def _check_expressions(config: pytest.Config) -> None:
    """Check -k and -m here: pytest would report an error only when a worker breaks."""
    selection: Any = config.pluginmanager.get_plugin("mark")  # pytest's own -k and -m
    try:
        selection.pytest_collection_modifyitems(items=[], config=config)
    except pytest.UsageError as error:
        raise BadOption(str(error)) from None
    _check_ids(config.getoption("keyword"))


def _check_ids(keyword: str) -> None:
    """Reject unknown ids in -k: ``-k SI-NODE-4`` would silently select nothing."""
    for found in _ID_IN_EXPRESSION.findall(keyword):
        identifier = found.upper()
        if not any(known.startswith(identifier) for known in catalogue()):
            try:
                find_requirement(identifier)
            except LookupError as error:
                raise BadOption(str(error)) from None


def _set_defaults(config: pytest.Config, settings: Settings) -> None:
    """Set timeouts that grow with the time scale and long timers, and the path of JUnit."""
    factor = max(1.0, settings.time_scale)
    longest = min(settings.timers.longest, settings.terms.longest_timer)
    if config.option.xmlpath is None:
        config.option.xmlpath = str(settings.results / "junit.xml")
    for name, limit in (("timeout", _TEST_TIMEOUT), ("session_timeout", _RUN_TIMEOUT)):
        if getattr(config.option, name, 0) is None:
            setattr(config.option, name, limit * factor + _TIMERS_IN_A_TEST * longest)


def _keep_pytest_quiet(config: pytest.Config, settings: Settings) -> None:
    """Redirect pytest's own report to pytest.log."""
    if config.getoption("usepdb"):
        return
    manager = config.pluginmanager
    manager.unregister(name="terminalreporter")
    log = (settings.results / "pytest.log").open("w", encoding="utf-8")
    config.stash[_LOG] = cast("TextIO", BestEffortStream(log))
    manager.register(pytest.TerminalReporter(config, config.stash[_LOG]), "terminalreporter")


def _only_shows(config: pytest.Config) -> bool:
    options = config.option
    return bool(
        options.collectonly
        or options.help
        or options.version
        or options.markers
        or options.showfixtures
        or options.show_fixtures_per_test
    )


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _worker_name(config: pytest.Config) -> str:
    workerinput: dict[str, str] = getattr(config, "workerinput", {})
    return workerinput.get("workerid", "main")


def _distributes(config: pytest.Config) -> bool:
    return config.pluginmanager.hasplugin("dsession")
