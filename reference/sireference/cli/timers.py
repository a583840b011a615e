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
        "How long an application without asks and allocations waits before it is completed.",
    ),
    _timer(
        "--starting-timeout",
        _DEFAULTS.starting_timeout,
        "After which an application with one allocation goes from Starting to Running.",
    ),
    _timer(
        "--placeholder-timeout",
        _DEFAULTS.placeholder_timeout,
        "How long a gang may wait for its placeholders, from the first one on.",
    ),
    click.option(
        "--placeholder-timeout-from-application",
        is_flag=True,
        help="The execution timeout of an application is that of its placeholders, as in"
        " yunikorn-core, and does not bound how long it runs.",
    ),
    _timer(
        "--gang-turn-timeout",
        _DEFAULTS.gang_turn_timeout,
        "How long the oldest gang of a queue keeps the younger ones waiting while it has nothing.",
    ),
    _timer("--retention", _DEFAULTS.retention, "How long a finished application is remembered."),
    click.option(
        "--max-finished",
        type=click.IntRange(min=0),
        default=_DEFAULTS.max_finished,
        show_default=True,
        help="Finished applications of a partition that are remembered; beyond it the first to"
        " finish is forgotten.",
    ),
    _timer(
        "--connection-loss-timeout",
        _DEFAULTS.connection_loss_timeout,
        "After which a resource manager that lost its connection is stopped.",
    ),
    _timer(
        "--stopped-retention",
        _DEFAULTS.stopped_retention,
        "How long a resource manager that is stopped is remembered, to be told so.",
    ),
    click.option(
        "--virtual-clock",
        is_flag=True,
        help="Time stands still until siconform.ext.v1 AdvanceClock moves it on.",
    ),
)
