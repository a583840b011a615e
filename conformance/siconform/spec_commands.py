"""The commands ``siconform spec``: read a text of the SI, say what a change of it breaks."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

if TYPE_CHECKING:
    from siconform.spec.model import Spec
    from siconform.spec.report import Report

Command = TypeVar("Command", bound=Callable[..., Any])
BREAKING, UNREADABLE, WRONG = 1, 2, 4  # exit codes; 0 where all is well
_FAIL_ON = ("misread", "wire", "json", "source", "rules")
_FAILS = "What counts as breaking; several times for several (default: all but rules)."
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


def _of_reports(command: Command) -> Command:
    """Arguments and options of the commands that print a report."""
    shown = click.Choice(["terminal", "markdown", "json"])
    for decorate in (
        click.option("--details", is_flag=True, help="Bytes, tests, faults and code, too."),
        click.option("--format", "form", type=shown, default="terminal", show_default=True),
        click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it there."),
        click.option("--fail-on", multiple=True, type=click.Choice(_FAIL_ON), help=_FAILS),
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

    (spec,) = _read(text)
    try:
        written = write(spec, output)
    except UnreadableSpec as error:
        _ends(str(error), UNREADABLE)
    except OccupiedFolder as error:
        _ends(str(error), WRONG)
    except OSError as error:
        _ends(_unwritable(output, error), WRONG)
    for guess in spec.guesses:
        click.echo(f"{spec.name}: {guess}", err=True)
    click.echo(extracted(spec))
    click.echo("\n".join(str(path) for path in written))


@spec_group.command(help=f"Say what the change from OLD to NEW breaks. {_SIDES}", epilog=_CODES)
@_of_reports
def diff(old: str, new: str, **how: Any) -> None:
    """Compare two specifications."""
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time
    from siconform.spec.report import report  # noqa: PLC0415  # protobuf takes time

    before, after = _read(old, new)
    _tell(report(before, after, tuple(catalogue().values())), **how)


@spec_group.command(
    help=f"Say what the change from OLD to NEW breaks, and what of this project it touches: "
    f"requirements, tests, code, faults, published results. {_SIDES}",
    epilog=_CODES,
)
@_of_reports
def impact(old: str, new: str, **how: Any) -> None:
    """Compare two specifications, and say what stands on what is changed."""
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time
    from siconform.running.index import cited  # noqa: PLC0415  # imports pytest and grpc
    from siconform.spec.checkout import CheckoutError, find_checkout  # noqa: PLC0415  # as above
    from siconform.spec.report import report  # noqa: PLC0415  # protobuf takes time

    before, after = _read(old, new)
    try:
        checkout = find_checkout()
    except CheckoutError as error:
        _ends(str(error), WRONG)
    requirements = tuple(catalogue().values())
    _tell(report(before, after, requirements, tests=cited(), checkout=checkout), **how)


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
@click.option("--fail-on", multiple=True, type=click.Choice(_FAIL_ON), help=_FAILS)
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
    from siconform.catalogue import catalogue  # noqa: PLC0415  # takes time
    from siconform.spec.former import NoFormer, former_of  # noqa: PLC0415  # the same
    from siconform.spec.layout import not_compared  # noqa: PLC0415  # protobuf takes time
    from siconform.spec.report import report  # noqa: PLC0415  # the same

    chosen = [*dict.fromkeys(files)]
    told, code = [], 0
    try:
        formers = [former_of(file, against) for file in chosen]
    except NoFormer as error:
        _ends(str(error), WRONG)
    for new, former in zip(_read(*chosen), formers, strict=True):
        old = _read_former(former)
        if old is None:
            told.append(f"{not_compared(new, former)}\n")
            continue
        found = report(old, new, tuple(catalogue().values()))
        one = BREAKING if found.breaks(fail_on or _FAIL_ON[:-1]) else 0
        told.append(_shown(found, form, one, details=details, coloured=output is None))
        code = max(code, one)
    _say("\n".join(told), output)
    sys.exit(code)


def _read_former(argument: str | None) -> "Spec | None":
    """What a file was; None where it is new or did not compile, which is said."""
    from siconform.spec.model import UnreadableSpec  # noqa: PLC0415  # protobuf takes time
    from siconform.spec.sources import read_spec  # noqa: PLC0415  # the same

    if argument is None:
        return None
    try:
        return read_spec(argument)
    except UnreadableSpec as error:
        _warn(str(error))
        return None


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
        _ends("a revision is laid down in a checkout of the kit: run the one of a clone", WRONG)
    spec, *older = _read(text, *([old] if old else []))
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
                _ends(f"nothing is written, as proto/generate.py failed: {complaint}", WRONG)
    except UnreadableSpec as error:
        _ends(str(error), UNREADABLE)
    except (NotLaidError, OSError) as error:
        _ends(f"nothing is written: {error}", WRONG)
    click.echo("\n".join(telling.written_lines(planned)))
    click.echo()
    click.echo("\n".join(telling.decision_lines(planned)))
    click.echo()
    click.echo("\n".join(telling.step_lines(planned, is_generated=is_generated)))


def _read(*arguments: str) -> "tuple[Spec, ...]":
    """What the arguments name; where one cannot be read all that is wrong with any is said."""
    from siconform.spec.buf import NoCompiler  # noqa: PLC0415  # protobuf takes time
    from siconform.spec.model import UnreadableSpec  # noqa: PLC0415  # the same
    from siconform.spec.sources import read_spec  # noqa: PLC0415  # the same

    found, wrong = [], []
    for argument in dict.fromkeys(arguments):
        try:
            found.append(read_spec(argument))
        except UnreadableSpec as error:
            wrong.append(str(error))
        except NoCompiler as error:
            _ends(str(error), WRONG)
    if wrong:
        _ends("\n".join(wrong), UNREADABLE)
    return (*found, *found) if len(found) < len(arguments) else tuple(found)


def _tell(
    report: "Report",
    *,
    details: bool,
    form: str,
    output: Path | None,
    fail_on: Sequence[str],
) -> NoReturn:
    code = BREAKING if report.breaks(fail_on or _FAIL_ON[:-1]) else 0
    text = _shown(report, form, code, details=details, coloured=output is None)
    _say(text, output)
    sys.exit(code)


def _say(text: str, output: Path | None) -> None:
    """The file appears whole or not at all, and an older one stays until then."""
    if output is None:
        click.echo(text, nl=False)
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
        _ends(_unwritable(output, error), WRONG)


def _unwritable(path: Path, error: OSError) -> str:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"{path} cannot be written: what should be its folder is none"
    return f"{path} cannot be written: {error.strerror}"


def _shown(report: "Report", form: str, code: int, *, details: bool, coloured: bool) -> str:
    from siconform.spec import json_report, markdown, terminal  # noqa: PLC0415  # takes time

    if form == "json":
        return json_report.to_json(report, code)
    if form == "markdown":
        return markdown.to_markdown(report)
    width = min(terminal.WIDTH, shutil.get_terminal_size((terminal.WIDTH, 24)).columns)
    lines = terminal.report_lines(report, details=details, width=max(width, 40))
    told = [_coloured(line.text, line.colour) if coloured else line.text for line in lines]
    return "".join(f"{line}\n" for line in told)


def _coloured(text: str, colour: str) -> str:
    if colour == "bold":
        return click.style(text, bold=True)
    return click.style(text, fg=colour) if colour else text


def _ends(sentences: str, code: int) -> NoReturn:
    _warn(sentences)
    sys.exit(code)


def _warn(sentences: str) -> None:
    for sentence in sentences.splitlines():
        click.echo(f"siconform: {sentence}", err=True)
