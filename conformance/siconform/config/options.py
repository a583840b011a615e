"""The checked options of a run, for pytest, ``siconform run`` and ``nox -s conformance``."""

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from siwire import DEFAULT_REVISION, Revision

from siconform.baseline import Baseline, BaselineError, read_baseline
from siconform.catalogue import Level, Side
from siconform.catalogue.windows import in_words
from siconform.config.access_options import read_access, without_secrets
from siconform.config.command_line import RUN, CommandLine, default_results
from siconform.config.last_failed import LastFailed, read_last_failed
from siconform.config.option_list import (
    BY_FLAG,
    EDITED,
    EXPLORING,
    FAIL_ON,
    FAILED_IN,
    FAILING,
    FOR_SCHEDULERS,
    LISTEN,
    MEANT,
    OPTIONS,
    RESULTS,
    RM,
    RM_COMMAND,
    RM_DRIVER,
    RMS,
    SELECTION,
    SIDE,
    STARTED_AS,
    TARGETS,
    WAIT,
)
from siconform.config.option_values import NONE, BadOption
from siconform.filters import FilterError, Filters, find_meant, names_an_area, read_filters
from siconform.protocol.timers import Timers
from siconform.results import EDITED_MARK
from siconform.targets.named import NamedTarget
from siconform.targets.terms import LONGEST_TIMER, PLAIN, Terms, read_config
from siconform.transport.access import Access

_SUITE: Final = "siconform.suite_plugin"  # its presence selects plain names
_PREFIX: Final = "--si-"
_A_FLAG: Final = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
_FLAGS: Final = frozenset(option.flag for option in OPTIONS if not option.of_pytest)


@dataclass(frozen=True, slots=True)
class About:
    """The user's description of the scheduler, for results; "" if not given."""

    name: str = ""
    version: str = ""
    contact: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """The checked options of a run."""

    revision: Revision
    revision_given: bool  # not a default
    address: str  # of a running target, or where one is waited for (--listen), or ""
    command: str  # that starts the target, or ""
    named: NamedTarget | None
    time_scale: float
    timers: Timers  # as far as given by the user
    terms: Terms  # how to register, and missing features
    target_file: Path | None  # with defaults of the options
    folder: Path | None  # working directory of the command; None: current
    wait: float | None  # seconds until the address must answer
    about: About
    real_clock: bool  # instead of virtual time, for the embedded reference
    start_timeout: float | None  # seconds, if given
    results: Path
    disruptive: bool
    explore: float  # seconds of randomised testing; 0: disabled
    compare: bool  # failed tests with the reference
    fail_on: Level  # the lowest level that decides the verdict
    failing: float | None  # stop after this many seconds of failing tests
    baseline: Baseline
    command_line: CommandLine  # as given
    filters: Filters = field(default_factory=Filters)  # the selected requirements
    chosen: frozenset[str] | None = None  # their ids; None for all of the revision
    last_failed: LastFailed | None = None  # with --last-failed, which selects among them
    side: Side = Side.SCHEDULER  # that is tested
    rm_driver: str = ""  # address of the driver of an RM that is waited for

    @property
    def implemented(self) -> str:
        """The revision as named in results, marked if the specification is edited."""
        return f"{self.revision}{EDITED_MARK * bool(self.terms.edited)}"

    @property
    def restartable(self) -> bool:
        """Whether the kit starts the target and can restart it."""
        return not self.address

    @property
    def profile(self) -> str:
        """The name of the profile, if the run covers exactly this profile, or ""."""
        chosen = self.filters.profile
        whole = self.filters.only_profile and not self.command_line.test_selection
        return chosen.name if chosen is not None and whole else ""

    @property
    def selected_by(self) -> str:
        """What the options select, as given, or ""."""
        return ", ".join(filter(None, (self.filters.words, self.command_line.test_selection)))

    @property
    def partial(self) -> str:
        """The same for a partial run, or "" for the whole revision or a whole profile."""
        return "" if self.profile else self.selected_by

    @property
    def failed_tests(self) -> frozenset[str]:
        """The tests that --last-failed runs, in addition to those of the requirements."""
        failed = self.last_failed.failed if self.last_failed is not None else {}
        chosen = self.chosen or ()
        return frozenset(test for one, tests in failed.items() if one in chosen for test in tests)

    @property
    def of_the_kit(self) -> bool:
        """Whether the target is the embedded reference, or the embedded RM."""
        return not (self.address or self.command or self.named)


