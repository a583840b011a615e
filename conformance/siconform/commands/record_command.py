"""The command ``record``: a proxy that records what passes."""

import signal
from pathlib import Path
from typing import Final

import click

from siconform import shutdown
from siconform.commands.ending import wrong
from siconform.commands.revision_option import REVISION, known_revision
from siconform.policy import ExitCode

_ANY_PORT: Final = ":0"  # of --listen: a free one, which is printed


@click.command(epilog="Exit codes: 0 ended by Ctrl-C, 4 usage error, 13 the file is incomplete.")
@click.option("--listen", required=True, metavar="HOST:PORT", help="Address for resource managers")
@click.option("--to", required=True, metavar="HOST:PORT", help="Address of the scheduler")
@REVISION
@click.option(
    "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="JSON lines"
)
def record(*, listen: str, to: str, revision: str, output: Path) -> None:
    """Forward an SI scheduler's calls unchanged and record every message.

    Resource managers connect to --listen instead of the scheduler. Calls of the extension, of
    health checking and of reflection are forwarded, and not recorded. Ctrl-C ends it.
    """
    from siconform.transport.recorder import Recorder  # noqa: PLC0415  # imports grpc

    known = known_revision(revision)
    if not listen.endswith(_ANY_PORT):
        _check_address("--listen", listen)
    _check_address("--to", to)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        recorder = Recorder(listen, to, known, output, _report)
    except OSError as error:
        wrong(str(error) if error.strerror is None else f"{output}: {error.strerror}")
    click.echo(f"listening on {recorder.address}, forwarding to {to}")
    click.echo(f"recording to {output} (SI {known}); Ctrl-C ends it")
    try:
        signal.pause()
    except KeyboardInterrupt:
        recorder.close()
        shutdown.settle(ExitCode.KIT_ERROR if recorder.problem else ExitCode.OK)
        click.echo(f"{recorder.written} lines written to {output}")


def _check_address(flag: str, address: str) -> None:
    from siconform.targets.address import problem  # noqa: PLC0415  # imports grpc

    if why := problem(address):
        wrong(f'{flag} "{address}" {why}')


def _report(sentence: str) -> None:
    click.echo(f"siconform: {sentence}", err=True)
