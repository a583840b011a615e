"""The option ``--revision`` of commands that read or write recorded messages."""

from typing import Final

import click
from siwire import DEFAULT_REVISION, Revision, find_revision

from siconform.commands.errors import wrong

REVISION: Final = click.option(
    "--revision",
    default=DEFAULT_REVISION.name,
    show_default=True,
    metavar="REVISION",
    help="SI revision of the messages, by date or release line",
)


def known_revision(name: str) -> Revision:
    """Return the revision of this name; an unknown one is a usage error."""
    try:
        return find_revision(name)
    except LookupError as error:
        wrong(str(error.args[0]))
