"""The options that name a target, for commands other than ``siconform run``."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

import click

from siconform.running.completion import complete_option
from siconform.running.option_list import OPTIONS, SELECTION

Command = TypeVar("Command", bound=Callable[..., Any])


def of_the_target(*, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Give a command the options that name a target, as ``siconform run`` has them."""

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
    """Give a command the options that choose requirements, as ``siconform run`` has them."""
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
    """What click gave a command for its options, by their flags."""
    return {f"--{name.replace('_', '-')}": value for name, value in given.items()}


def words_of(values: Mapping[str, Any]) -> list[str]:
    """The options that name the target, by flag, as they were given."""
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