def add_options(parser: pytest.Parser, name: Callable[[str], str] = str) -> None:
    """Add the options of the kit to pytest; ``name`` returns the name of each."""
    group = parser.getgroup("si conformance", "SI conformance")
    for option in OPTIONS:
        if option.of_pytest:
            continue
        kind: dict[str, Any] = {"action": "store_true", "default": False}
        if option.metavar:
            action = "append" if option.several else "store"
            kind = {"action": action, "metavar": option.metavar, "default": None}
        group.addoption(name(option.flag), help=option.help, **kind)
    group.addoption(name(STARTED_AS), default=None, help=argparse.SUPPRESS)
    for flag in (EDITED, FAILED_IN, FAILING, MEANT):
        group.addoption(name(flag), default=None, help=argparse.SUPPRESS)


def read_settings(config: pytest.Config) -> Settings:
    """Read the options of this run; raise BadOption for the first invalid value."""
    return settings_from(getter(config))


def results_given(config: pytest.Config) -> Path:
    """Return the results folder of this run; raise BadOption if an empty one is given.

    Workers get it by the same option.
    """
    given: str | None = config.getoption("--results")
    if given is None:
        given = default_results([str(word) for word in config.invocation_params.args])
    BY_FLAG["--results"].refuse_empty(given)
    return Path(given).absolute()


def started(config: pytest.Config) -> CommandLine:
    """Return the command line of this run and store it in the options, for workers."""
    get = getter(config)
    if get(STARTED_AS) is None:
        options = [str(word) for word in config.invocation_params.args]
        words = ["python", "-m", "pytest"], options
        assign(config, STARTED_AS, json.dumps(words))
    return _command_line(get(STARTED_AS))


def settings_from(get: Callable[[str], Any]) -> Settings:
    """Check the options; ``get`` returns the value of a flag, or None."""
    for option in OPTIONS:
        value = get(option.flag) if option.metavar and not option.of_pytest else None
        for one in value if isinstance(value, (list, tuple)) else [value]:
            option.refuse_empty(one)
    side = _side(get)

    def read(flag: str) -> Any:
        return BY_FLAG[flag].read(get(flag))

    target = read("--target")
    named = target if isinstance(target, NamedTarget) else read(RM)
    of_target = named.revision if named is not None else DEFAULT_REVISION
    revision: Revision = read("--revision") or of_target
    filters = _filters(get, revision)
    last_failed = read_last_failed(get(FAILED_IN))
    explore = read("--explore")
    return Settings(
        revision=revision,
        revision_given=get("--revision") is not None,
        address=target if isinstance(target, str) else read(LISTEN) or "",
        command=get("--target-command") or get(RM_COMMAND) or "",
        named=named,
        time_scale=read("--time-scale") or 1.0,
        timers=_timers(read),
        terms=_terms(get, read, named),
        target_file=_target_file(get("--target-file")),
        folder=read("--target-folder"),
        wait=read(WAIT),
        about=About(
            get("--implementation") or "",
            get("--implementation-version") or "",
            get("--contact") or "",
        ),
        real_clock=bool(get("--real-clock")),
        start_timeout=read("--start-timeout"),
        results=Path(get("--results") or RESULTS).absolute(),
        disruptive=bool(get("--disruptive")),
        explore=EXPLORING if explore is None else explore,
        compare=not get("--no-reference"),
        fail_on=Level(read(FAIL_ON) or Level.MUST),
        failing=None if get(FAILING) is None else float(get(FAILING)),
        baseline=_baseline(get("--baseline"), named, revision),
        command_line=_command_line(get(STARTED_AS)),
        filters=filters,
        chosen=_chosen(filters, revision, last_failed),
        last_failed=last_failed,
        side=side,
        rm_driver=read(RM_DRIVER) or "",
    )


def _side(get: Callable[[str], Any]) -> Side:
    """Return the tested side; raise BadOption for options that do not go together."""
    given = [flag for flag in TARGETS if get(flag)]
    if len(given) > 1:
        raise BadOption(f"{given[0]} and {given[1]} are mutually exclusive: give one")
    stated = BY_FLAG[SIDE].read(get(SIDE))
    implied = {Side.RM if flag in RMS else Side.SCHEDULER for flag in given}
    side = Side(stated or next(iter(implied), Side.SCHEDULER))
    if side not in (implied or {side}):
        raise BadOption(f"{given[0]} does not name a {side.noun}: omit it, or {SIDE} {side}")
    if get(RM_DRIVER) and not get(LISTEN):
        raise BadOption(
            f"{RM_DRIVER} needs {LISTEN}: the driver of an RM that the kit starts listens on the "
            f"address that replaces {{driver}} in {RM_COMMAND}"
        )
    if get(WAIT) is not None and not given:
        raise BadOption(f"{WAIT} waits for an address: give --target or {LISTEN}, or omit it")
    for flag in FOR_SCHEDULERS if side is Side.RM else ():
        if get(flag):
            raise BadOption(f"{flag} does not apply to resource managers: omit it")
    return side


