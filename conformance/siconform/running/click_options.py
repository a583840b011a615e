"""Target and selection options for commands other than ``siconform run``."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

import click

from siconform.running.completion import complete_option
from siconform.running.option_list import OPTIONS, SELECTION

Command = TypeVar("Command", bound=Callable[..., Any])


def of_the_target(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Add the target options of ``siconform run`` to a command."""

    def decorate(command: Command) -> Command:
        for option in reversed(OPTIONS):
            if option.of_the_target and option.flag not in without:
                kind: dict[str, Any] = {
                    "metavar": option.metavar,
                    "shell_complete": complete_option,
                    "multiple": option.several,
                }
                kind = kind if option.metavar else {"is_flag": True}
                command = click.option(option.flag, help=option.help, **kind)(command)
        return command

    return decorate


def of_the_selection(command: Command) -> Command:
    """Add the selection options of ``siconform run`` to a command."""
    for option in reversed(SELECTION):
        command = click.option(
            option.flag,
            help=option.help,
            metavar=option.metavar,
            multiple=True,
            shell_complete=complete_option,
        )(command)
    return command


def by_flag(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the option values that click passes to a command, by flag."""
    return {f"--{name.replace('_', '-')}": value for name, value in given.items()}


def words_of(values: Mapping[str, Any]) -> list[str]:
    """Return target options as command-line words."""
    words: list[str] = []
    for option in OPTIONS:
        value = values.get(option.flag)
        if option.several:
            words += [word for one in value or () for word in (option.flag, one)]
        elif option.metavar and value is not None:
            words += [option.flag, str(value)]
        elif value and not option.metavar:
            words.append(option.flag)
    return words
