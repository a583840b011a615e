"""The command the kit was started by, in the words it was started with, and what to run next."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RESULTS: Final = "build/conformance"
SELECTED: Final = "build/conformance-selected"
"""Where the results of a part of the suite go, so that those of a whole run stay."""

_A_TEST: Final = re.compile(r"(.*/)?test_\w+\.py(::.*)?")
_TAKES_A_TEST: Final = frozenset({"--deselect", "--ignore", "--ignore-glob"})
_SELECTS: Final = ("-k", "-m", "--deselect", "--lf", "--last-failed", "--sw", "--stepwise")
_RESULTS: Final = "--results"
_DROPPED_WITH_VALUE: Final = frozenset(
    {"-k", "-m", "-n", "--numprocesses", "--dist", "--tx", "--maxprocesses", "--maxfail"}
    | {"--junitxml", "--junit-xml", "--alluredir", *_TAKES_A_TEST}
)
_DROPPED: Final = frozenset(
    {"-x", "--exitfirst", "--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first"}
    | {"--sw", "--stepwise", "--sw-skip", "--stepwise-skip", "-v", "-vv", "-q", "-qq"}
)
_NOX: Final = "NOX_CURRENT_SESSION"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """How the kit was started (``siconform run``), and every option after that as it was given."""

    started: tuple[str, ...]
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return shlex.join((*self.started, *self.options))

    def again(self, identifier: str) -> str:
        """The command that judges one requirement again, with results of its own."""
        kept = (*_without_selection(self.options), "-k", identifier)
        return shlex.join((*self.started, *kept))

    def with_options(self, *options: str) -> "CommandLine":
        """The command that starts the kit with other options."""
        return CommandLine(self.started, options)


def started_as(command: str, words: Sequence[str] = ()) -> tuple[str, ...]:
    """The words in front of the options: nox, ``siconform`` or ``python -m siconform``.

    ``words`` are those of the process, its arguments left out.
    """
    if command == "run" and _NOX in os.environ:
        return ("nox", "-s", "conformance", "--")
    return (*_program(words[0] if words else sys.argv[0]), command)


def value_of(options: Sequence[str], flag: str) -> str | None:
    """The value a flag is given among these options, None where it is not."""
    for option, following in zip(options, [*options[1:], ""], strict=False):
        if option == flag:
            return following
        if option.startswith(f"{flag}="):
            return option.partition("=")[2]
    return None


def without_option(options: Sequence[str], flag: str) -> list[str]:
    """These options without the flag and its value."""
    kept: list[str] = []
    for before, option in zip(["", *options], options, strict=False):
        if flag not in (before, option) and not option.startswith(f"{flag}="):
            kept.append(option)
    return kept


def default_results(options: Sequence[str]) -> str:
    """Where results go when nothing is said: those of a part of the suite not to the whole's."""
    return SELECTED if _selects(options) else RESULTS


def tests_apart(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options, and the tests named among them."""
    others: list[str] = []
    tests: list[str] = []
    for before, option in zip(["", *options], options, strict=False):
        named = _A_TEST.fullmatch(option) and before not in _TAKES_A_TEST
        (tests if named else others).append(option)
    return others, tests


def _selects(options: Sequence[str]) -> bool:
    given = any(
        option == flag
        or option.startswith(f"{flag}=")
        or (len(flag) == len("-k") and option.startswith(flag) and not option.startswith("--"))
        for option in options
        for flag in _SELECTS
    )
    return given or bool(tests_apart(options)[1])


def _without_selection(options: Sequence[str]) -> Iterator[str]:
    words = iter(tests_apart(options)[0])
    for word in words:
        flag, is_pair, value = word.partition("=")
        if (
            word in _DROPPED
            or re.fullmatch(r"-[kmn].+", word)
            or (is_pair and flag in _DROPPED_WITH_VALUE)
        ):
            continue
        if word in _DROPPED_WITH_VALUE:
            next(words, None)
        elif flag == _RESULTS:
            yield _RESULTS
            yield _beside(value if is_pair else next(words, ""))
        else:
            yield word


def _beside(results: str) -> str:
    return f"{results.rstrip('/')}-again"


def _program(path: str) -> tuple[str, ...]:
    file = Path(path)
    if file.name in ("__main__.py", "-m"):
        module = "pytest" if file.parent.name == "pytest" else "siconform"
        return (_shortest(sys.executable, "python", "python3"), "-m", module)
    return (_shortest(path, file.name),)


def _shortest(path: str, *names: str) -> str:
    """What finds the same program: its name, its place from here, or all of its path."""
    for name in names:
        found = shutil.which(name)
        if found and Path(found).absolute() == Path(path).absolute():
            return name
    whole = Path(path)
    if whole.is_absolute() and whole.is_relative_to(Path.cwd()):
        return str(whole.relative_to(Path.cwd()))
    return path
