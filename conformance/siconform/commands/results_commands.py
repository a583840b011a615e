"""The commands that read results folders: ``page`` and ``compare``."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from siconform.commands.ending import wrong


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def page(results: Sequence[Path]) -> None:
    """Print a page (Markdown) about a scheduler, from the results folders of its runs."""
    from siconform.reporting.record import RecordError  # noqa: PLC0415  # the same
    from siconform.reporting.single import page_of  # noqa: PLC0415  # imports pytest

    try:
        click.echo(page_of(results), nl=False)
    except RecordError as error:
        wrong(str(error))


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("others", nargs=-1, required=True, type=click.Path(path_type=Path))
def compare(first: Path, others: Sequence[Path]) -> None:
    """Compare results folders, requirement by requirement; exit code 1 where verdicts differ."""
    from siconform.reporting.comparing import differences  # noqa: PLC0415  # imports pytest
    from siconform.reporting.record import RecordError, read_results  # noqa: PLC0415  # the same

    try:
        one, *more = [read_results(folder)[0] for folder in (first, *others)]
    except RecordError as error:
        wrong(str(error))
    found = [
        (folder, difference)
        for folder, other in zip(others, more, strict=True)
        for difference in differences(one, other)
    ]
    for folder, difference in found:
        click.echo(f"{folder}: {difference}")
    compared = f"{len(one.requirements)} requirements in {1 + len(others)} runs"
    click.echo(
        f"{compared}: {len(found) or 'no'} different verdict{'' if len(found) == 1 else 's'}"
    )
    sys.exit(bool(found))
