"""Options for policies: queues of a policy group, priority classes, what is sent back."""

from pathlib import Path
from typing import Any, Final

import click

from sireference.cli.groups import group
from sireference.cli.operations import read_configuration
from sireference.codec import Policies
from sireference.codec.policies import MOST_CONFIGURATION_BYTES
from sireference.configuration.defaults import default_configuration
from sireference.configuration.model import Configuration

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_INT32: Final = 1 << 31


class PolicyGroup(click.ParamType[tuple[str, Configuration]]):
    """A policy group and the file with its queues."""

    name = "policy group"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Configuration]:
        """Return name and configuration."""
        name, _, file = str(value).partition("=")
        if not name or not file:
            self.fail(f"{value!r} is not NAME=FILE", param, ctx)
        return name, read_configuration(_FILE.convert(file, param, ctx))


class PriorityClass(click.ParamType[tuple[str, int]]):
    """A priority class and its number."""

    name = "priority class"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Return name and number."""
        name, _, number = str(value).rpartition("=")
        try:
            priority = int(number)
        except ValueError:
            self.fail(f"{value!r} is not NAME=NUMBER", param, ctx)
        if not name or not -_INT32 <= priority < _INT32:
            self.fail(f"{value!r} is not NAME=NUMBER with a number of 32 bits", param, ctx)
        return name, priority


policy_options: Final = group(
    click.option(
        "--policy-group",
        "policy_groups",
        type=PolicyGroup(),
        multiple=True,
        metavar="NAME=FILE",
        help="Queue configuration of a policy group. Repeatable; other groups are then refused.",
    ),
    click.option(
        "--priority-class",
        "priority_classes",
        type=PriorityClass(),
        multiple=True,
        metavar="NAME=NUMBER",
        help="Number of a priority class (2021-02). Repeatable; other classes count as 0.",
    ),
    click.option(
        "--max-configuration-bytes",
        type=click.IntRange(min=1),
        default=MOST_CONFIGURATION_BYTES,
        show_default=True,
        help="Maximum size of a configuration sent by a resource manager.",
    ),
    click.option(
        "--echo-recovered-allocations",
        is_flag=True,
        help="Send existing allocations that are taken over back as new, as in yunikorn-core.",
    ),
)


def policies(options: dict[str, Any]) -> Policies:
    """Return the policies given as options, including the default."""
    file = options["config"]
    return Policies(
        groups=dict(options["policy_groups"]),
        default=default_configuration() if file is None else read_configuration(file),
        priority_classes=dict(options["priority_classes"]),
        configuration_bytes=options["max_configuration_bytes"],
    )
