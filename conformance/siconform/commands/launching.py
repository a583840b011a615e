"""Starts pytest for ``siconform run``, isolated from the configuration of the user's project."""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TextIO, cast

import pytest
from siwire import note_on

from siconform import shutdown
from siconform.catalogue import Side
from siconform.config.command_line import (
    RUN,
    requirements_named,
    side_of,
    tests_apart,
    value_of,
    without_option,
)
from siconform.config.last_failed import NothingFailed, with_last_failed
from siconform.config.option_list import BY_FLAG, COLOR, LISTEN, RESULTS, SIDE, STARTED_AS
from siconform.config.option_values import BadOption
from siconform.config.target_file_options import with_target_file
from siconform.filters import names_an_area
from siconform.policy import ExitCode
from siconform.running.fork_servers import REFERENCE, WORKERS, WORKERS_FOR_RMS, fork_servers
from siconform.running.index import suite_folder
from siconform.targets.address import is_address

_PLUGINS: Final = ("siconform.suite_plugin", "xdist", "timeout")
_ALLURE: Final = "allure_pytest"
_OFF: Final = ("terminalprogress", "tmpdir", "unraisableexception")  # unused, and slow
_EMBEDDED: Final = 8  # workers with the embedded reference: tests wait a third of the time
_COMMAND: Final = 5  # with a command, whose processes may be large
_NAMED: Final = 45  # with a named target: tests mostly wait for its timers
_DEAL: Final = ("--dist", "worksteal")  # running/worker_order.py orders the tests for it
_IN_WORKERS: Final = re.compile(r"(?:-n|--numprocesses)[ =]?(?!0\b|1\b)\w")
_FOREIGN: Final = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
_SHOWS: Final = ("--collect-only", "--co", "--help", "-h", "--version", "--markers", "--fixtures")
_ALONE: Final = ("--pdb", *_SHOWS)
_AN_ID: Final = re.compile(r"SI-[A-Z]+-\d{3}", re.IGNORECASE)


_IGNORES: Final = ("--ignore", "--ignore-glob")
_REFUSED: Final = frozenset(
    {"-c", "--config-file", "--rootdir", "--confcutdir", "--noconftest", "--pyargs"}
    | {"--setup-only", "--setup-plan"}
)


class NoSuchTest(LookupError):  # a sentence for the user
    """A given test file does not exist."""


def run(options: Sequence[str]) -> int:
    """Run the suite in this process with these pytest options and return the exit code.

    Raises NoSuchTest if a given test file does not exist, BadOption if a value is invalid,
    NothingToRepeat if there is nothing to repeat.
    """
    given, options = options, _with_target_file(options)
    _refuse(options)
    if not set(_SHOWS) & set(options):
        try:
            options = with_last_failed(options)
        except NothingFailed as success:
            sys.stdout.write(f"{success}\n")
            return ExitCode.OK
    if note := note_on(value_of(options, "--revision") or ""):
        sys.stderr.write(f"siconform: {note}\n")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in _FOREIGN:
        os.environ.pop(name, None)
    with (
        fork_servers(*preloaded(options)),
        contextlib.redirect_stderr(cast("TextIO", _Sentences(sys.stderr))),
    ):
        code = _pytest(arguments(options, given))
    if code == pytest.ExitCode.INTERNAL_ERROR and not shutdown.has_begun():
        sys.stderr.write("siconform: internal error, see above\n")
        return ExitCode.KIT_ERROR
    return code


def collect_once(side: Side = Side.SCHEDULER) -> None:
    """Collect the suite as workers will, so that forked workers have it in memory."""
    words = ["-p", "no:cacheprovider", "--collect-only", "-q", str(suite_folder(side))]
    pytest.main([*_fixed(), f"{SIDE}={side}", *words])


def collect_once_for_rms() -> None:
    """Collect the suite for RMs in the same way."""
    collect_once(Side.RM)


def preloaded(options: Sequence[str]) -> list[str]:
    """Return what fork servers should preload: processes that are started several times."""
    words = [*options, *_workers(options), ""]
    if not any(_IN_WORKERS.match(" ".join(pair)) for pair in pairwise(words)):
        return []
    if side_of(options) is Side.RM:
        return [WORKERS_FOR_RMS]
    is_named = any(value_of(options, flag) for flag in ("--target", "--target-command"))
    return [WORKERS] if is_named else [WORKERS, REFERENCE]


def _refuse(options: Sequence[str]) -> None:
    """Refuse options that relocate the suite or prevent its tests from running."""
    for flag in (option.partition("=")[0] for option in options):
        if flag in _REFUSED:
            raise BadOption(
                f"siconform run does not accept {flag}; for your own tests, use "
                "pytest -p siconform.plugin"
            )
    several = any(_IN_WORKERS.match(" ".join(pair)) for pair in pairwise([*options, ""]))
    if several and value_of(options, LISTEN) is not None:
        raise BadOption(f"{LISTEN} serves one RM, so it needs one worker: omit -n")


