"""Input and output of the commands ``siconform spec``."""

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import click

if TYPE_CHECKING:
    from sispec.model import Spec, UnreadableSpec
    from sispec.report import Report

BREAKING, UNREADABLE, WRONG = 1, 2, 4  # exit codes; 0 for success
_BREAKS: Final = ("misread", "wire", "json", "source")
FAIL_ON: Final = (*_BREAKS, "rules", "all")
_MOST_ERRORS: Final = 20  # per specification


def read(*arguments: str) -> "tuple[Spec, ...]":
    """Read the specifications that the arguments name; exit with all errors of all of them."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # takes time

    from sispec.buf import NoCompiler  # noqa: PLC0415  # protobuf takes time
    from sispec.model import UnreadableSpec  # noqa: PLC0415  # the same
    from sispec.sources import read_spec  # noqa: PLC0415  # the same

    found, wrong = [], []
    with ThreadPoolExecutor() as pool:  # each waits for a compiler
        reading = [pool.submit(read_spec, argument) for argument in dict.fromkeys(arguments)]
    for one in reading:
        try:
            found.append(one.result())
        except UnreadableSpec as error:
            wrong += _first(error)
        except NoCompiler as error:
            ends(str(error), WRONG)
    if wrong:
        ends("\n".join(wrong), UNREADABLE)
    return (*found, *found) if len(found) < len(arguments) else tuple(found)


def print_report(
    report: "Report",
    *,
    details: bool,
    form: str,
    output: Path | None,
    fail_on: Sequence[str],
) -> NoReturn:
    """Write the report and exit with its code."""
    code = code_of(report, fail_on)
    text = shown(report, form, code, details=details, coloured=output is None)
    write(text, output)
    sys.exit(code)


def code_of(report: "Report", fail_on: Sequence[str]) -> int:
    """Return the exit code of a report; by default, all changes except rules fail."""
    chosen = FAIL_ON if "all" in fail_on else fail_on or _BREAKS
    return BREAKING if report.breaks(chosen) else 0


def write(text: str, output: Path | None) -> None:
    """Write to standard output, or to a file atomically."""
    if output is None:
        encoding = sys.stdout.encoding or "utf-8"
        click.echo(text.encode(encoding, "replace").decode(encoding), nl=False)
        return
    path = output.resolve()
    is_device = path.exists() and not path.is_file()
    scratch = path if is_device else path.with_name(f".{path.name}-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            scratch.write_text(text, "utf-8")
            scratch.replace(path)
        finally:
            if not is_device:
                with suppress(OSError):
                    scratch.unlink(missing_ok=True)
    except OSError as error:
        ends(unwritable(output, error), WRONG)


def unwritable(path: Path, error: OSError) -> str:
    """Return why nothing can be written there."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"{path} cannot be written: its parent is not a folder"
    return f"{path} cannot be written: {error.strerror}"


def shown(report: "Report", form: str, code: int, *, details: bool, coloured: bool) -> str:
    """Render the report; `code` is the exit code of the command."""
    from sispec import json_report, markdown, terminal  # noqa: PLC0415  # takes time

    if form == "json":
        return json_report.to_json(report, code)
    if form == "markdown":
        return markdown.to_markdown(report)
    seen = (
        shutil.get_terminal_size().columns if coloured and sys.stdout.isatty() else terminal.WIDTH
    )
    width = min(terminal.WIDTH, seen)
    lines = terminal.report_lines(report, details=details, width=max(width, 40))
    received = [_coloured(line.text, line.colour) if coloured else line.text for line in lines]
    return "".join(f"{line}\n" for line in received)


def _coloured(text: str, colour: str) -> str:
    if colour == "bold":
        return click.style(text, bold=True)
    return click.style(text, fg=colour) if colour else text


def ends(sentences: str, code: int) -> NoReturn:
    """Write sentences to standard error, one per line, and exit with the code."""
    warn(sentences)
    sys.exit(code)


def warn(sentences: str) -> None:
    """Write sentences to standard error, one per line."""
    for sentence in sentences.splitlines():
        click.echo(f"siconform: {sentence}", err=True)


def read_earlier(argument: str | None) -> "Spec | None":
    """Read an earlier version of a file; None if there is none or it does not compile (warns)."""
    from sispec.model import UnreadableSpec  # noqa: PLC0415  # protobuf takes time
    from sispec.sources import read_spec  # noqa: PLC0415  # the same

    if argument is None:
        return None
    try:
        return read_spec(argument)
    except UnreadableSpec as error:
        warn("\n".join(_first(error)))
        return None


def _first(error: "UnreadableSpec") -> list[str]:
    """Return the first errors of a specification and the number of the others."""
    found = str(error).splitlines()
    more = len(found) - _MOST_ERRORS
    return [*found[:_MOST_ERRORS], *([f"{error.name}: and {more} more"] if more > 0 else [])]
