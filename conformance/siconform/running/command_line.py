"""The command the kit was started by, and what to run next."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from siconform.filters import FLAGS, names_requirements
from siconform.running.option_list import OPTIONS, RESULTS, SELECTED

PROGRAM: Final = "siconform"
RUN: Final = (PROGRAM, "run")

_A_TEST: Final = re.compile(r"(.*/)?test_\w+\.py(::.*)?")
_TAKES_A_TEST: Final = frozenset({"--deselect", "--ignore", "--ignore-glob"})
_SELECTS_TESTS: Final = (
    *("-k", "-m", "--deselect", "--ignore", "--ignore-glob"),
    *("--lf", "--last-failed", "--sw", "--stepwise"),
)
_RESULTS: Final = "--results"
_DROPPED_WITH_VALUE: Final = frozenset(
    {"-k", "-m", "-n", "--numprocesses", "--dist", "--tx", "--maxprocesses", "--maxfail"}
    | {"--junitxml", "--junit-xml", "--alluredir", "--durations", *_TAKES_A_TEST, *FLAGS}
)
_DROPPED: Final = frozenset(
    {"-x", "--exitfirst", "--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first"}
    | {"--sw", "--stepwise", "--sw-skip", "--stepwise-skip", "-v", "-vv", "-q", "-qq"}
)
_SWITCHES: Final = _DROPPED.union(
    (option.flag for option in OPTIONS if not option.metavar),
    ("-s", "-l", "--pdb", "--co", "--collect-only", "--no-summary"),
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """How the kit was started (``siconform run``), and every option after that as it was given."""

    started: tuple[str, ...]
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return shlex.join((*self.started, *self.options))

    @property
    def selects_tests(self) -> bool:
        """Whether the options choose among the tests, not among the requirements."""
        return _given(self.options, _SELECTS_TESTS) or bool(tests_apart(self.options)[1])

    def value_of_any(self, *flags: str) -> str | None:
        """The value of the first of these flags that is given, None where none is."""
        values = (value_of(self.options, flag) for flag in flags)
        return next((value for value in values if value is not None), None)

    def again(self, identifier: str) -> str:
        """The command that judges one requirement again, with results of its own."""
        return shlex.join((*self.started, identifier, *_without_selection(self.options)))

    def with_options(self, *options: str) -> "CommandLine":
        """The command that starts the kit with other options."""
        return CommandLine(self.started, options)

    def of_the_kit(self, *words: str) -> str:
        """Another command of the kit."""
        return shlex.join((PROGRAM, *words))


@dataclass(frozen=True, slots=True)
class ProjectCommandLine(CommandLine):
    """The same of a test run of another project, where pytest selects."""

    def again(self, identifier: str) -> str:
        """The command that runs the tests of one requirement again."""
        return shlex.join((*self.started, *_without_selection(self.options), "-k", identifier))


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


def requirements_named(options: Sequence[str]) -> list[str]:
    """The ids and areas among these options, as far as they can be told from values."""
    pairs = zip(["", *options], options, strict=False)
    return [option for before, option in pairs if _is_named(before, option)]


def _is_named(before: str, option: str) -> bool:
    return names_requirements(option) and not _takes_a_value(before)


def _takes_a_value(option: str) -> bool:
    """Whether the next word belongs to it: of an option that is not known here it may."""
    return option.startswith("-") and "=" not in option and option not in _SWITCHES


def _selects(options: Sequence[str]) -> bool:
    return (
        _given(options, (*_SELECTS_TESTS, *FLAGS))
        or bool(tests_apart(options)[1])
        or bool(requirements_named(options))
    )


def _given(options: Sequence[str], flags: Sequence[str]) -> bool:
    return any(
        option == flag
        or option.startswith(f"{flag}=")
        or (len(flag) == len("-k") and option.startswith(flag) and not option.startswith("--"))
        for option in options
        for flag in flags
    )


def _without_selection(options: Sequence[str]) -> Iterator[str]:
    others = tests_apart(options)[0]
    pairs = zip(["", *others], others, strict=False)
    words = iter([option for before, option in pairs if not _is_named(before, option)])
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
            yield _meanwhile(value if is_pair else next(words, ""))
        else:
            yield word


def _meanwhile(results: str) -> str:
    return f"{results.rstrip('/')}-again"
