"""The commands ``siconform spec``: read a text of the SI, say what a change of it breaks."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from siconform.commands.spec_output import (
    FAIL_ON,
    UNREADABLE,
    WRONG,
    code_of,
    ends,
    read,
    read_former,
    say,
    shown,
    tell,
    unwritable,
)
from siconform.commands.try_command import try_

if TYPE_CHECKING:
    from siconform.spec.model import Spec
    from siconform.spec.report import Report

Command = TypeVar("Command", bound=Callable[..., Any])
_FAILS = "What fails, instead of all but changed rules; may be given several times."
_SIDES = (
    "Each side is a text (Markdown), a .proto file, a descriptor set, a revision (2024-10, 1.8) or "
    "git:REV:PATH in the repository around the current folder."
)
_CODES = (
    "Exit codes: 0 compatible, 1 breaking, 2 a text cannot be read or does not compile, 4 wrong "
    "usage."
)


@click.group(name="spec")
def spec_group() -> None:
    """Say what a change of the SI breaks, from its texts."""


spec_group.add_command(try_)


def _of_reports(command: Command) -> Command:
    """Arguments and options of the commands that print a report."""
    forms = click.Choice(["terminal", "markdown", "json"])
    for decorate in (
        click.option("--details", is_flag=True, help="Bytes, tests, faults and code, too."),
        click.option("--format", "form", type=forms, default="terminal", show_default=True),
        click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it there."),
        click.option("--fail-on", multiple=True, type=click.Choice(FAIL_ON), help=_FAILS),
        click.argument("new"),
        click.argument("old"),
    ):
        command = decorate(command)
    return command


@spec_group.command(epilog=_CODES)
@click.argument("text")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="build/spec",
    show_default=True,
    help="A folder that is new, empty or of an earlier extraction.",
)
def extract(text: str, output: Path) -> None:
    """Write what a TEXT declares: si.proto, a descriptor set (si.binpb), constants.json."""
    from siconform.spec.extract import OccupiedFolder  # noqa: PLC0415  # protobuf takes time
    from siconform.spec.extract import extract as write  # noqa: PLC0415  # the same
    from siconform.spec.layout import extracted  # noqa: PLC0415  # the same
    from siconform.spec.model import UnreadableSpec  # noqa: PLC0415  # the same

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


@spec_group.command(help=f"Say what the change from OLD to NEW breaks. {_SIDES}", epilog=_CODES)
@_of_reports
def diff(old: str, new: str, **how: Any) -> None:
    """Compare two specifications."""
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time
    from siconform.spec.report import report  # noqa: PLC0415  # protobuf takes time

    before, after = read(old, new)
    tell(report(before, after, tuple(catalogue().values())), **how)


@spec_group.command(
    help=f"Say what the change from OLD to NEW breaks, and what of this project it touches: "
    f"requirements, tests, code, faults, published results. {_SIDES}",
    epilog=_CODES,
)
@_of_reports
def impact(old: str, new: str, **how: Any) -> None:
    """Compare two specifications, and say what stands on what is changed."""
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time
    from siconform.spec.checkout import CheckoutError, find_checkout  # noqa: PLC0415  # as above
    from siconform.spec.report import report  # noqa: PLC0415  # protobuf takes time

    before, after = read(old, new)
    try:
        checkout = find_checkout()
    except CheckoutError as error:
        ends(str(error), WRONG)
    requirements = tuple(catalogue().values())
    tell(report(before, after, requirements, with_impact=True, checkout=checkout), **how)


@spec_group.command(epilog=_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--against", default="HEAD", show_default=True, help="The commit to compare with.")
@click.option("--details", is_flag=True, help="The bytes that were decoded, too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "markdown"]),
    default="terminal",
    show_default=True,
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it there.")
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
    """Compare each FILE with what it was in git, as hooks and CI do.

    A file that is new, or that mends one which did not compile, has to compile and no more.
    """
    from siconform.spec.former import NoFormer, former_of  # noqa: PLC0415  # takes time

    chosen = [*dict.fromkeys(files)]
    try:
        formers = [former_of(file, against) for file in chosen]
    except NoFormer as error:
        ends(str(error), WRONG)
    told, codes = [], []
    for new, former in zip(read(*chosen), formers, strict=True):
        found = _since(former, new)
        codes.append(code_of(found, fail_on) if found else 0)
        told.append(
            shown(found, form, codes[-1], details=details, coloured=output is None)
            if found
            else _not_compared(new, former)
        )
    say("\n".join(told), output)
    sys.exit(max(codes))


def _since(former: str | None, new: "Spec") -> "Report | None":
    """What became of a file; None where it is new or did not compile."""
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time
    from siconform.spec.report import report  # noqa: PLC0415  # protobuf takes time

    old = read_former(former)
    return None if old is None else report(old, new, tuple(catalogue().values()))


def _not_compared(new: "Spec", former: str | None) -> str:
    from siconform.spec.layout import not_compared  # noqa: PLC0415  # protobuf takes time

    return f"{not_compared(new, former)}\n"


@spec_group.command(epilog="Exit codes: 0 done, 2 the text cannot be read, 4 refused.")
@click.argument("name")
@click.option("--from", "text", required=True, help="The specification text of the revision.")
@click.option("--old", help="The newest revision's text: rules are then new beside its rules.")
@click.option("--dry-run", is_flag=True, help="Write nothing, say what would be written.")
def new(name: str, text: str, old: str | None, *, dry_run: bool) -> None:
    """Lay down what a new revision NAME (2027-01) needs in this checkout.

    Declaration, records, golden files, modules that go on with the older ones, sources of
    requirements that moved; and a list of what a person must decide.
    """
    from siwire import REVISIONS  # noqa: PLC0415  # protobuf takes time

    from siconform.catalogue import catalogue  # noqa: PLC0415  # the same
    from siconform.spec.checkout import find_root  # noqa: PLC0415  # the same
    from siconform.spec.laying import telling, writing  # noqa: PLC0415  # the same
    from siconform.spec.laying.plan import Known, plan  # noqa: PLC0415  # the same
    from siconform.spec.laying.source_edits import NotLaidError  # noqa: PLC0415  # the same
    from siconform.spec.model import UnreadableSpec  # noqa: PLC0415  # the same

    root = find_root()
    if root is None:
        ends("a revision is laid down in a checkout of the kit: run the one of a clone", WRONG)
    spec, *older = read(text, *([old] if old else []))
    files = writing.read_checkout(root)
    known = Known(tuple(REVISIONS.values()), tuple(catalogue().values()), files)
    is_generated = False
    try:
        planned = plan(spec, name, known, older[0] if older else None)
        if not dry_run:
            writing.write(planned, root, files)
            is_generated = writing.can_generate()
            complaint = writing.generate(root) if is_generated else ""
            if complaint:
                writing.take_back(planned, root, files)
                ends(f"nothing is written, as proto/generate.py failed: {complaint}", WRONG)
    except UnreadableSpec as error:
        ends(str(error), UNREADABLE)
    except (NotLaidError, OSError) as error:
        ends(f"nothing is written: {error}", WRONG)
    click.echo("\n".join(telling.written_lines(planned)))
    click.echo()
    click.echo("\n".join(telling.decision_lines(planned)))
    click.echo()
    click.echo("\n".join(telling.step_lines(planned, is_generated=is_generated)))
