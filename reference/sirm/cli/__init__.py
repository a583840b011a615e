"""The command ``sirm``: run the resource manager."""

import asyncio
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
from siwire import DEFAULT_REVISION, Revision, find_revision

from sirm import __version__
from sirm.cli import ending
from sirm.cli.scenario import Scenario
from sirm.cli.security import channels, security_options
from sirm.cli.workload_file import WorkloadError, WorkloadFile, read
from sirm.codec import codec_for
from sirm.codec.codec import Identity
from sirm.core.state import Settings
from sirm.shell import driver
from sirm.shell.machine import Machine

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


class RevisionName(click.ParamType[Revision]):
    """A revision, by date or release line."""

    name = "revision"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Revision:
        """Return the revision."""
        try:
            return value if isinstance(value, Revision) else find_revision(value)
        except LookupError as error:
            self.fail(str(error), param, ctx)


class WorkloadName(click.ParamType[WorkloadFile]):
    """A workload file."""

    name = "workload"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> WorkloadFile:
        """Return its contents."""
        try:
            return value if isinstance(value, WorkloadFile) else read(Path(value))
        except WorkloadError as error:
            self.fail(str(error), param, ctx)


@click.group(cls=ending.OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sirm")
def main() -> None:
    """A small, readable resource manager for the Scheduler Interface."""


@main.command()
@click.option("--scheduler", required=True, metavar="HOST:PORT", help="Address of the scheduler.")
@click.option(
    "--revision",
    type=RevisionName(),
    default=DEFAULT_REVISION.name,
    show_default=True,
    help="SI revision to use, by date or release line.",
)
@click.option(
    "--driver", metavar="HOST:PORT", help="Address to serve RmDriver on; port 0 picks a free port."
)
@click.option("--rm-id", default="sirm", show_default=True, help="rmID to register under.")
@click.option("--policy-group", default="", help="Policy group of the registration.")
@click.option("--queues", type=_FILE, help="Queue configuration to send with the registration.")
@click.option(
    "--workload",
    type=WorkloadName(),
    metavar="FILE",
    help="Workload to run, in YAML; without it the RM waits for its driver.",
)
@click.option(
    "--attempts",
    type=click.IntRange(min=1),
    default=Settings.attempts,
    show_default=True,
    help="Registrations in a row that may fail before the RM gives up.",
)
@security_options
def run(**options: Any) -> None:
    """Run the RM until its workload has ended, or until SIGINT or SIGTERM.

    Prints one line for each thing that happens. Exit code 0: everything ended as the workload
    states; 1: not so, or the scheduler cannot be reached; 2: a workload was interrupted; 4: an
    option is invalid.
    """
    sys.exit(asyncio.run(_run(options)))


async def _run(options: dict[str, Any]) -> int:
    stop = _stopped_by_signal()
    machine = _machine(options)
    server = await _driver(machine, options["driver"])
    work = asyncio.ensure_future(_work(machine, options["workload"]))
    interrupted = asyncio.ensure_future(stop.wait())
    machine.start()
    await asyncio.wait({work, interrupted}, return_when=asyncio.FIRST_COMPLETED)
    await _cancel(interrupted)
    if not work.done():
        await _cancel(work)
    await machine.shut_down()
    if server is not None:
        await server.stop(None)
    if work.cancelled():
        return ending.INTERRUPTED if options["workload"] else ending.AS_STATED
    return work.result()


async def _work(machine: Machine, workload: WorkloadFile | None) -> int:
    """Run the workload; without one, wait until the scheduler is given up."""
    if workload is None:
        while not machine.instance.rm.has_given_up:
            await machine.changed()
        return ending.NOT_AS_STATED
    scenario = Scenario(workload, machine, click.echo)
    if await scenario.run():
        click.echo("ended as stated")
        return ending.AS_STATED
    for problem in scenario.problems():
        click.echo(problem)
    return ending.NOT_AS_STATED


def _machine(options: dict[str, Any]) -> Machine:
    queues = options["queues"].read_text("utf-8") if options["queues"] else ""
    return Machine(
        codec_for(options["revision"]),
        Identity(options["rm_id"], options["policy_group"], queues),
        Settings(attempts=options["attempts"]),
        channels(options["scheduler"], options),
        click.echo,
    )


async def _driver(machine: Machine, address: str | None) -> Any:
    if address is None:
        return None
    try:
        server, listens_on = await driver.serve(machine, address)
    except driver.CannotListenError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"driver on {listens_on}")
    return server


async def _cancel(task: asyncio.Future[Any]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def _stopped_by_signal() -> asyncio.Event:
    """Return an event that is set when the process is to end."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
