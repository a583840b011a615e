"""Settings shared by all tests: time limits, number of examples, and timing report."""

import gc
import signal
import time
from collections import defaultdict
from typing import Final

import hypothesis_profiles
import patience
import pytest

hypothesis_profiles.register()

gc.set_threshold(50_000)  # new objects; the default of 700 costs 3 % of all tests
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a background job of a script
    signal.signal(signal.SIGINT, signal.default_int_handler)  # processes are sent it by tests

SLOW: Final = 2.0  # seconds; a slower test needs a reason: @pytest.mark.slow("reason")
_SLOWEST: Final = 10


def pytest_configure(config: pytest.Config) -> None:
    """Scale the time limit of tests, and register the markers and the timing report."""
    config.addinivalue_line("markers", "end_to_end: starts whole runs; nox -s end-to-end")
    config.addinivalue_line("markers", "slow(reason): takes more than 2 s, for this reason")
    if config.getoption("timeout", None) is None:
        config.option.timeout = patience.patient(float(config.getini("timeout") or 0))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Times(), "times-of-tests")


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Report to the controller why a test is slow."""
    marker = item.get_closest_marker("slow")
    if marker is not None and call.when == "call":
        item.user_properties.append(("slow", str(marker.args[0])))


class _Times:
    """Durations of tests, in the process that prints them."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._tests: defaultdict[str, float] = defaultdict(float)  # seconds
        self._reasons: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of a test."""
        self._tests[report.nodeid] += report.duration
        for name, value in report.user_properties:
            if name == "slow":
                self._reasons[report.nodeid] = str(value)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the ten slowest tests and the time of each package."""
        if len(self._tests) <= _SLOWEST:
            return
        write = terminalreporter.write_line
        terminalreporter.section("test durations")
        packages: defaultdict[str, list[float]] = defaultdict(list)
        for test, seconds in self._tests.items():
            packages["/".join(test.split("/")[:2])].append(seconds)
        for package, times in sorted(packages.items(), key=lambda pair: -sum(pair[1])):
            write(f"{sum(times):8.1f} s  {len(times):5} tests  {package}")
        write(f"{time.monotonic() - self._began:8.1f} s  wall clock")
        slowest = sorted(self._tests.items(), key=lambda pair: -pair[1])
        for number, (test, seconds) in enumerate(slowest):
            reason = self._reasons.get(test, "")
            if number < _SLOWEST or (seconds > SLOW and not reason):
                write(f"{seconds:8.1f} s  {test}{f'  ({reason})' if reason else ''}")
