"""From ``siconform run`` to pytest: the suite, the plugin, nothing of the user's own project."""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TextIO, cast

import pytest

from siconform.running.index import suite_folder
from siconform.running.options import RESULTS
from siconform.targets.attached import is_address

_PLUGINS: Final = ("siconform.plugin", "xdist", "timeout")
_ALLURE: Final = "allure_pytest"
_OFF: Final = ("terminalprogress",)
_WORKERS: Final = 4  # more than a small machine has cores: half of the time tests wait
_WAITING_WORKERS: Final = 8  # a named target is light, and tests wait for its timers mostly
_FOREIGN: Final = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
_A_TEST: Final = re.compile(r"(.*/)?test_\w+\.py(::.*)?")
_TAKES_A_TEST: Final = frozenset({"--deselect", "--ignore", "--ignore-glob"})
_ALONE: Final = ("--pdb", "--collect-only", "--co", "--help", "-h", "--version", "--markers")
_AN_ID: Final = re.compile(r"SI-[A-Z]+-\d{3}", re.IGNORECASE)


class NoSuchTest(LookupError):  # a sentence for the user
    """A test file that is named and not there."""


def run(options: Sequence[str]) -> int:
    """Run the suite in this process with these pytest options; the exit code of the run.

    NoSuchTest when they name a test file that is not there.
    """
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in _FOREIGN:
        os.environ.pop(name, None)
    signal.signal(signal.SIGTERM, _interrupt)
    with contextlib.redirect_stderr(cast("TextIO", _Sentences(sys.stderr))):
        return int(pytest.main(arguments(options)))


def arguments(options: Sequence[str]) -> list[str]:
    """The command line for pytest."""
    suite = suite_folder()
    fixed = ["-c", str(suite.parent / "suite.ini"), "--rootdir", str(suite.parent)]
    for plugin in _PLUGINS:
        fixed += ["-p", plugin]
    if any(option.startswith("--alluredir") for option in options):
        fixed += ["-p", _ALLURE]
    for plugin in _OFF:
        fixed += ["-p", f"no:{plugin}"]
    results = Path(_value(options, "--results") or RESULTS).absolute()
    fixed += ["-o", f"cache_dir={results / 'pytest-cache'}"]  # for --last-failed and the like
    chosen, tests = _tests_apart(options, suite)
    return [*fixed, *_workers(options), *chosen, *(tests or [str(suite)])]


class _Sentences:
    """Standard error, with pytest's usage errors cut down to the sentence that matters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        wrong = re.search(r"ERROR: usage: .*?error: ([^\n]*)", text, re.DOTALL)
        if wrong:
            text = f"siconform: {wrong[1]} (see siconform run --help)"
        if text.startswith("ERROR: ") or wrong:
            text = text.replace("ERROR: ", "siconform: ", 1).rstrip() + "\n"
        return self._stream.write(text)


def _tests_apart(options: Sequence[str], suite: Path) -> tuple[list[str], list[str]]:
    """Options, and the tests named among them, as summaries name them (suite/test_nodes.py)."""
    chosen, tests = [], []
    for before, option in zip(["", *options], options, strict=False):
        if _A_TEST.fullmatch(option) and before not in _TAKES_A_TEST:
            tests.append(_located(option, suite.parent))
        else:
            chosen.append(option)
    return chosen, tests


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
    target = _value(options, "--target")
    one_test = _AN_ID.fullmatch(_value(options, "-k")) is not None
    if is_address(target) or one_test:
        return []
    return ["-n", str(_WAITING_WORKERS if target else _WORKERS), "--dist", "worksteal"]


def _value(options: Sequence[str], flag: str) -> str:
    for option, following in zip(options, [*options[1:], ""], strict=False):
        if option == flag:
            return following
        if option.startswith(f"{flag}="):
            return option.partition("=")[2]
    return ""


def _interrupt(*_: object) -> None:
    """SIGTERM ends a run as Ctrl-C does: targets stopped, results written."""
    raise KeyboardInterrupt("SIGTERM")
