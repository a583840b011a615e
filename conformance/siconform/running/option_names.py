"""How the options of the kit are called in a run: --target in its own, --si-target in others'."""

from collections.abc import Callable
from typing import Any, Final

import pytest

PLAIN: Final = "siconform.suite_plugin"  # the plugin whose presence says so
_PREFIX: Final = "--si-"


def has_plain_names(manager: pytest.PytestPluginManager) -> bool:
    """Whether this is a run of the kit's own suite, not of somebody's project."""
    return bool(manager.hasplugin(PLAIN))


def in_a_project(flag: str) -> str:
    """What this option is called in other people's projects."""
    return f"{_PREFIX}{flag.removeprefix('--')}"


def getter(config: pytest.Config) -> Callable[[str], Any]:
    """The value of an option by its plain name, whatever it is called in this run."""
    if has_plain_names(config.pluginmanager):
        return config.getoption
    return lambda flag: config.getoption(in_a_project(flag))


def assign(config: pytest.Config, flag: str, value: object) -> None:
    """Give an option this value, as if it had been on the command line."""
    plain = has_plain_names(config.pluginmanager)
    name = (flag if plain else in_a_project(flag)).removeprefix("--").replace("-", "_")
    setattr(config.option, name, value)
