"""Requirements named on the command line, beside tests: ``siconform run SI-NODE-002 rel-3 APP``."""

from pathlib import Path

import pytest

from siconform.catalogue import Requirement, Side, catalogue
from siconform.filters import names_requirements
from siconform.running.command_line import RUN
from siconform.running.index import cited
from siconform.running.option_list import MEANT, STARTED_AS
from siconform.running.options import Settings

_OPTION = MEANT[2:].replace("-", "_")
_AT_MOST = 3  # reasons told in one sentence


class NothingChosen(Exception):  # a sentence for the user
    """What was asked for has nothing in it that could be judged."""


def take_named(config: pytest.Config) -> None:
    """Take what names requirements out of the tests pytest is to collect, and keep it."""
    named = [word for word in config.args if _is_named(config, word)]
    setattr(config.option, _OPTION, named)
    if not named:
        return
    config.args[:] = [word for word in config.args if word not in named]
    if not config.args:
        tests = [str(config.rootpath / path) for path in config.getini("testpaths")]
        config.args[:] = tests or [str(config.invocation_params.dir)]


def check_chosen(settings: Settings) -> None:
    """NothingChosen where nothing of what was chosen can be judged by anything."""
    chosen = settings.chosen
    if chosen is None:
        return
    if not chosen:
        raise NothingChosen(
            f"no requirement of SI {settings.revision} is like that: {settings.filters.words}"
        )
    if not any(cited().get(identifier) for identifier in chosen) and _of_the_suite(settings):
        reasons = [f"{i} {_why_not(catalogue()[i])}" for i in sorted(chosen)]
        more = f", and {len(reasons) - _AT_MOST} more" if len(reasons) > _AT_MOST else ""
        raise NothingChosen(f"nothing to run: {'; '.join(reasons[:_AT_MOST])}{more}")


def _is_named(config: pytest.Config, word: str) -> bool:
    """A word that can be a test is one, unless the suite is run: there tests have their folder."""
    if "/" in word or "::" in word or word.endswith(".py"):
        return False
    if config.getoption(STARTED_AS) is not None:
        return True
    here: Path = config.invocation_params.dir
    return names_requirements(word) and not (here / word).exists()


def _of_the_suite(settings: Settings) -> bool:
    """Whether it is the kit's own suite that runs: what others have is known when it is read."""
    return settings.command_line.started == RUN


def _why_not(requirement: Requirement) -> str:
    if Side.SCHEDULER not in requirement.sides:
        return "binds the RM, not the scheduler"
    return f"has no test ({requirement.not_tested})"
