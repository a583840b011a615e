"""The command line ``siconform``."""

import random
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from siconform import internal_errors, shutdown
from siconform.commands.catalogue_commands import explain, list_profiles, list_requirements
from siconform.commands.certificate_commands import certify, verify
from siconform.commands.check_command import check
from siconform.commands.errors import ends, sentence, wrong
from siconform.commands.init_command import init
from siconform.commands.kit_files import list_targets, queues
from siconform.commands.record_command import record
from siconform.commands.report_command import report
from siconform.commands.results_commands import compare, page
from siconform.commands.target_file_command import target_file
from siconform.commands.trace_commands import check_trace
from siconform.config.click_options import (
    RunCommand,
    TargetCommand,
    complete_run,
    of_the_target,
)
from siconform.config.option_list import GROUPS
from siconform.policy import EXIT_CODES, ExitCode

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

_PASS_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_count = partial(click.option, type=click.IntRange(min=1), show_default=True)
_SECONDS = click.FloatRange(min=0)


class _Command(click.Group):
    """The command group; usage errors have the same exit code in all commands.

    Packages beside the kit add commands by the entry point group ``siconform.commands``.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted({*super().list_commands(ctx), *_of_other_packages().names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, None if there is none of this name."""
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in _of_other_packages().names:
            found = self.commands[cmd_name] = _of_other_packages()[cmd_name].load()
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke the command; click would write an empty line if it is interrupted."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; report usage errors and internal errors in one sentence."""
        with internal_errors.crashes():
            try:
                return super().main(*args, **{**kwargs, "standalone_mode": False})
            except click.Abort:
                sys.exit(2)
            except click.exceptions.NoArgsIsHelpError as error:
                click.echo(error.format_message())
            except click.ClickException as error:
                wrong(sentence(error))


def _of_other_packages() -> "EntryPoints":
    from importlib.metadata import entry_points  # noqa: PLC0415  # takes time

    return entry_points(group="siconform.commands")


@click.group(cls=_Command, context_settings=_HELP)
@click.version_option(package_name="si-conformance", prog_name="siconform")
def main() -> None:
    """Test schedulers and resource managers of the YuniKorn Scheduler Interface (SI)."""
    shutdown.on_interrupt("")


main.add_command(init)
main.add_command(check)
main.add_command(list_requirements)
main.add_command(explain)
main.add_command(list_profiles)
main.add_command(page)
main.add_command(report)
main.add_command(compare)
main.add_command(list_targets)
main.add_command(queues)
main.add_command(target_file)
main.add_command(certify)
main.add_command(verify)
main.add_command(record)
main.add_command(check_trace)


@main.command(cls=RunCommand, context_settings=_PASS_ON, add_help_option=False)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, shell_complete=complete_run)
def run(options: Sequence[str]) -> None:
    """Test a scheduler, or a resource manager, with the suite."""
    if {"-h", "--help"} & set(options):
        click.echo(_run_help())
        return
    if {"-V", "--version"} & set(options):
        main(["--version"], prog_name="siconform")
    shutdown.on_interrupt("nothing was tested")
    from siconform.commands import launching  # noqa: PLC0415  # pytest takes time to import
    from siconform.config.last_failed import NothingToRepeat  # noqa: PLC0415  # the same
    from siconform.config.option_values import BadOption  # noqa: PLC0415  # the same

    try:
        sys.exit(launching.run(options))
    except NothingToRepeat as error:
        ends(str(error), ExitCode.NOTHING_SELECTED)
    except (launching.NoSuchTest, BadOption) as error:
        wrong(str(error))


