"""The command ``siconform check``: the first contact with a scheduler."""

import sys
from typing import Any

import click

from siconform.config.click_options import TargetCommand, of_the_target


@click.command(
    cls=TargetCommand,
    epilog="Exit codes: 0 ready for a run, 1 a step failed, 2 interrupted, 4 usage error, 12 the "
    "scheduler cannot be reached.",
)
@click.option(
    "--results",
    default="build/check",
    show_default=True,
    metavar="DIR",
    help="Folder of the scheduler's log, if the kit starts it",
)
@of_the_target()
def check(results: str, **target: Any) -> None:
    """Check within ten seconds that a scheduler is ready for a run.

    The RM registers, submits an application to each queue of the suite, and has a node accepted and
    an allocation made and released. Everything is removed again. --time-scale multiplies the ten
    seconds; --wait and the start of a --target-command take additional time.
    """
    from siconform.commands import first_contact  # noqa: PLC0415  # imports pytest and grpc

    sys.exit(first_contact.check(target, results))
