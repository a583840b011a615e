"""Commands for recorded exchanges: ``record`` writes one, ``check-trace`` evaluates it."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from siwire import DEFAULT_REVISION, Revision, find_revision

from siconform import shutdown
from siconform.catalogue import Level
from siconform.commands.ending import ends, wrong
from siconform.policy import ExitCode

if TYPE_CHECKING:
    from siconform.monitors.traces import Checked

_ANY_PORT: Final = ":0"  # of --listen: a free one, which is printed
_REVISION: Final = click.option(
    "--revision",
    default=DEFAULT_REVISION.name,
    show_default=True,
    metavar="REVISION",
    help="SI revision of the messages, by date or alias",
)


@click.command(epilog="Exit codes: 0 ended by Ctrl-C, 4 usage error, 13 the file is incomplete.")
@click.option("--listen", required=True, metavar="HOST:PORT", help="Address for resource managers")
@click.option("--to", required=True, metavar="HOST:PORT", help="Address of the scheduler")
@_REVISION
@click.option(
    "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="JSON lines"
)
def record(*, listen: str, to: str, revision: str, output: Path) -> None:
    """Forward an SI scheduler's calls unchanged and record every message.

    Resource managers connect to --listen instead of the scheduler. Calls of the extension, of
    health checking and of reflection are forwarded, and not recorded. Ctrl-C ends it.
    """
    from siconform.transport.recorder import Recorder  # noqa: PLC0415  # imports grpc

    known = _revision(revision)
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


@click.command(
    "check-trace",
    epilog="Exit codes: 0 no MUST is violated, 1 a MUST is violated, 4 the file is unusable, 12 "
    "no requirement was exercised.",
)
@click.argument("file", type=click.Path(path_type=Path))
@_REVISION
@click.option("--without", multiple=True, metavar="FEATURE", help="Feature the scheduler lacks")
def check_trace(*, file: Path, revision: str, without: Sequence[str]) -> None:
    """Check a recorded exchange against all rules that hold over every exchange.

    This shows violations. It cannot show conformance: what was not exercised was not tested.
    """
    from siconform.monitors import traces  # noqa: PLC0415  # imports grpc

    known = _revision(revision)
    try:
        checked = traces.check_trace(traces.read_trace(file, known), known, without)
    except traces.UnusableTrace as error:
        wrong(str(error))
    for one in checked:
        click.echo(_line(one))
    violated = [one for one in checked if one.violation]
    exercised = [one for one in checked if one.violation or one.held]
    click.echo(
        f"{len(violated)} violated, {len(exercised) - len(violated)} held, "
        f"{len(checked) - len(exercised)} not exercised (SI {known})"
    )
    if any(one.requirement.level is Level.MUST for one in violated):
        sys.exit(ExitCode.NON_CONFORMANT)
    if not exercised:
        ends(f"{file} exercised no requirement", ExitCode.NOTHING_RAN)


def _line(one: "Checked") -> str:
    requirement = f"{one.requirement.id:<12} {one.requirement.level:<6} "
    if one.violation:
        return f"{requirement} violated, line {one.line}: {one.violation}"
    times = f"{one.held} time{'s' * (one.held > 1)}"
    return f"{requirement} " + (f"held {times}" if one.held else "not exercised")


def _revision(name: str) -> Revision:
    try:
        return find_revision(name)
    except LookupError as error:
        wrong(str(error.args[0]))


def _check_address(flag: str, address: str) -> None:
    from siconform.targets.address import problem  # noqa: PLC0415  # imports grpc

    if why := problem(address):
        wrong(f'{flag} "{address}" {why}')


def _report(sentence: str) -> None:
    click.echo(f"siconform: {sentence}", err=True)