@main.command(
    cls=TargetCommand,
    epilog="Exit codes: 0 no failure found, 1 a failure found, 2 interrupted, 4 usage error, 10 a "
    "seed could not be explored, 12 the scheduler cannot be reached, 13 internal error.",
)
@_count("--histories", "--examples", default=100, help="Maximum number of histories")
@_count("--steps", default=30, help="Maximum steps per history")
@click.option(
    "--time",
    "seconds",
    type=_SECONDS,
    default=120.0,
    show_default=True,
    help="Time limit in seconds",
)
@click.option("--seed", type=int, help="Seed of the histories (default: random)")
@_count("--seeds", default=1, help="Number of seeds from --seed on; the other limits are for each")
@click.option(
    "--workers",
    default="1",
    show_default=True,
    metavar="N|dask:HOST:PORT",
    help="Processes, or the scheduler of a Dask cluster, that share the seeds",
)
@click.option(
    "--results",
    default="build/exploring",
    show_default=True,
    metavar="DIR",
    help="Results folder",
)
@of_the_target()
def explore(
    *,
    histories: int,
    steps: int,
    seconds: float,
    seed: int | None,
    seeds: int,
    workers: str,
    results: str,
    **target: Any,
) -> None:
    """Run random histories of requests and minimise failures."""
    from siconform.exploring import commands  # noqa: PLC0415  # imports pytest, grpc, hypothesis
    from siconform.exploring.exploration import Budget  # noqa: PLC0415  # the same

    budget = Budget(histories, steps, seconds)
    first = random.randrange(2**32) if seed is None else seed  # noqa: S311  # no secret
    sys.exit(commands.explores(target, budget, range(first, first + seeds), workers, results))


@main.command(
    cls=TargetCommand,
    epilog="Exit codes: 0 the failure does not occur again, 1 it does, 2 interrupted, 4 usage "
    "error, 10 the messages alone cannot decide, 12 the scheduler cannot be reached, 13 internal "
    "error.",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--results",
    default="build/replaying",
    show_default=True,
    metavar="DIR",
    help="Folder of the target's log",
)
@of_the_target()
def replay(file: Path, results: str, **target: Any) -> None:
    """Replay the requests of a history and check the responses.

    FILE is the history of a failed test or of siconform explore, in JSON lines.
    """
    from siconform.exploring import commands  # noqa: PLC0415  # imports pytest, grpc, hypothesis

    sys.exit(commands.replays(target, file, results))


@main.command()
@click.option(
    "--results", default="build/doctor", show_default=True, metavar="DIR", help="Results folder"
)
@click.option("--jobs", type=click.IntRange(min=1), help="Parallel jobs (default: by cores)")
def doctor(*, results: str, jobs: int | None) -> None:
    """Self-test this installation.

    Schedulers that schedule nothing must pass no MUST that they violate, one mutant of each area
    must be detected, and a permitted variant must pass. Otherwise the exit code is 1.
    """
    from siconform.doctor.examining import examine, workers  # noqa: PLC0415  # imports grpc

    shutdown.on_interrupt("the self-test is incomplete")
    is_right = True
    for one in examine(Path(results).absolute(), jobs or workers()):
        mark = "ok   " if one.is_right else "WRONG"
        click.echo(f"{mark}  {one.subject:<34} {one.seconds:5.1f} s  {one.found}")
        is_right = is_right and one.is_right
    click.echo(
        "the self-test passed"
        if is_right
        else "the self-test failed: do not trust results of this installation"
    )
    sys.exit(not is_right)


def _run_help() -> str:
    formatter = click.HelpFormatter(width=100)
    formatter.write_usage("siconform run", "[OPTIONS] [PYTEST OPTIONS] [ID|AREA|TEST]...")
    formatter.write_paragraph()
    formatter.write_text(
        "Run the conformance suite against a scheduler (default: the embedded reference), or with "
        "--side rm, --rm-command or --listen against a resource manager (RM); or only the tests of "
        "the given requirements: siconform run SI-NODE-002 rel-3 APP."
    )
    for heading, options in GROUPS.items():
        with formatter.section(heading):
            formatter.write_dl([(f"{o.flag} {o.metavar}".strip(), o.help) for o in options])
    formatter.write_paragraph()
    formatter.write_text(
        "pytest options are accepted too, such as -k gang, -m waits, -n 4, -x, -v, -q, "
        "--alluredir DIR, except those that replace the suite or run no tests, such as --rootdir."
    )
    formatter.write_paragraph()
    formatter.write_text(
        "Exit codes: "
        + "; ".join(f"{int(code)} {received}" for code, received in EXIT_CODES.items())
        + "."
    )
    return formatter.getvalue().rstrip()
