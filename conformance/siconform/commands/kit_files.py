"""Commands about files of the kit: named schedulers and queue configurations."""

import click

from siconform import shipped
from siconform.baseline import BaselineError, read_baseline
from siconform.catalogue import Side
from siconform.commands.errors import wrong
from siconform.protocol.queue_configurations import policy_groups
from siconform.targets import TargetUnavailable
from siconform.targets.named import NamedTarget, all_named
from siconform.verdicts import Verdict


@click.command(name="targets")
def list_targets() -> None:
    """List the schedulers and RMs that the kit can build.

    Test one with siconform run --target NAME@VERSION or, if it is an RM, --rm NAME@VERSION.
    """
    try:
        known = [one for side in Side for one in all_named(side)]
        rows = [(t.full_name, str(t.revision), _deviations(t), t.title) for t in known]
    except (TargetUnavailable, BaselineError) as error:
        wrong(str(error))
    width = max((len(row[0]) for row in rows), default=0)
    for name, revision, deviations, title in rows:
        click.echo(f"{name:<{width}}   SI {revision}   {deviations:>20}   {title}")
    click.echo(f"built in {shipped.builds()}; default target: the embedded reference")


def _complete(
    ctx: click.Context,  # noqa: ARG001  # click's signature
    param: click.Parameter,  # noqa: ARG001  # the same
    incomplete: str,
) -> list[str]:
    return [name for name in policy_groups() if name.startswith(incomplete)]


@click.command()
@click.argument("name", default="", shell_complete=_complete)
def queues(name: str) -> None:
    """List the queue configurations of the suite, or print one.

    Print one to configure a scheduler that accepts none from its RM: siconform queues conformance.
    """
    if not name:
        for one, file in policy_groups().items():
            click.echo(f"{one:<28}  {file}")
        return
    if name not in policy_groups():
        wrong(f'unknown queue configuration "{name}"; known: {", ".join(policy_groups())}')
    click.echo(policy_groups()[name].read_text("utf-8"), nl=False)


def _deviations(target: NamedTarget) -> str:
    if target.baseline is None:
        return "no baseline"
    entries = read_baseline(target.baseline).in_revision(target.revision.name).entries
    return Verdict.BASELINED.counted(len({one.requirement for one in entries if not one.flaky}))
