"""Options for the timers of the scheduler and their clock."""

from typing import Final

import click

from sireference.cli.groups import Decorator, group
from sireference.cli.parameters import SECONDS
from sireference.core.model import Settings

_DEFAULTS: Final = Settings()


def _timer(name: str, default: float, text: str) -> Decorator:
    return click.option(
        name, type=SECONDS, default=default, show_default=True, metavar="SECONDS", help=text
    )


timer_options: Final = group(
    _timer(
        "--completing-timeout",
        _DEFAULTS.completing_timeout,
        "Time an application without asks and allocations waits before it completes.",
    ),
    _timer(
        "--starting-timeout",
        _DEFAULTS.starting_timeout,
        "Time until an application with one allocation goes from Starting to Running.",
    ),
    _timer(
        "--placeholder-timeout",
        _DEFAULTS.placeholder_timeout,
        "Time for a gang to get its placeholders, from the first one on.",
    ),
    click.option(
        "--placeholder-timeout-from-application",
        is_flag=True,
        help="Use the execution timeout of an application for its placeholders only, as in"
        " yunikorn-core.",
    ),
    _timer(
        "--gang-turn-timeout",
        _DEFAULTS.gang_turn_timeout,
        "Time the oldest gang of a queue blocks younger ones while it has nothing.",
    ),
    _timer("--retention", _DEFAULTS.retention, "Time a finished application is remembered."),
    click.option(
        "--max-finished",
        type=click.IntRange(min=0),
        default=_DEFAULTS.max_finished,
        show_default=True,
        help="Maximum number of finished applications remembered per partition.",
    ),
    _timer(
        "--connection-loss-timeout",
        _DEFAULTS.connection_loss_timeout,
        "Time until a resource manager that lost its connection is stopped.",
    ),
    _timer(
        "--stopped-retention",
        _DEFAULTS.stopped_retention,
        "Time a stopped resource manager is remembered.",
    ),
    click.option(
        "--virtual-clock",
        is_flag=True,
        help="Use virtual time, advanced only by siconform.ext.v1 AdvanceClock.",
    ),
)
