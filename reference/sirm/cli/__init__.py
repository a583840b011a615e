"""The command ``sirm``: run the resource manager."""

import asyncio
import signal
import sys
from typing import Any

import click
import grpc
from siwire import DEFAULT_REVISION, find_revision

from sirm import __version__
from sirm.codec import codec_for
from sirm.codec.codec import Identity
from sirm.core.state import Settings
from sirm.shell import driver
from sirm.shell.machine import Machine


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sirm")
def main() -> None:
    """A small, readable resource manager for the Scheduler Interface."""


@main.command()
@click.option("--scheduler", required=True, metavar="HOST:PORT", help="Address of the scheduler.")
@click.option("--revision", default=DEFAULT_REVISION.name, show_default=True, help="SI revision.")
@click.option("--driver", "driver_address", metavar="HOST:PORT", help="Address of the driver.")
@click.option("--rm-id", default="sirm", show_default=True, help="rmID of the registration.")
def run(**options: Any) -> None:
    """Run the RM."""
    sys.exit(asyncio.run(_run(options)))


async def _run(options: dict[str, Any]) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    def on_change(lines: list[str]) -> None:
        for line in lines:
            click.echo(line)

    machine = Machine(
        codec_for(find_revision(options["revision"])),
        Identity(options["rm_id"]),
        Settings(),
        lambda: grpc.aio.insecure_channel(
            options["scheduler"], (("grpc.use_local_subchannel_pool", 1),)
        ),
        on_change,
    )
    server = (
        await driver.serve(machine, options["driver_address"])
        if options["driver_address"]
        else None
    )
    machine.start()
    await stop.wait()
    await machine.end()
    if server:
        await server.stop(0)
    return 0
