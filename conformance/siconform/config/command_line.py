"""The command line that started the kit, and commands to suggest next."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from siconform.catalogue import Side
from siconform.config.option_list import OPTIONS, RESULTS, RMS, SELECTED, SIDE
from siconform.filters import FLAGS, names_requirements

PROGRAM: Final = "siconform"
RUN: Final = (PROGRAM, "run")

_A_TEST: Final = re.compile(r"(?!-)(.*/)?test_\w+\.py(::.*)?")
_TAKES_A_TEST: Final = frozenset({"--deselect", "--ignore", "--ignore-glob"})
_SELECTS_TESTS: Final = (
    *("-k", "-m", "--deselect", "--ignore", "--ignore-glob"),
    *("--lf", "--last-failed", "--sw", "--stepwise"),
)
_WITH_A_VALUE: Final = _TAKES_A_TEST | {"-k", "-m"}  # of those
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
    """The command that started the kit (``siconform run``) and its options as given."""

    started: tuple[str, ...]
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return shlex.join((*self.started, *self.options))

    @property
    def test_selection(self) -> str:
        """The options that select tests rather than requirements, or ""."""
        pairs = zip(["", *self.options], self.options, strict=False)
        return shlex.join(
            option
            for before, option in pairs
            if before in _WITH_A_VALUE
            or _given([option], _SELECTS_TESTS)
            or _A_TEST.fullmatch(option)
        )

    def value_of_any(self, *flags: str) -> str | None:
        """Return the value of the first given flag, or None."""
        values = (value_of(self.options, flag) for flag in flags)
        return next((value for value in values if value is not None), None)

    def again(self, identifier: str) -> str:
        """Return the command that tests a requirement again, with a separate results folder."""
        return shlex.join((*self.started, identifier, *_without_selection(self.options)))

    def again_test(self, test: str) -> str:
        """Return the command that runs this test again, given as ``file::name[parameters]``."""
        name = test.rpartition("::")[2].partition("[")[0]
        return shlex.join((*self.started, *_without_selection(self.options), "-k", name))

    def with_options(self, *options: str) -> "CommandLine":
        """Return the command with other options."""
        return CommandLine(self.started, options)

    def of_the_kit(self, *words: str) -> str:
        """Return another command of the kit."""
        return shlex.join((PROGRAM, *words))


@dataclass(frozen=True, slots=True)
class ProjectCommandLine(CommandLine):
    """The command line of a test run in another project, where pytest selects."""

    def again(self, identifier: str) -> str:
        """Return the command that runs the tests of a requirement again."""
        return shlex.join((*self.started, *_without_selection(self.options), "-k", identifier))


def value_of(options: Sequence[str], flag: str) -> str | None:
    """Return the value of a flag among these options, or None."""
    for option, following in zip(options, [*options[1:], ""], strict=False):
        if option == flag:
            return following
        if option.startswith(f"{flag}="):
            return option.partition("=")[2]
    return None


def side_of(options: Sequence[str]) -> Side:
    """Return the side that these options of a run test."""
    of_an_rm = any(value_of(options, flag) is not None for flag in RMS)
    named = (value_of(options, SIDE) or "").casefold()
    return Side.RM if of_an_rm or named == Side.RM else Side.SCHEDULER


def without_option(options: Sequence[str], flag: str) -> list[str]:
    """Return the options without the flag and its value."""
    kept: list[str] = []
    for before, option in zip(["", *options], options, strict=False):
        if flag not in (before, option) and not option.startswith(f"{flag}="):
            kept.append(option)
    return kept


def default_results(options: Sequence[str]) -> str:
    """Return the default results folder; partial runs have a separate one."""
    return SELECTED if _selects(options) else RESULTS


def tests_apart(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate options from test names."""
    others: list[str] = []
    tests: list[str] = []
    for before, option in zip(["", *options], options, strict=False):
        named = _A_TEST.fullmatch(option) and before not in _TAKES_A_TEST
        (tests if named else others).append(option)
    return others, tests


def requirements_named(options: Sequence[str]) -> list[str]:
    """Return the ids and areas among these words that are not option values."""
    pairs = zip(["", *options], options, strict=False)
    return [option for before, option in pairs if _is_named(before, option)]


def _is_named(before: str, option: str) -> bool:
    return names_requirements(option) and not _takes_a_value(before)


def _takes_a_value(option: str) -> bool:
    """Return whether the next word may be its value; unknown options may take one."""
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
            yield _again(value if is_pair else next(words, ""))
        else:
            yield word


def _again(results: str) -> str:
    return f"{results.rstrip('/')}-again"
