"""Errors of commands: one sentence and an exit code of the policy."""

import sys
from typing import NoReturn

import click

from siconform.policy import ExitCode


def sentence(error: click.ClickException) -> str:
    """Return click's message about a command line and the command for its help."""
    sent = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{sent} (see {context.command_path} --help)" if context is not None else sent


def wrong(sentence: str) -> NoReturn:
    """Exit with the code of usage errors."""
    ends(sentence, ExitCode.USAGE)


def ends(sentence: str, code: ExitCode) -> NoReturn:
    """Write the sentence to standard error and exit with the code."""
    click.echo(f"siconform: {sentence}", err=True)
    sys.exit(int(code))
