"""Commands ``siconform spec``: read SI specifications and report breaking changes."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sispec.command_output import (
    FAIL_ON,
    UNREADABLE,
    WRONG,
    code_of,
    ends,
    print_report,
    read,
    read_earlier,
    shown,
    unwritable,
    write,
)
from sispec.try_command import try_

if TYPE_CHECKING:
    from sispec.model import Spec
    from sispec.report import Report

Command = TypeVar("Command", bound=Callable[..., Any])
_OUTPUT = "Output file (default: standard output)"
_FAILS = "Changes that fail (default: all except rules); repeatable"
_SIDES = (
    "Both are specifications (Markdown), .proto files, descriptor sets, revisions (2024-10, "
    "1.8) or git:REV:PATH in the current repository."
)
_CODES = (
    "Exit codes: 0 compatible, 1 breaking, 2 a specification cannot be read or does not compile, "
    "4 usage error."
)


@click.group(name="spec")
def spec_group() -> None:
    """Analyse changes of the SI specification."""


spec_group.add_command(try_)


def _of_reports(command: Command) -> Command:
    """Add the arguments and options of commands that print a report."""
    forms = click.Choice(["terminal", "markdown", "json"])
    for decorate in (
        click.option("--details", is_flag=True, help="Also show bytes, tests, mutants and code"),
        click.option(
            "--format",
            "form",
            type=forms,
            default="terminal",
            show_default=True,
            help="Output format",
        ),
        click.option("-o", "--output", type=click.Path(path_type=Path), help=_OUTPUT),
        click.option("--fail-on", multiple=True, type=click.Choice(FAIL_ON), help=_FAILS),
        click.argument("new"),
        click.argument("old"),
    ):
        command = decorate(command)
    return command


@spec_group.command(
    epilog="Exit codes: 0 written, 2 FILE cannot be read or does not compile, 4 usage error."
)
@click.argument("text", metavar="FILE")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="build/spec",
    show_default=True,
    help="Output folder: new, empty or from an earlier extraction",
)
def extract(text: str, output: Path) -> None:
    """Extract si.proto, si.binpb and constants.json from FILE, a specification."""
    from sispec.extract import OccupiedFolder  # noqa: PLC0415  # protobuf takes time
    from sispec.extract import extract as write  # noqa: PLC0415  # the same
    from sispec.layout import extracted  # noqa: PLC0415  # the same
    from sispec.model import UnreadableSpec  # noqa: PLC0415  # the same

    (spec,) = read(text)
    try:
        written = write(spec, output)
    except UnreadableSpec as error:
        ends(str(error), UNREADABLE)
    except OccupiedFolder as error:
        ends(str(error), WRONG)
    except OSError as error:
        ends(unwritable(output, error), WRONG)
    for guess in spec.guesses:
        click.echo(f"{spec.name}: {guess}", err=True)
    click.echo(extracted(spec))
    click.echo("\n".join(str(output / path.name) for path in written))


@spec_group.command(help=f"Report what the change from OLD to NEW breaks. {_SIDES}", epilog=_CODES)
@_of_reports
def diff(old: str, new: str, **how: Any) -> None:
    """Compare two specifications."""
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time

    from sispec.report import report  # noqa: PLC0415  # protobuf takes time

    before, after = read(old, new)
    print_report(report(before, after, tuple(catalogue().values())), **how)


@spec_group.command(
    help=f"Report what the change from OLD to NEW affects in this project. This includes "
    f"requirements, tests, code, mutants and published results. {_SIDES}",
    epilog=_CODES,
)
@_of_reports
def impact(old: str, new: str, **how: Any) -> None:
    """Compare two specifications and list what depends on the changes."""
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time

    from sispec.checkout import CheckoutError, find_checkout  # noqa: PLC0415  # as above
    from sispec.report import report  # noqa: PLC0415  # protobuf takes time

    before, after = read(old, new)
    try:
        checkout = find_checkout()
    except CheckoutError as error:
        ends(str(error), WRONG)
    requirements = tuple(catalogue().values())
    print_report(report(before, after, requirements, with_impact=True, checkout=checkout), **how)


@spec_group.command(epilog=_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--against", default="HEAD", show_default=True, help="Commit to compare with")
@click.option("--details", is_flag=True, help="Also show the decoded bytes")
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "markdown"]),
    default="terminal",
    show_default=True,
    help="Output format",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help=_OUTPUT)
@click.option("--fail-on", multiple=True, type=click.Choice(FAIL_ON), help=_FAILS)
def check(
    files: Sequence[str],
    *,
    against: str,
    details: bool,
    form: str,
    output: Path | None,
    fail_on: Sequence[str],
) -> None:
    """Compare each FILE with its committed version, for hooks and CI.

    A new file, or one whose committed version does not compile, only has to compile.
    """
    from sispec.sources import GitError, version_at  # noqa: PLC0415  # takes time

    chosen = [*dict.fromkeys(files)]
    try:
        earlier = [version_at(file, against) for file in chosen]
    except GitError as error:
        ends(str(error), WRONG)
    received, codes = [], []
    for new, before in zip(read(*chosen), earlier, strict=True):
        found = _since(before, new)
        codes.append(code_of(found, fail_on) if found else 0)
        received.append(
            shown(found, form, codes[-1], details=details, coloured=output is None)
            if found
            else _not_compared(new, before)
        )
    write("\n".join(received), output)
    sys.exit(max(codes))


def _since(before: str | None, new: "Spec") -> "Report | None":
    """Return the report on a file, or None if it is new or did not compile before."""
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time

    from sispec.report import report  # noqa: PLC0415  # protobuf takes time

    old = read_earlier(before)
    return None if old is None else report(old, new, tuple(catalogue().values()))


def _not_compared(new: "Spec", before: str | None) -> str:
    from sispec.layout import not_compared  # noqa: PLC0415  # protobuf takes time

    return f"{not_compared(new, before)}\n"