def starts_on_virtual_time(config: pytest.Config) -> bool:
    """Return whether the target of this run uses virtual time."""
    get = getter(config)
    return _side(get) is Side.SCHEDULER and not (
        get("--target") or get("--target-command") or get("--real-clock")
    )


def _command_line(given: str | None) -> CommandLine:
    if given is None:
        return CommandLine(RUN)
    words, options = json.loads(given)
    return CommandLine(tuple(words), tuple(without_secrets(options)))


def _filters(get: Callable[[str], Any], revision: Revision) -> Filters:
    words: list[str] = get(MEANT) or []
    try:
        found = read_filters(words, {o.flag: get(o.flag) or [] for o in SELECTION}, revision.name)
    except FilterError as error:
        raise BadOption(str(error)) from None
    for word in words:
        if not names_an_area(word) and revision.name not in find_meant(word).revisions:
            meant = find_meant(word)
            raise BadOption(
                f"{meant.id} is not a requirement of SI {revision} (its revisions: "
                f"{in_words(meant.revisions)}); give --revision {max(meant.revisions)}"
            )
    return found


def _chosen(
    filters: Filters, revision: Revision, last_failed: LastFailed | None
) -> frozenset[str] | None:
    if last_failed is not None:
        return filters.chosen(revision.name).intersection(last_failed.failed)
    return filters.chosen(revision.name) if filters.selects else None


def _timers(read: Callable[[str], Any]) -> Timers:
    own, from_application = read("--placeholder-timeout") or (None, False)
    return Timers(
        own,
        from_application,
        read("--waiting-timeout"),
        read("--connection-loss-timeout"),
    )


def _terms(
    get: Callable[[str], Any], read: Callable[[str], Any], named: NamedTarget | None
) -> Terms:
    known = named.terms if named is not None else PLAIN
    try:
        config = get("--config")
        config = known.config if config is None else read_config(config, Path())
    except LookupError as error:
        raise BadOption(str(error)) from None
    version, command = get("--rm-version"), get("--target-command")
    return Terms(
        known.version if version is None else version,
        config,
        known.proposes_timers and not get("--no-proposals"),
        known.without.union(read("--without") or ()),
        read("--longest-timer") or LONGEST_TIMER,
        revision_given=bool(get("--revision") or named) or not (get("--target") or command),
        edited=_edited(get(EDITED)),
        access=_access(get),
    )


def _access(get: Callable[[str], Any]) -> Access:
    try:
        access = read_access(get)
    except LookupError as error:
        raise BadOption(str(error)) from None
    if access.tls is not None and not (get("--target") or get("--target-command")):
        raise BadOption(
            "the embedded reference does not support TLS: omit the TLS options, or give --target"
        )
    return access


def _target_file(given: str | None) -> Path | None:
    return None if given in (None, NONE) else Path(given or "").absolute()


def _edited(file: str | None) -> bytes:
    try:
        return Path(file).read_bytes() if file else b""
    except OSError as error:
        raise BadOption(f"{EDITED} {file} cannot be read: {error.strerror}") from None


def _baseline(file: str | None, named: NamedTarget | None, revision: Revision) -> Baseline:
    if file == NONE:
        return Baseline()
    recorded = named.baselines.get(revision.name) if named is not None else None
    path = Path(file) if file else recorded
    if path is None:
        return Baseline()
    try:
        return read_baseline(path).in_revision(revision.name)
    except BaselineError as error:
        raise BadOption(str(error)) from None


def is_kit_suite(manager: pytest.PytestPluginManager) -> bool:
    """Return whether the kit's own suite runs, not another project."""
    return bool(manager.hasplugin(_SUITE))


def in_a_project(flag: str) -> str:
    """Return the name of the option in other projects."""
    return f"{_PREFIX}{flag.removeprefix('--')}"


def sentence_in_a_project(sentence: str) -> str:
    """Return the sentence with the names that options have in other projects."""
    return _A_FLAG.sub(lambda f: in_a_project(f[0]) if f[0] in _FLAGS else f[0], sentence)


def getter(config: pytest.Config) -> Callable[[str], Any]:
    """Return a function that gets the value of an option by its plain name."""
    if is_kit_suite(config.pluginmanager):
        return config.getoption
    return lambda flag: config.getoption(in_a_project(flag))


def assign(config: pytest.Config, flag: str, value: object) -> None:
    """Set an option, as if it had been given on the command line."""
    plain = is_kit_suite(config.pluginmanager)
    name = (flag if plain else in_a_project(flag)).removeprefix("--").replace("-", "_")
    setattr(config.option, name, value)
