"""Exit of the command: every error is one sentence and an exit code."""

import sys
from typing import Any, Final

import click

AS_STATED: Final = 0
NOT_AS_STATED: Final = 1  # or the scheduler could not be reached
INTERRUPTED: Final = 2
WRONG: Final = 4  # an option or a file is invalid


class OneLineErrors(click.Group):
    """A command line that ends with one of these codes; without arguments it shows its help."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        try:
            return super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.Abort:
            sys.exit(INTERRUPTED)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
        except click.ClickException as error:
            click.echo(f"sirm: {error.format_message()}", err=True)
            sys.exit(WRONG)
