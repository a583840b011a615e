"""The command ``check-trace``: evaluate a recorded exchange."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from siconform import shutdown
from siconform.commands.ending import ends, wrong
from siconform.commands.revision_option import REVISION, known_revision
from siconform.policy import ExitCode

if TYPE_CHECKING:
    from siconform.monitors.trace_result import RequirementResult, Totals, TraceResult, Violation


@click.command(
    "check-trace",
    epilog="Exit codes: 0 no MUST is violated, 1 a MUST is violated, 4 the trace is unusable, 12 "
    "no requirement was exercised. Ctrl-C ends --follow.",
)
@click.argument("source", metavar="FILE|DIR|-")
@REVISION
@click.option("--without", multiple=True, metavar="FEATURE", help="Feature the scheduler lacks")
@click.option("--follow", is_flag=True, help="Continue with what is appended and with new files")
@click.option(
    "--results", type=click.Path(path_type=Path), metavar="DIR", help="Folder for the report"
)
def check_trace(
    *, source: str, revision: str, without: Sequence[str], follow: bool, results: Path | None
) -> None:
    """Check a recorded exchange against all rules that hold over every exchange.

    This shows violations. It cannot show conformance: what was not exercised was not tested.
    """
    from siconform.monitors import traces  # noqa: PLC0415  # imports grpc

    known = known_revision(revision)
    try:
        result = traces.check_trace(
            source, known, without, follow=follow, violated=_show if follow else None
        )
    except traces.UnusableTrace as error:
        wrong(str(error))
    code = _code(result)
    if follow:
        shutdown.settle(code)  # Ctrl-C is its usual end
    for one in result.requirements:
        click.echo(_line(one, result))
    for sentence in _remarks(result.totals):
        click.echo(sentence)
    if results is not None:
        pass  # the report is written here
    click.echo(_summary(result))
    if code is ExitCode.NOTHING_RAN:
        ends(f"{source} exercised no requirement", code)
    sys.exit(code)


def _code(result: "TraceResult") -> ExitCode:
    if result.violates_a_must:
        return ExitCode.NON_CONFORMANT
    is_exercised = any(one.held or one.violated for one in result.requirements)
    return ExitCode.OK if is_exercised else ExitCode.NOTHING_RAN


def _show(violation: "Violation", requirements: Sequence[str]) -> None:
    """Report a violation while the trace is followed."""
    position = violation.position
    where = f"{position.file}, line {position.line}"
    click.echo(f"{', '.join(requirements)} violated, {where}: {violation.message}")


def _line(one: "RequirementResult", result: "TraceResult") -> str:
    requirement = f"{one.requirement.id:<12} {one.requirement.level:<6} "
    if one.violations:
        first = one.violations[0]
        where = f"line {first.position.line}"
        if len(result.files) > 1:
            where = f"{first.position.file}, {where}"
        more = f" (and {one.violated - 1} more)" if one.violated > 1 else ""
        return f"{requirement} violated, {where}: {first.message}{more}"
    times = f"{one.held} time{'s' * (one.held > 1)}"
    return f"{requirement} " + (f"held {times}" if one.held else "not exercised")


def _remarks(totals: "Totals") -> Iterator[str]:
    """Yield what the trace does not show."""
    for cut in totals.cut_off:
        yield f"{cut.file}, line {cut.line} is cut off; the lines before it count"
    if totals.dropped:
        yield f"{totals.dropped} messages were dropped by the writer"
    for rm, elements in sorted(totals.unknown.items()):
        yield (
            f"{elements} elements of RM {rm} are about what may have begun before the trace or a "
            "gap in it; only rules about a single message were checked for them"
        )
    if totals.forgotten:
        yield f"{totals.forgotten} elements are about what ended long before and was forgotten"


def _summary(result: "TraceResult") -> str:
    from siconform.monitors.trace_result import TraceVerdict  # noqa: PLC0415  # imports grpc

    counts = ", ".join(f"{len(result.of(verdict))} {verdict}" for verdict in TraceVerdict)
    totals = result.totals
    return (
        f"{totals.messages} messages, {totals.elements} elements, {len(totals.rms)} RMs, "
        f"{totals.seconds:.0f} s\n{counts} (SI {result.revision})"
    )
