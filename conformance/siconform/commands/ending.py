"""How a command that cannot do what it was asked ends: one sentence, and the code of the policy."""

import sys
from typing import NoReturn

import click

from siconform.policy import ExitCode


def sentence(error: click.ClickException) -> str:
    """What click has to say of a command line, and which help says more."""
    sent = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{sent} (see {context.command_path} --help)" if context is not None else sent


def wrong(sentence: str) -> NoReturn:
    """End for what was asked wrongly, as pytest has it for usage errors."""
    ends(sentence, ExitCode.USAGE)


def ends(sentence: str, code: ExitCode) -> NoReturn:
    """Say the sentence where errors are read, and end with the code."""
    click.echo(f"siconform: {sentence}", err=True)
    sys.exit(int(code))