def _with_target_file(options: Sequence[str]) -> list[str]:
    """Add the options of the target file, unless nothing is tested."""
    if set(_SHOWS) & set(options):
        return list(options)
    try:
        return with_target_file(options)
    except LookupError as error:
        raise BadOption(str(error)) from None


def _pytest(words: Sequence[str]) -> int:
    """Run pytest; it may raise while showing where it was interrupted."""
    try:
        return int(pytest.main(list(words)))
    except Exception as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            return ExitCode.INTERRUPTED
        raise


def arguments(options: Sequence[str], given: Sequence[str] | None = None) -> list[str]:
    """Return the command line for pytest; ``given`` is what the user gave, if different."""
    suite = suite_folder(side_of(options))
    fixed = _fixed()
    if any(option.startswith("--alluredir") for option in options):
        fixed += ["-p", _ALLURE]
    started = [RUN, list(options if given is None else given)]
    fixed.append(f"{STARTED_AS}={json.dumps(started)}")
    results = Path(value_of(options, "--results") or RESULTS).absolute()
    fixed += ["-o", f"cache_dir={results / 'pytest-cache'}"]  # for --stepwise, --failed-first
    chosen, tests = _tests_apart(_coloured(options), suite)
    return [*fixed, *_workers(options), *(tests or [str(suite)]), *chosen]


def _fixed() -> list[str]:
    """Return the fixed arguments: the suite's configuration and the plugins."""
    suite = suite_folder()
    fixed = ["-c", str(suite.parent / "suite.ini"), "--rootdir", str(suite.parent)]
    for plugin in _PLUGINS:
        fixed += ["-p", plugin]
    for plugin in _OFF:
        fixed += ["-p", f"no:{plugin}"]
    return fixed


def _coloured(options: Sequence[str]) -> list[str]:
    """Translate --color for pytest; raise BadOption for an invalid value."""
    given = value_of(options, COLOR)
    if given is None:
        return list(options)
    return [*without_option(options, COLOR), COLOR, BY_FLAG[COLOR].read(given)]


class _Sentences:
    """Standard error that shortens pytest's usage errors to one sentence."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        wrong = re.search(r"ERROR: usage: .*?error: ([^\n]*)", text, re.DOTALL)
        if wrong:
            sent = re.sub(r"unrecognized arguments: (\S+).*", r"No such option '\1'", wrong[1])
            text = f"siconform: {sent} (see siconform run --help)"
        if text.startswith("ERROR: ") or wrong:
            text = text.replace("ERROR: ", "siconform: ", 1).rstrip() + "\n"
        return self._stream.write(text)


def _tests_apart(options: Sequence[str], suite: Path) -> tuple[list[str], list[str]]:
    """Separate options from test names, which are as in summaries (suite/test_nodes.py)."""
    chosen, tests = tests_apart(options)
    located = [_located(test, suite.parent) for test in tests]
    return list(_ignoring(chosen, suite.parent)), located


def _ignoring(options: Sequence[str], suite_parent: Path) -> Iterator[str]:
    """Yield the options with existing paths to ignore: pytest accepts missing ones silently."""
    words = iter(options)
    for word in words:
        flag, is_pair, value = word.partition("=")
        if flag not in _IGNORES:
            yield word
            continue
        named = value if is_pair else next(words, "")
        if flag == _IGNORES[0]:
            yield f"{flag}={_ignored(named, suite_parent)}"
        elif named and any(suite_parent.glob(named)):
            yield f"{flag}={suite_parent / named}"
        else:
            raise NoSuchTest(
                f'{flag} "{named}" matches no file; give a path such as suite/test_nodes.py'
            )


def _ignored(named: str, suite_parent: Path) -> Path:
    for folder in (suite_parent, Path.cwd()):
        if named and (folder / named).exists():
            return folder / named
    raise NoSuchTest(f'no file "{named}" to ignore; give a path such as suite/test_nodes.py')


def _located(test: str, suite_parent: Path) -> str:
    """Locate the test's file: as named in summaries, else in the working directory."""
    file, colons, rest = test.partition("::")
    for folder in (suite_parent, Path.cwd()):
        if (folder / file).is_file():
            return f"{folder / file}{colons}{rest}"
    raise NoSuchTest(f'no test file "{file}"; name tests as in suite/test_nodes.py::test_')


def _workers(options: Sequence[str]) -> list[str]:
    """Return the options for workers: several if the kit starts the target and tests are many."""
    if any(re.match(r"--dist|--tx|-d$", o) or o in _ALONE for o in options):
        return []
    if any(re.match(r"-n|--numprocesses", o) for o in options):
        return list(_DEAL)
    target = value_of(options, "--target") or ""
    if value_of(options, LISTEN) is not None:
        return []
    named = requirements_named(options)
    one_test = _AN_ID.fullmatch(value_of(options, "-k") or "") is not None
    one_requirement = len(named) == 1 and not names_an_area(named[0])
    if is_address(target) or one_test or one_requirement:
        return []
    has_command = any(value_of(options, f"--{side}-command") for side in ("target", "rm"))
    count = _NAMED if target else _COMMAND if has_command else _EMBEDDED
    return ["-n", str(count), *_DEAL]
