"""The command ``sireference``: serve the reference scheduler."""

import sireference.cli.silence  # noqa: F401  # before gRPC is imported

# isort: split

import asyncio
import signal
import sys
import time
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

import click
from siwire import DEFAULT_REVISION, Revision

from sireference import __version__
from sireference.cli.ending import OneLineErrors
from sireference.cli.operations import credentials, limits, operation_options
from sireference.cli.parameters import Address, RevisionName
from sireference.cli.policies import policies, policy_options
from sireference.cli.security import access, security_options, warnings
from sireference.cli.timers import timer_options
from sireference.clock import Clock, SystemClock, VirtualClock
from sireference.codec import Codec, codec_for
from sireference.core.model import Settings
from sireference.shell import gc_tuning, logs
from sireference.shell.addresses import CannotListenError
from sireference.shell.options import Access
from sireference.shell.server import Server

if TYPE_CHECKING:
    from sireference.shell.http_page import HttpPage

# Interval in seconds at which a thread that reads a configuration yields to the loop; Python's
# default is 0.005
_SWITCH_INTERVAL: Final = 0.0005


@click.group(cls=OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sireference")
def main() -> None:
    """A readable reference scheduler for the Scheduler Interface."""


@main.command(short_help="Serve the SI over gRPC until SIGTERM or SIGINT.")
@click.option(
    "--listen",
    type=Address(may_be_path=True),
    default="127.0.0.1:9080",
    show_default=True,
    metavar="HOST:PORT|unix:PATH",
    help="Address to listen on; port 0 picks a free port.",
)
@click.option(
    "--revision",
    type=RevisionName(),
    default=DEFAULT_REVISION.name,
    show_default=True,
    help="SI revision to serve, by date or release line.",
)
@timer_options
@policy_options
@operation_options
@security_options
def serve(*, listen: str, revision: Revision, **options: Any) -> None:
    """Serve si.v1.Scheduler and siconform.ext.v1 over gRPC until SIGTERM or SIGINT.

    Prints one line, "listening on ADDRESS", when it is ready.
    """
    logs.set_up(options["log_level"], options["log_format"])
    codec = codec_for(revision, policies(options))
    clock = VirtualClock() if options["virtual_clock"] else SystemClock()
    gc_tuning.reduce_collections()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        asyncio.run(_run(listen, codec, clock, options))
    except CannotListenError as why:
        raise click.ClickException(str(why)) from None


async def _run(listen: str, codec: Codec, clock: Clock, options: dict[str, Any]) -> None:
    """Start a server with these options and serve until the process is to end."""
    stop = _stopped_by_signal()
    secure, granted, http = credentials(options), access(options), options["http"]
    server = Server(codec, _settings(options), clock, limits(options), granted)
    page = None if http is None else _page(server, http, granted)
    await server.start(listen, secure)
    for problem in warnings(listen, options):
        logs.LOGGER.warning(problem)
    await _serve(server, page, stop)


def _page(server: Server, listen: str, granted: Access) -> "HttpPage":
    """Return the pages of ``--http``; their imports are slow and so are made only here."""
    from sireference.shell.http_page import HttpPage  # noqa: PLC0415  # imports Jinja, Prometheus

    return HttpPage(server.engine, listen, granted)


def _settings(options: dict[str, Any]) -> Settings:
    """Return the core settings given as options of the same names."""
    names = {field.name for field in fields(Settings)}
    chosen = {name: value for name, value in options.items() if name in names}
    return Settings(**chosen, identity_prefix=f"{time.time_ns():x}-")


def _stopped_by_signal() -> asyncio.Event:
    """Return an event that is set when the process is told to end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


async def _serve(server: Server, page: "HttpPage | None", stop: asyncio.Event) -> None:
    _send_all(f"listening on {server.address}")
    if page is not None:
        _send_all(f"metrics and state on http://{page.address}")
    await stop.wait()
    await server.stop()
    if page is not None:  # until here it reports that the scheduler is not serving
        await asyncio.to_thread(page.stop)


def _send_all(line: str) -> None:
    """Print for a parent process that waits for exactly this line."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
