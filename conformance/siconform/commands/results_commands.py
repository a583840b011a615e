"""The commands that read results folders: ``page`` and ``compare``."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from siconform.commands.comparison_output import lines_of
from siconform.commands.ending import ends, wrong
from siconform.policy import ExitCode


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def page(results: Sequence[Path]) -> None:
    """Print a page (Markdown) about a scheduler, from the results folders of its runs."""
    from siconform.reporting.single import page_of  # noqa: PLC0415  # imports pytest
    from siconform.reporting.stored import RecordError  # noqa: PLC0415  # the same

    try:
        click.echo(page_of(results), nl=False)
    except RecordError as error:
        wrong(str(error))


@click.command(epilog="Exit codes: 0 nothing is newly broken, 1 something is, 4 it cannot be read.")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def compare(before: Path, after: Sequence[Path], form: str) -> None:
    """Say what is different AFTER: newly broken, mended, changed or slower.

    Each is a results folder or a certificate. What one of the runs did not select is told apart and
    counts for nothing. Slower is a class of answers with a median of twice the former one and at
    least a tenth of its deadline more, under the same conditions.
    """
    from siconform.reporting.certificate import evaluated_in  # noqa: PLC0415  # takes time
    from siconform.reporting.regressions import as_json  # noqa: PLC0415  # the same
    from siconform.reporting.regressions import compare as compared  # noqa: PLC0415  # the same
    from siconform.reporting.stored import RecordError  # noqa: PLC0415  # the same

    try:
        first, *others = [evaluated_in(path) for path in (before, *after)]
    except RecordError as error:
        wrong(str(error))
    found = [compared(first, other) for other in others]
    if form == "json":
        received = {"comparisons": [as_json(one) for one in found]}
        click.echo(json.dumps(received, indent=1, ensure_ascii=False))
    else:
        click.echo("\n\n".join("\n".join(lines_of(one)) for one in found))
    if not all(one.compared for one in found):
        ends("nothing was judged in both of these runs", ExitCode.NOTHING_SELECTED)
    sys.exit(any(one.is_worse for one in found))
