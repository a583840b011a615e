"""The command ``check-trace``: evaluate a recorded exchange."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from siconform.commands.errors import ends
from siconform.commands.revision_option import REVISION, known_revision
from siconform.config.option_list import BY_FLAG, FAIL_ON

_FAIL_ON: Final = BY_FLAG[FAIL_ON]


@click.command(
    "check-trace",
    epilog="Exit codes: 0 no MUST is violated, or only as the baseline records; 1 a MUST is "
    "violated; 2 interrupted; 4 the trace or an option is unusable; 11 the baseline does not "
    "explain all violations; 12 no requirement was exercised; 13 the results could not be "
    "written. Ctrl-C is the usual end of --follow and changes none of them.",
)
@click.argument("source", metavar="FILE|DIR|-")
@REVISION
@click.option("--without", multiple=True, metavar="FEATURE", help="Feature the scheduler lacks")
@click.option("--follow", is_flag=True, help="Continue with what is appended and with new files")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for report.html, results.json and junit.xml; written every few seconds with "
    "--follow",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of known failures; those that the trace does not show are not stale",
)
@click.option(_FAIL_ON.flag, metavar=_FAIL_ON.metavar, help=_FAIL_ON.help)
@click.option("-v", "--verbose", count=True, help="List how often each requirement held")
@click.option(
    "-q", "--quiet", count=True, help="Only verdict and violations; -qq: only the verdict"
)
def check_trace(
    *,
    source: str,
    revision: str,
    without: Sequence[str],
    follow: bool,
    verbose: int,
    quiet: int,
    **options: Any,
) -> None:
    """Check a recorded exchange for violations of the SI.

    The rules are those that hold for every exchange. A record cannot show conformance: what was
    not exercised was not tested.
    """
    from siconform.commands.trace_check import CannotCheck, TraceSettings, check  # noqa: PLC0415  # imports grpc

    settings = TraceSettings(
        source, known_revision(revision), tuple(without), follow, verbose - quiet
    )
    try:
        code = check(settings, **options)
    except CannotCheck as error:
        ends(str(error), error.code)
    sys.exit(code)
