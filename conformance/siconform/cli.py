"""The command ``siconform``: run the suite, list and explain requirements."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from siwire import find_revision, note_on

from siconform import guarding
from siconform.catalogue import AREAS, Level, Side, catalogue, find_requirement
from siconform.commands.certificate_commands import certify, verify
from siconform.commands.ending import wrong
from siconform.commands.kit_files import list_targets, queues
from siconform.commands.results_commands import compare, page
from siconform.commands.spec_commands import spec_group
from siconform.listing import Filters, render_explanation, render_list
from siconform.policy import EXIT_CODES
from siconform.running.click_options import of_the_target
from siconform.running.completion import RunCommand, complete_ids, complete_run
from siconform.running.option_list import OPTIONS

_PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_COUNT = click.IntRange(min=1)
_SECONDS = click.FloatRange(min=0)


class _Command(click.Group):
    """Wrong options of the kit's own commands end with the same code as those of a run."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; wrong ones get one sentence, and so does what is our own fault."""
        with guarding.crashes():
            try:
                return super().main(*args, **{**kwargs, "standalone_mode": False})
            except click.Abort:
                sys.exit(2)
            except click.exceptions.NoArgsIsHelpError as error:
                click.echo(error.format_message())
            except click.ClickException as error:
                wrong(error.format_message())


@click.group(cls=_Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="si-conformance", prog_name="siconform")
def main() -> None:
    """Judge a scheduler by the Scheduler Interface, requirement by requirement."""


main.add_command(spec_group)
main.add_command(page)
main.add_command(compare)
main.add_command(list_targets)
main.add_command(queues)
main.add_command(certify)
main.add_command(verify)


@main.command(cls=RunCommand, context_settings=_PASS_ON, add_help_option=False)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, shell_complete=complete_run)
def run(options: Sequence[str]) -> None:
    """Run the suite against a scheduler (without --target: the embedded reference)."""
    if {"-h", "--help"} & set(options):
        click.echo(_run_help())
        return
    from siconform.running import launching  # noqa: PLC0415  # pytest takes time to import
    from siconform.running.options import BadOption  # noqa: PLC0415  # the same

    try:
        sys.exit(launching.run(options))
    except (launching.NoSuchTest, BadOption) as error:
        wrong(str(error))


@main.command(name="list")
@click.option("--untested", is_flag=True, help="Only those without a test.")
@click.option("--side", type=click.Choice([s.value for s in Side]), help="Whose behaviour.")
@click.option("--area", "areas", multiple=True, help="Such as NODE; may be given several times.")
@click.option("--level", type=click.Choice([v.value for v in Level], case_sensitive=False))
@click.option("--revision", default="", help="Only those of this revision.")
def list_requirements(
    *, untested: bool, side: str | None, areas: Sequence[str], level: str | None, revision: str
) -> None:
    """List the requirements of the catalogue."""
    from siconform.running.index import cited  # noqa: PLC0415  # imports protobuf

    chosen = frozenset(area.upper() for area in areas)
    unknown = sorted(chosen - set(AREAS))
    if unknown:
        wrong(f'"{unknown[0]}" is no area. Known: {", ".join(AREAS)}.')
    try:
        name = find_revision(revision).name if revision else ""
    except LookupError as error:
        wrong(str(error))
    if note := note_on(revision):
        click.echo(f"siconform: {note}", err=True)
    filters = Filters(
        untested=untested,
        side=Side(side) if side else None,
        areas=chosen,
        level=Level(level.upper()) if level else None,
        revision=name,
    )
    click.echo(render_list(catalogue().values(), cited(), filters))


@main.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids)
def explain(ids: Sequence[str]) -> None:
    """Say everything about requirements: text, reading, sources, tests, known deviations."""
    from siconform.running.index import cited  # noqa: PLC0415  # imports protobuf
    from siconform.running.prior_results import known_results  # noqa: PLC0415  # reads records

    try:
        requirements = [find_requirement(identifier) for identifier in ids]
    except LookupError as error:
        wrong(str(error))
    told = [render_explanation(r, cited().get(r.id, ()), known_results(r.id)) for r in requirements]
    click.echo("\n\n".join(told))


@main.command()
@click.option(
    "--histories", "--examples", type=_COUNT, default=100, show_default=True, help="At most."
)
@click.option(
    "--steps", type=_COUNT, default=30, show_default=True, help="In each history, at most."
)
@click.option(
    "--time", "seconds", type=_SECONDS, default=120.0, show_default=True, help="Seconds, at most."
)
@click.option("--seed", type=int, help="To make the same histories again (default: any).")
@click.option("--results", default="build/exploring", show_default=True, help="For what is found.")
@of_the_target()
def explore(
    *, histories: int, steps: int, seconds: float, seed: int | None, results: str, **target: Any
) -> None:
    """Look for trouble: arbitrary legal histories, and the smallest that goes wrong."""
    from siconform.exploring import commands  # noqa: PLC0415  # imports pytest, grpc, hypothesis
    from siconform.exploring.exploration import Budget  # noqa: PLC0415  # the same

    budget = Budget(histories, steps, seconds)
    sys.exit(commands.explores(target, budget, seed, results))


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--results", default="build/replaying", show_default=True, help="For the target's log."
)
@of_the_target()
def replay(file: Path, results: str, **target: Any) -> None:
    """Say again what the RM says in a history (JSON lines) and judge what comes."""
    from siconform.exploring import commands  # noqa: PLC0415  # imports pytest, grpc, hypothesis

    sys.exit(commands.replays(target, file, results))


@main.command()
@click.option("--results", default="build/doctor", show_default=True, help="For what was found.")
@click.option("--jobs", type=click.IntRange(min=1), help="How many at a time (default: by cores).")
def doctor(*, results: str, jobs: int | None) -> None:
    """See that the kit works here: faulty schedulers are noticed, a legal one is not.

    Schedulers that schedule nothing pass no MUST they do not keep, one fault of each area is
    noticed, and a liberty is not. The exit code is 1 where something else comes of it.
    """
    from siconform.doctor.examining import examine, workers  # noqa: PLC0415  # imports grpc

    is_right = True
    for one in examine(Path(results).absolute(), jobs or workers()):
        mark = "ok   " if one.is_right else "WRONG"
        click.echo(f"{mark}  {one.subject:<34} {one.seconds:5.1f} s  {one.found}")
        is_right = is_right and one.is_right
    click.echo("the kit can be believed here" if is_right else "the kit cannot be believed here")
    sys.exit(not is_right)


def _run_help() -> str:
    formatter = click.HelpFormatter(width=100)
    formatter.write_usage("siconform run", "[OPTIONS] [PYTEST OPTIONS] [TESTS]")
    formatter.write_paragraph()
    formatter.write_text("Run the suite against a scheduler and judge it.")
    with formatter.section("Options"):
        formatter.write_dl([(f"{o.flag} {o.metavar}".strip(), o.help) for o in OPTIONS])
    formatter.write_paragraph()
    formatter.write_text(
        "Every option of pytest works too, such as -k gang, -k SI-NODE-004, -n 4, -x, -v, -q, "
        "--alluredir DIR."
    )
    formatter.write_paragraph()
    formatter.write_text(
        "Exit codes: " + "; ".join(f"{int(code)} {told}" for code, told in EXIT_CODES.items()) + "."
    )
    return formatter.getvalue().rstrip()
