"""Exit of the command: every error is one sentence and an exit code."""

import sys
import traceback
from contextlib import suppress
from typing import Any, Final, NoReturn

import click

WRONG: Final = 4  # an option is invalid or cannot be honoured
INTERRUPTED: Final = 2
BROKEN: Final = 13  # internal error of the scheduler


class OneLineErrors(click.Group):
    """A command line that ends in one of these ways; without arguments it shows its help."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        try:
            return super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.Abort:
            sys.exit(INTERRUPTED)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
        except click.ClickException as error:
            _ends(_sentence(error), WRONG)
        except Exception as error:  # noqa: BLE001  # that is what it is for
            with suppress(OSError):
                traceback.print_exc()
            _ends(f"internal error: {type(error).__name__}: {error}", BROKEN)


def _sentence(error: click.ClickException) -> str:
    """Return click's message with the command whose help says more."""
    given = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{given} (see {context.command_path} --help)" if context is not None else given


def _ends(sentence: str, code: int) -> NoReturn:
    with suppress(OSError):
        click.echo(f"sireference: {sentence}", err=True)
    sys.exit(code)
