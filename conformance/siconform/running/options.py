"""The options of a run: the same for pytest, ``siconform run`` and ``nox -s conformance --``."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from siwire import DEFAULT_REVISION, Revision, find_revision

from siconform.baseline import Baseline, BaselineError, read_baseline
from siconform.targets import TargetUnavailable
from siconform.targets.attached import is_address
from siconform.targets.named import NamedTarget, find_named
from siconform.targets.timers import Timers

RESULTS: Final = "build/conformance"
FROM_APPLICATION: Final = "application"  # as the value of --placeholder-timeout


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its flag, what its value is called, what it does."""

    flag: str
    metavar: str  # "" for a switch
    help: str
    of_the_target: bool = True  # which one is meant and how long it takes, whatever is done with it


OPTIONS: Final = (
    Option(
        "--target",
        "TARGET",
        "the scheduler to judge: HOST:PORT where one listens, or NAME@VERSION for one the kit can "
        "build and start (without it: the embedded reference)",
    ),
    Option(
        "--target-command",
        "COMMAND",
        "start the scheduler by this command, one process per worker; {address} in it becomes the "
        'HOST:PORT to listen on, or the process prints "listening on HOST:PORT"',
    ),
    Option(
        "--revision",
        "REVISION",
        f"the SI revision to speak, by date or alias (default: {DEFAULT_REVISION}, or what the "
        "named target speaks)",
    ),
    Option("--time-scale", "FACTOR", "multiply every deadline, for slow schedulers (default: 1.0)"),
    Option(
        "--placeholder-timeout",
        "SECONDS",
        "how long the scheduler lets a gang wait for its placeholders; "
        f'"{FROM_APPLICATION}" where the execution timeout of an application says it',
    ),
    Option(
        "--waiting-timeout",
        "SECONDS",
        "how long an application with nothing left is waiting before it is completed",
    ),
    Option(
        "--connection-loss-timeout",
        "SECONDS",
        "how long an RM that lost its connection is kept before it is stopped",
    ),
    Option(
        "--real-clock",
        "",
        "run the embedded reference by the clock on the wall, not by one the kit moves on",
    ),
    Option("--results", "DIR", f"where the results go (default: {RESULTS})", of_the_target=False),
    Option(
        "--disruptive",
        "",
        "run tests that may leave the scheduler unusable also where the kit cannot start it again",
        of_the_target=False,
    ),
    Option(
        "--explore",
        "",
        "make a few arbitrary histories also with a scheduler that is not the embedded reference "
        "(more of them: siconform explore)",
        of_the_target=False,
    ),
    Option(
        "--baseline",
        "FILE",
        "known deviations (default: those recorded with the named target)",
        of_the_target=False,
    ),
)


class BadOption(Exception):  # a sentence for the user
    """A value nothing can be done with; the message says which and what would do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user asked for, checked."""

    revision: Revision
    revision_given: bool  # not the default of the kit or of the target
    address: str  # of a target that runs already, or ""
    command: str  # that starts one, or ""
    named: NamedTarget | None
    time_scale: float
    timers: Timers  # as far as the user told them
    real_clock: bool  # also for the embedded reference
    results: Path
    disruptive: bool
    explore: bool
    baseline: Baseline

    @property
    def restartable(self) -> bool:
        """Whether the kit starts the target and so can start it again."""
        return not self.address

    @property
    def of_the_kit(self) -> bool:
        """Whether the target is the embedded reference."""
        return not (self.address or self.command or self.named)


def add_options(parser: pytest.Parser) -> None:
    """Tell pytest the options of the kit."""
    group = parser.getgroup("si conformance", "SI conformance")
    for option in OPTIONS:
        if option.metavar:
            group.addoption(option.flag, metavar=option.metavar, default=None, help=option.help)
        else:
            group.addoption(option.flag, action="store_true", default=False, help=option.help)


def read_settings(config: pytest.Config) -> Settings:
    """The options of this run; BadOption with one sentence for the first value that is wrong."""
    return settings_from(config.getoption)


def settings_from(get: Callable[[str], Any]) -> Settings:
    """The same from wherever ``get`` has the value of a flag, None where it was not given."""
    target, command = get("--target"), get("--target-command")
    if target and command:
        raise BadOption("--target and --target-command are two ways to name one target: give one")
    named = None
    if target and not is_address(target):
        named = _named(target)
    if command is not None and not command.strip():
        raise BadOption("--target-command is empty")
    revision = _revision(get("--revision"), named)
    return Settings(
        revision=revision,
        revision_given=get("--revision") is not None,
        address=target if target and named is None else "",
        command=command or "",
        named=named,
        time_scale=_time_scale(get("--time-scale")),
        timers=_timers(get),
        real_clock=bool(get("--real-clock")),
        results=Path(get("--results") or RESULTS).absolute(),
        disruptive=bool(get("--disruptive")),
        explore=bool(get("--explore")),
        baseline=_baseline(get("--baseline"), named, revision),
    )


def starts_on_virtual_time(config: pytest.Config) -> bool:
    """Whether the target of this run is one the kit starts with a clock it can move on."""
    get: Callable[[str], Any] = config.getoption
    return not (get("--target") or get("--target-command") or get("--real-clock"))


def _named(target: str) -> NamedTarget:
    try:
        return find_named(target)
    except TargetUnavailable as error:
        raise BadOption(str(error)) from None


def _revision(name: str | None, named: NamedTarget | None) -> Revision:
    if name is None:
        return named.revision if named is not None else DEFAULT_REVISION
    try:
        return find_revision(name)
    except LookupError as error:
        raise BadOption(str(error)) from None


def _time_scale(text: str | None) -> float:
    return _number_above_zero("--time-scale", text or "1.0")


def _timers(get: Callable[[str], Any]) -> Timers:
    placeholder = get("--placeholder-timeout")
    from_application = placeholder == FROM_APPLICATION
    return Timers(
        None if from_application else _seconds("--placeholder-timeout", placeholder),
        from_application,
        _seconds("--waiting-timeout", get("--waiting-timeout")),
        _seconds("--connection-loss-timeout", get("--connection-loss-timeout")),
    )


def _seconds(flag: str, text: str | None) -> float | None:
    return None if text is None else _number_above_zero(flag, text)


def _number_above_zero(flag: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise BadOption(f'{flag} "{text}" is no number above 0')
    return number


def _baseline(file: str | None, named: NamedTarget | None, revision: Revision) -> Baseline:
    recorded = named.baselines.get(revision.name) if named is not None else None
    path = Path(file) if file else recorded
    if path is None:
        return Baseline()
    try:
        return read_baseline(path).in_revision(revision.name)
    except BaselineError as error:
        raise BadOption(str(error)) from None
