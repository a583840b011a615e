"""The command ``siconform spec try``: runs the suite with an edited specification."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click
from siconform import shutdown
from siconform.config.click_options import (
    OF_RM_RUNS,
    TargetCommand,
    by_flag,
    of_the_target,
    words_of,
)
from siconform.config.option_list import TARGET_FILE
from siconform.config.option_values import NONE
from siconform.policy import ExitCode

from sispec.command_output import BREAKING, UNREADABLE, ends, read, write

if TYPE_CHECKING:
    from sispec.trying.trial_run import TrialOptions

_CODES: Final = (
    "Exit codes: 0 nothing breaks, 1 something fails because of the change or can no longer be "
    "sent, 2 the specification cannot be read, does not compile or resembles no revision, 4 "
    "usage error, 12 the scheduler cannot be reached."
)
_FORMS: Final = ("terminal", "markdown", "json")


@click.command(name="try", cls=TargetCommand, epilog=_CODES)
@click.argument("text", metavar="FILE")
@click.option("-k", "expression", metavar="EXPRESSION", help="Only matching tests, as in pytest")
@click.option("-n", "workers", metavar="NUMBER", help="Number of workers, as in pytest")
@click.option("--every-test", is_flag=True, help="Do not stop after many failures")
@click.option(
    "--results",
    default="build/spec-try",
    show_default=True,
    metavar="DIR",
    help="Results folder of the runs",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    default="terminal",
    show_default=True,
    help="Output format",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Output file (default: standard output)"
)
@click.option("--revision", help="Revision of the suite (default: the nearest to FILE)")
@of_the_target(without=OF_RM_RUNS | {"--revision"})
def try_(
    text: str,
    *,
    expression: str | None,
    workers: str | None,
    every_test: bool,
    results: str,
    form: str,
    output: Path | None,
    revision: str | None,
    **target: Any,
) -> None:
    """Run the suite with the messages of FILE, an edited specification.

    The RM translates the requests of the nearest revision into the messages of FILE, matching
    fields by name. The scheduler (default: the embedded reference) implements the revision. The
    result shows the effect on existing schedulers: what still passes, what fails because of the
    change, and what can no longer be sent.
    """
    from sispec.trying.trial_run import TrialOptions  # noqa: PLC0415  # protobuf takes time

    shutdown.on_interrupt("nothing was compared")
    how = TrialOptions(
        target=_target(target),
        selection=_selection({"-k": expression, "-n": workers}),
        results=Path(results),
        revision=revision,
        every_test=every_test,
    )
    _try(text, how, form, output)


def _selection(chosen: dict[str, str | None]) -> tuple[str, ...]:
    return tuple(w for flag, v in chosen.items() if v is not None for w in (flag, v))


def _target(given: dict[str, Any]) -> tuple[str, ...]:
    """Return the target options, completed from the target file."""
    from siconform.config.option_values import BadOption  # noqa: PLC0415  # the same
    from siconform.config.options import settings_from  # noqa: PLC0415  # imports grpc
    from siconform.config.target_file_options import fill_in  # noqa: PLC0415  # the same

    values = by_flag(given)
    try:
        fill_in(values)
        settings_from(values.get)
    except (LookupError, BadOption) as error:
        ends(str(error), ExitCode.USAGE)
    return tuple(words_of(values | {TARGET_FILE: NONE}))


def _try(text: str, how: "TrialOptions", form: str, output: Path | None) -> NoReturn:
    from sispec.model import UnreadableSpec  # noqa: PLC0415  # protobuf takes time
    from sispec.trying.showing import shown  # noqa: PLC0415  # the same
    from sispec.trying.trial_run import NotTried, try_text  # noqa: PLC0415  # the same

    (spec,) = read(text)
    try:
        trial = try_text(spec, how, _doing)
    except UnreadableSpec as error:
        ends(str(error), UNREADABLE)
    except NotTried as error:
        ends(str(error), error.code)
    write(shown(trial, form), output)
    sys.exit(BREAKING if trial.breaks else 0)


def _doing(what: str) -> None:
    click.echo(f"siconform: {what}", err=True)
