"""The options of ``siconform run`` for click: those other commands share, and completion."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from siconform.catalogue import catalogue
from siconform.config.option_list import BY_FLAG, GROUPS, OF_RMS, OPTIONS, SELECTION, Option
from siconform.config.option_values import Offered

Command = TypeVar("Command", bound=Callable[..., Any])

_HEADINGS: Final = {one.flag: heading for heading, group in GROUPS.items() for one in group}
OF_RM_RUNS: Final = frozenset(one.flag for one in OF_RMS)


def of_the_target(*, without: Collection[str] = OF_RM_RUNS) -> Callable[[Command], Command]:
    """Add the target options of ``siconform run`` to a command, by default those of schedulers."""
    return _adding(one for one in OPTIONS if one.of_the_target and one.flag not in without)


def of_the_selection(command: Command) -> Command:
    """Add the selection options of ``siconform run`` to a command."""
    return _adding(SELECTION)(command)


def _adding(options: Iterable[Option]) -> Callable[[Command], Command]:
    chosen = list(options)

    def decorate(command: Command) -> Command:
        for option in reversed(chosen):
            kind: dict[str, Any] = {
                "metavar": option.metavar,
                "shell_complete": complete_option,
                "multiple": option.several,
            }
            kind = kind if option.metavar else {"is_flag": True}
            added = click.option(option.flag, help=option.help, cls=_OptionOfRun, **kind)
            command = added(command)
        return command

    return decorate


class _OptionOfRun(click.Option):
    """An option shared with ``siconform run``."""


class TargetCommand(click.Command):
    """A command whose help has the options of ``siconform run`` under the headings of its help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then the shared ones."""
        sections: dict[str, list[tuple[str, str]]] = {
            "Options": [],
            **{name: [] for name in GROUPS},
        }
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                shared = isinstance(parameter, _OptionOfRun)
                sections[_HEADINGS[parameter.opts[0]] if shared else "Options"].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


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


def complete_ids(
    ctx: click.Context,  # noqa: ARG001  # click's signature
    param: click.Parameter,  # noqa: ARG001  # the same
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the id of a requirement, ignoring case."""
    return _matching(_ids(), incomplete)


def complete_option(
    ctx: click.Context,  # noqa: ARG001  # click's signature
    param: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the value of an option shared with ``siconform run``."""
    return _values(BY_FLAG[param.opts[0]], incomplete)


def complete_run(
    ctx: click.Context,
    param: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """Complete the value of the preceding option, else an id."""
    before = ctx.params.get(param.name or "") or ("",)
    option = BY_FLAG.get(str(before[-1]))
    if option is not None and option.metavar:
        return _values(option, incomplete)
    return _matching(_ids(), incomplete)


class RunCommand(click.Command):
    """``siconform run``: passes options to pytest, but completes those of the kit."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002  # click's signature
        incomplete: str,
    ) -> list[CompletionItem]:
        """Complete an option of the kit."""
        received = [(option.flag, option.help) for option in OPTIONS]
        return _matching(received, incomplete) if incomplete.startswith("-") else []


def _ids() -> Offered:
    return ((identifier, known.title) for identifier, known in catalogue().items())


def _values(option: Option, incomplete: str) -> list[CompletionItem]:
    offered = _matching(option.kind.offers(), incomplete)
    if option.is_path:
        offered.append(CompletionItem(incomplete, option.metavar.lower()))
    return offered


def _matching(offered: Offered, incomplete: str) -> list[CompletionItem]:
    start = incomplete.upper()
    return [
        CompletionItem(w, help=received) for w, received in offered if w.upper().startswith(start)
    ]
