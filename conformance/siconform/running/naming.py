"""Requirements given on the command line: ``siconform run SI-NODE-002 rel-3 APP``."""

from pathlib import Path

import pytest

from siconform.catalogue import Requirement, Side, catalogue
from siconform.config.command_line import RUN
from siconform.config.option_list import MEANT, SIDE, STARTED_AS
from siconform.config.options import Settings
from siconform.filters import names_requirements
from siconform.running.index import cited
from siconform.verdicts import OTHER_SIDE, Verdict

_OPTION = MEANT[2:].replace("-", "_")
_AT_MOST = 3  # reasons in one sentence


class NothingChosen(Exception):  # a sentence for the user
    """The selection has nothing that can be tested."""


def take_named(config: pytest.Config) -> None:
    """Move the words that name requirements from pytest's arguments to our option."""
    named = [word for word in config.args if _is_named(config, word)]
    setattr(config.option, _OPTION, named)
    if not named:
        return
    config.args[:] = [word for word in config.args if word not in named]
    if not config.args:
        tests = [str(config.rootpath / path) for path in config.getini("testpaths")]
        config.args[:] = tests or [str(config.invocation_params.dir)]


def check_chosen(settings: Settings) -> None:
    """Raise NothingChosen if no selected requirement can be tested."""
    chosen = settings.chosen
    if chosen is None:
        return
    if not chosen:
        raise NothingChosen(
            f"no requirement of SI {settings.revision} matches: {settings.selected_by}"
        )
    covered = cited(settings.side)
    if not any(covered.get(identifier) for identifier in chosen) and _is_kit_suite(settings):
        reasons = [f"{i} {_why_not(catalogue()[i], settings.side)}" for i in sorted(chosen)]
        more = f", and {len(reasons) - _AT_MOST} more" if len(reasons) > _AT_MOST else ""
        hint = _hint(settings) if all(_is_apart(i, settings.side) for i in chosen) else ""
        raise NothingChosen(f"nothing to run: {'; '.join(reasons[:_AT_MOST])}{more}{hint}")


def _is_named(config: pytest.Config, word: str) -> bool:
    """Return whether a word names requirements; an existing file is a test in other projects."""
    if "/" in word or "::" in word or word.endswith(".py"):
        return False
    if config.getoption(STARTED_AS) is not None:
        return True
    here: Path = config.invocation_params.dir
    return names_requirements(word) and not (here / word).exists()


def _is_kit_suite(settings: Settings) -> bool:
    """Return whether the kit's own suite runs."""
    return settings.command_line.started == RUN


def _is_apart(identifier: str, side: Side) -> bool:
    return side not in catalogue()[identifier].sides


def _hint(settings: Settings) -> str:
    """Return how to test what applies to the other side only."""
    if settings.side is Side.RM:
        return f"; without {SIDE} rm the run tests a scheduler"
    return f"; {SIDE} rm tests a resource manager"


def _why_not(requirement: Requirement, side: Side) -> str:
    if side not in requirement.sides:
        return f"{OTHER_SIDE[side].label}, not to {side.noun}s"
    return f"has no test ({requirement.not_tested_on(side) or Verdict.NO_TEST_YET.label})"
