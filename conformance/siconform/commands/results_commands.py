"""Commands that read results folders: ``page`` and ``compare``."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from siconform.commands.comparison_output import lines_of
from siconform.commands.errors import ends, wrong
from siconform.policy import ExitCode


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def page(results: Sequence[Path]) -> None:
    """Print a Markdown page about a scheduler from results folders."""
    from siconform.reporting.single import page_of  # noqa: PLC0415  # imports pytest
    from siconform.reporting.stored import RecordError  # noqa: PLC0415  # the same

    try:
        click.echo(page_of(results), nl=False)
    except RecordError as error:
        wrong(str(error))


@click.command(
    epilog="Exit codes: 0 no regression, 1 regressions, 4 unreadable run, 5 nothing in common."
)
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output format",
)
def compare(before: Path, after: Sequence[Path], form: str) -> None:
    """Compare two runs: regressions, fixes and slower responses.

    BEFORE and AFTER are results folders or certificates. Requirements that one of the runs did not
    select are listed separately and ignored. A class of responses is slower if, under the same
    conditions, its median has doubled and grown by at least a tenth of its deadline.
    """
    from siconform.reporting.certificate import evaluated_in  # noqa: PLC0415  # takes time
    from siconform.reporting.regressions import as_json  # noqa: PLC0415  # the same
    from siconform.reporting.regressions import compare as compared  # noqa: PLC0415  # the same
    from siconform.reporting.stored import RecordError  # noqa: PLC0415  # the same

    try:
        first, *others = [evaluated_in(path) for path in (before, *after)]
        found = [compared(first, other) for other in others]
    except RecordError as error:
        wrong(str(error))
    if form == "json":
        received = {"comparisons": [as_json(one) for one in found]}
        click.echo(json.dumps(received, indent=1, ensure_ascii=False))
    else:
        click.echo("\n\n".join("\n".join(lines_of(one)) for one in found))
    for one in found:
        if not one.compared:
            runs = f"{one.before.where} and {one.after.where}"
            ends(f"{runs} have no tested requirement in common", ExitCode.NOTHING_SELECTED)
    sys.exit(any(one.is_worse for one in found))
