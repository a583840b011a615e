"""Settings of commands other than ``siconform run`` that test a scheduler."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from siwire import note_on

from siconform import __version__
from siconform.config.click_options import by_flag, words_of
from siconform.config.command_line import PROGRAM
from siconform.config.open_target import check_command, describe, prepare
from siconform.config.option_list import STARTED_AS
from siconform.config.option_values import BadOption
from siconform.config.options import Settings, settings_from
from siconform.config.results_dir import ResultsDir
from siconform.config.target_file_options import fill_in


def settings_of(command: str, given: Mapping[str, Any], results: str) -> Settings:
    """Check the options that click passes to a command, and those of the target file."""
    return checked_settings(values_of(command, given, results))


def values_of(command: str, given: Mapping[str, Any], results: str) -> dict[str, Any]:
    """Return the options that click passes to a command and those of the target file, by flag."""
    values = by_flag(given)
    values[STARTED_AS] = json.dumps([(PROGRAM, command), words_of(values)])
    values["--results"] = results
    try:
        fill_in(values)
    except LookupError as error:
        raise BadOption(str(error)) from None
    return values


def checked_settings(values: Mapping[str, Any]) -> Settings:
    """Check the options of a command, by flag."""
    settings = settings_from(values.get)
    if note := note_on(values.get("--revision") or ""):
        click.echo(f"siconform: {note}", err=True)
    check_command(settings)
    return settings


@contextmanager
def results_folder(
    settings: Settings, first: Callable[[Settings], None] = prepare
) -> Iterator[None]:
    """Hold the results folder while this process writes to it, once ``first`` has succeeded."""
    folder = ResultsDir(settings.results)
    folder.lock()
    try:
        first(settings)
        folder.begin()
        folder.replace()
        yield
    finally:
        folder.release()


def header(settings: Settings) -> None:
    """Print the kit, the revision and the target."""
    name, _ = describe(settings)
    click.echo(f"siconform {__version__}   SI {settings.revision}   target: {name}")
