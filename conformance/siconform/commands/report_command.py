"""The command ``siconform report``: a self-contained page about one or several runs."""

from collections.abc import Sequence
from pathlib import Path

import click

from siconform.commands.errors import ends, wrong
from siconform.policy import ExitCode


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Output file (default: report.html)"
)
def report(runs: Sequence[str], output: Path | None) -> None:
    """Write an HTML page about one run, or several side by side.

    Each RUN is a results folder. When comparing, it may also be a scheduler with a stored record,
    such as reference, yunikorn-core@1.9.0 or reference:2023-12 (a given revision). The default
    output is report.html in the folder of a single run, which writes one itself, or in the current
    folder for several runs.
    """
    from siconform.reporting.stored import RecordError  # noqa: PLC0415  # takes time

    try:
        text = _of_one(runs[0]) if len(runs) == 1 else _of_several(runs)
    except RecordError as error:
        wrong(str(error))
    path = output or _usual_place(runs)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", "backslashreplace")
    except OSError as error:
        ends(f"{path} cannot be written: {error.strerror}", ExitCode.USAGE)
    click.echo(f"written to {path}")


def _of_one(run: str) -> str:
    from siconform.reporting.html.report import page_of  # noqa: PLC0415  # takes time

    return page_of(Path(run))


def _of_several(runs: Sequence[str]) -> str:
    from siconform.reporting.html.rendering import render_comparison  # noqa: PLC0415  # takes time
    from siconform.reporting.html.side_by_side import page_of  # noqa: PLC0415  # the same

    return render_comparison(page_of(runs))


def _usual_place(runs: Sequence[str]) -> Path:
    """Return the default output; in a results folder, add it to the list of written files."""
    from siconform.config.results_dir import LIST, adds  # noqa: PLC0415  # the same
    from siconform.reporting.html.report import FILE  # noqa: PLC0415  # takes time

    if len(runs) > 1 or not Path(runs[0]).is_dir():
        return Path(FILE)
    folder = Path(runs[0])
    if (folder / LIST).is_file() and not (folder / FILE).exists():
        adds(folder, folder / FILE)
    return folder / FILE
