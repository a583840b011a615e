"""The command ``siconform report``: a page to mail around, of one run or of several."""

from collections.abc import Sequence
from pathlib import Path

import click

from siconform.commands.ending import ends, wrong
from siconform.policy import ExitCode


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it there.")
def report(runs: Sequence[str], output: Path | None) -> None:
    """Write a page of HTML about a run, or about several side by side.

    Each RUN is a results folder, or for several a scheduler the kit has a record of, such as
    reference or yunikorn-core@1.9.0 (reference:2023-12 by that revision). The page needs nothing
    beside itself. One run's is report.html in its folder, where the run itself has put one
    already; that of several is report.html in the current folder.
    """
    from siconform.reporting.stored import RecordError  # noqa: PLC0415  # takes time

    try:
        text = _of_one(runs[0]) if len(runs) == 1 else _of_several(runs)
    except RecordError as error:
        wrong(f"{error}.")
    path = output or _usual_place(runs)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", "backslashreplace")
    except OSError as error:
        ends(f"{path} cannot be written: {error.strerror}.", ExitCode.USAGE)
    click.echo(f"written to {path}")


def _of_one(run: str) -> str:
    from siconform.reporting.html.report import page_of  # noqa: PLC0415  # takes time

    return page_of(Path(run))


def _of_several(runs: Sequence[str]) -> str:
    from siconform.reporting.html.rendering import render_comparison  # noqa: PLC0415  # takes time
    from siconform.reporting.html.side_by_side import page_of  # noqa: PLC0415  # the same

    return render_comparison(page_of(runs))


def _usual_place(runs: Sequence[str]) -> Path:
    """In a results folder it is on the list of what the next run there may remove."""
    from siconform.reporting.html.report import FILE  # noqa: PLC0415  # takes time
    from siconform.running.results_dir import LIST, adds  # noqa: PLC0415  # the same

    if len(runs) > 1 or not Path(runs[0]).is_dir():
        return Path(FILE)
    folder = Path(runs[0])
    if (folder / LIST).is_file() and not (folder / FILE).exists():
        adds(folder, folder / FILE)
    return folder / FILE
