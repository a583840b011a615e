"""Names of the kit's options: --target in its own runs, --si-target in other projects."""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from siconform.running.option_list import OPTIONS

PLAIN: Final = "siconform.suite_plugin"  # its presence selects plain names
_PREFIX: Final = "--si-"
_A_FLAG: Final = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")
_FLAGS: Final = frozenset(option.flag for option in OPTIONS if not option.of_pytest)


def has_plain_names(manager: pytest.PytestPluginManager) -> bool:
    """Return whether the kit's own suite runs, not another project."""
    return bool(manager.hasplugin(PLAIN))


def in_a_project(flag: str) -> str:
    """Return the name of the option in other projects."""
    return f"{_PREFIX}{flag.removeprefix('--')}"


def sentence_in_a_project(sentence: str) -> str:
    """Return the sentence with the names that options have in other projects."""
    return _A_FLAG.sub(lambda f: in_a_project(f[0]) if f[0] in _FLAGS else f[0], sentence)


def getter(config: pytest.Config) -> Callable[[str], Any]:
    """Return a function that gets the value of an option by its plain name."""
    if has_plain_names(config.pluginmanager):
        return config.getoption
    return lambda flag: config.getoption(in_a_project(flag))


def assign(config: pytest.Config, flag: str, value: object) -> None:
    """Set an option, as if it had been given on the command line."""
    plain = has_plain_names(config.pluginmanager)
    name = (flag if plain else in_a_project(flag)).removeprefix("--").replace("-", "_")
    setattr(config.option, name, value)
