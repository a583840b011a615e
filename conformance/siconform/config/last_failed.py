"""Selects what failed in the latest run of a results folder: --last-failed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from siconform.config.command_line import value_of, without_option
from siconform.config.option_list import FAILED_IN, LAST_FAILED, OF_A_PART, RESULTS
from siconform.config.option_values import BadOption
from siconform.results import FILE
from siconform.verdicts import BAD, Verdict

_FLAGS: Final = frozenset({LAST_FAILED, "--lf"})


class NothingFailed(Exception):  # a sentence for the user
    """The latest run has no failure."""


class NothingToRepeat(Exception):  # a sentence for the user
    """There is no earlier run that could tell what fails."""


class LastFailed(msgspec.Struct, frozen=True):
    """What failed or was inconclusive in a run, with the tests that showed it."""

    started: str
    target: str
    failed: dict[str, tuple[str, ...]]  # tests by requirement; monitors fail in any test

    @property
    def run(self) -> str:
        """The time and the target of the run, for display."""
        return f"{self.started.replace('T', ' ')}, target {self.target}"


class _Test(msgspec.Struct):
    id: str
    verdict: Verdict


class _Requirement(msgspec.Struct):
    id: str
    verdict: Verdict
    tests: tuple[_Test, ...]


class _Target(msgspec.Struct):
    name: str


class _Results(msgspec.Struct):
    """What is needed of results.json, also of an interrupted run."""

    started: str
    argv: tuple[str, ...]
    target: _Target
    sentence: str
    ended_early: str
    requirements: tuple[_Requirement, ...]

    def last_failed(self) -> LastFailed:
        """Return what failed; if this run had selected that already, also what it did not reach."""
        bad = BAD | {Verdict.NOT_REACHED} if _FLAGS & set(self.argv) else BAD
        failed = {
            one.id: tuple(test.id for test in one.tests if test.verdict in BAD)
            for one in self.requirements
            if one.verdict in bad
        }
        return LastFailed(self.started, self.target.name, failed)


def with_last_failed(options: Sequence[str]) -> list[str]:
    """Return the options of a run with --last-failed replaced by what failed last.

    The results go to the folder for partial runs, so that those of a whole run remain. Raises
    NothingFailed, NothingToRepeat if there is no earlier run, BadOption if it cannot be read.
    """
    given = value_of(options, "--results")
    if not _FLAGS & set(options) or given == "":
        return list(options)
    folder = RESULTS if given is None else given.rstrip("/")
    latest = _latest(folder)
    last = latest.last_failed()
    if not last.failed and latest.ended_early:
        raise NothingToRepeat(
            f"nothing failed in the last run ({last.run}), but it did not finish "
            f"({latest.ended_early}): run again without {LAST_FAILED}"
        )
    if not last.failed:
        raise NothingFailed(f"nothing failed in the last run ({last.run}): {latest.sentence}")
    kept = [option for option in without_option(options, "--results") if option not in _FLAGS]
    encoded = msgspec.json.encode(last).decode()
    return [*kept, "--results", f"{folder}{OF_A_PART}", f"{FAILED_IN}={encoded}"]


def read_last_failed(given: str | None) -> LastFailed | None:
    """Return what the command passed to pytest and its workers, or None."""
    return None if given is None else msgspec.json.decode(given, type=LastFailed)


def _latest(folder: str) -> _Results:
    files = [Path(place) / FILE for place in (folder, f"{folder}{OF_A_PART}")]
    found = [_read(file) for file in files if file.is_file()]
    if not found:
        raise NothingToRepeat(
            f"no earlier run in {folder} or {folder}{OF_A_PART}: run once without {LAST_FAILED}"
        )
    return max(found, key=lambda results: results.started)


def _read(file: Path) -> _Results:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Results)
    except OSError as error:
        raise BadOption(f"{file} cannot be read: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise BadOption(f"{file} is not a results file of siconform: {error}") from None
