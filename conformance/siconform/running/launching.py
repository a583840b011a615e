"""From ``siconform run`` to pytest: the suite, the plugin, nothing of the user's own project."""

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

from siconform.filters import names_an_area
from siconform.policy import ExitCode
from siconform.running.command_line import (
    RUN,
    default_results,
    requirements_named,
    tests_apart,
    value_of,
    without_option,
)
from siconform.running.fork_servers import REFERENCE, WORKERS, fork_servers
from siconform.running.index import suite_folder
from siconform.running.live.terminal import OF_PYTEST, Colour
from siconform.running.option_list import COLOR, RESULTS, STARTED_AS
from siconform.running.option_values import BadOption
from siconform.running.results_dir import ResultsDir
from siconform.running.target_file_options import with_target_file
from siconform.targets.attached import is_address

_PLUGINS: Final = ("siconform.suite_plugin", "xdist", "timeout")
_ALLURE: Final = "allure_pytest"
_OFF: Final = ("terminalprogress", "unraisableexception")  # what nobody reads, and costs seconds
_WORKERS: Final = 5  # more than a small machine has cores: half of the time tests wait
_WAITING_WORKERS: Final = 20  # a named target is light, and tests wait for its timers mostly
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
    """A test file that is named and not there."""


def run(options: Sequence[str]) -> int:
    """Run the suite in this process with these pytest options; the exit code of the run.

    NoSuchTest when they name a test file that is not there, BadOption where a value will not do.
    """
    given, options = options, _with_target_file(options)
    _refuse(options)
    if not set(_SHOWS) & set(options):
        _forget_older(options)
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
    if code == pytest.ExitCode.INTERNAL_ERROR:
        sys.stderr.write("siconform: the kit itself broke: see above\n")
        return ExitCode.KIT_ERROR
    return code


def collect_once() -> None:
    """Collect the suite as workers will: what is forked from this process has it in memory."""
    pytest.main([*_fixed(), "-p", "no:cacheprovider", "--collect-only", "-q", str(suite_folder())])


def preloaded(options: Sequence[str]) -> list[str]:
    """What fork servers are worth their start for: processes that are started several times."""
    words = [*options, *_workers(options), ""]
    if not any(_IN_WORKERS.match(" ".join(pair)) for pair in pairwise(words)):
        return []
    is_named = any(value_of(options, flag) for flag in ("--target", "--target-command"))
    return [WORKERS] if is_named else [WORKERS, REFERENCE]


def _refuse(options: Sequence[str]) -> None:
    """What would take the suite from its place, or judge tests that do not run."""
    for flag in (option.partition("=")[0] for option in options):
        if flag in _REFUSED:
            raise BadOption(
                f"{flag} is not for siconform run, which has its own suite and runs it; for tests "
                "of your own: pytest -p siconform.plugin"
            )


def _with_target_file(options: Sequence[str]) -> list[str]:
    """The options with what the target file adds; none is read where nothing is judged."""
    if set(_SHOWS) & set(options):
        return list(options)
    try:
        return with_target_file(options)
    except LookupError as error:
        raise BadOption(str(error)) from None


def _pytest(words: Sequence[str]) -> int:
    """What pytest ends with. To show where it was interrupted it may break over a frame."""
    try:
        return int(pytest.main(list(words)))
    except Exception as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            return ExitCode.INTERRUPTED
        raise


def arguments(options: Sequence[str], given: Sequence[str] | None = None) -> list[str]:
    """The command line for pytest; ``given`` is what its user gave, where that is not all."""
    suite = suite_folder()
    fixed = _fixed()
    if any(option.startswith("--alluredir") for option in options):
        fixed += ["-p", _ALLURE]
    started = [RUN, list(options if given is None else given)]
    fixed.append(f"{STARTED_AS}={json.dumps(started)}")
    results = Path(value_of(options, "--results") or RESULTS).absolute()
    fixed += ["-o", f"cache_dir={results / 'pytest-cache'}"]  # for --last-failed and the like
    chosen, tests = _tests_apart(_coloured(options), suite)
    return [*fixed, *_workers(options), *chosen, *(tests or [str(suite)])]


def _fixed() -> list[str]:
    """What does not depend on options: the suite's own configuration, and the plugins."""
    suite = suite_folder()
    fixed = ["-c", str(suite.parent / "suite.ini"), "--rootdir", str(suite.parent)]
    for plugin in _PLUGINS:
        fixed += ["-p", plugin]
    for plugin in _OFF:
        fixed += ["-p", f"no:{plugin}"]
    return fixed


def _coloured(options: Sequence[str]) -> list[str]:
    """With --color as pytest has it; BadOption where it has no such value."""
    given = value_of(options, COLOR)
    if given is None:
        return list(options)
    if given not in {*OF_PYTEST, *OF_PYTEST.values()}:
        raise BadOption(f'{COLOR} "{given}" is none of {", ".join(Colour)}')
    words = {flag.value: word for flag, word in OF_PYTEST.items()}
    return [*without_option(options, COLOR), COLOR, words.get(given, given)]


class _Sentences:
    """Standard error, with pytest's usage errors cut down to the sentence that matters."""

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
    """Options, and the tests named among them, as summaries name them (suite/test_nodes.py)."""
    chosen, tests = tests_apart(options)
    located = [_located(test, suite.parent) for test in tests]
    return list(_ignoring(chosen, suite.parent)), located


def _ignoring(options: Sequence[str], suite_is_in: Path) -> Iterator[str]:
    """The options, and what they ignore by its place: pytest ignores what is not there."""
    words = iter(options)
    for word in words:
        flag, is_pair, value = word.partition("=")
        if flag not in _IGNORES:
            yield word
            continue
        named = value if is_pair else next(words, "")
        if flag == _IGNORES[0]:
            yield f"{flag}={_ignored(named, suite_is_in)}"
        elif named and any(suite_is_in.glob(named)):
            yield f"{flag}={suite_is_in / named}"
        else:
            raise NoSuchTest(f'{flag} "{named}" fits no file; tests are in suite/test_nodes.py')


def _ignored(named: str, suite_is_in: Path) -> Path:
    for folder in (suite_is_in, Path.cwd()):
        if named and (folder / named).exists():
            return folder / named
    raise NoSuchTest(f'there is no "{named}" to ignore; tests are in suite/test_nodes.py')


def _forget_older(options: Sequence[str]) -> None:
    """Whatever is wrong with the options, no older verdict is left to be read as this run's."""
    given = value_of(options, "--results")
    folder = default_results(options) if given is None else given
    if folder.strip():
        ResultsDir(Path(folder).absolute()).forget()


def _located(test: str, suite_is_in: Path) -> str:
    """The test's file, looked for where summaries place it, then in the working directory."""
    file, colons, rest = test.partition("::")
    for folder in (suite_is_in, Path.cwd()):
        if (folder / file).is_file():
            return f"{folder / file}{colons}{rest}"
    raise NoSuchTest(f'there is no file "{file}"; tests are named as in suite/test_nodes.py::test_')


def _workers(options: Sequence[str]) -> list[str]:
    """Several where the kit starts the target and there is enough to do; the user may say so."""
    if any(re.match(r"-n|--numprocesses|--dist|--tx", o) or o in _ALONE for o in options):
        return []
    target = value_of(options, "--target") or ""
    named = requirements_named(options)
    one_test = _AN_ID.fullmatch(value_of(options, "-k") or "") is not None
    one_requirement = len(named) == 1 and not names_an_area(named[0])
    if is_address(target) or one_test or one_requirement:
        return []
    return ["-n", str(_WAITING_WORKERS if target else _WORKERS), "--dist", "worksteal"]
