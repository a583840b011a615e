"""Commands that read the catalogue: ``list``, ``explain`` and ``profiles``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
from siwire import find_revision, note_on

from siconform.catalogue import Requirement, Side, catalogue
from siconform.commands.errors import wrong
from siconform.config.click_options import by_flag, complete_ids, of_the_selection
from siconform.filters import find_meant, names_an_area, read_filters
from siconform.listing import render_explanation, render_list, render_profiles
from siconform.profiles import profiles


@click.command(name="list")
@click.argument("words", nargs=-1, metavar="[ID|AREA]...", shell_complete=complete_ids)
@click.option("--untested", is_flag=True, help="Only requirements without a test")
@click.option(
    "--side", type=click.Choice([s.value for s in Side]), help="Only requirements for this side"
)
@click.option("--revision", default="", help="Only requirements of this SI revision")
@of_the_selection
def list_requirements(
    *, words: Sequence[str], untested: bool, side: str | None, revision: str, **given: Any
) -> None:
    """List the requirements of the catalogue.

    The column "seen by" names what shows a requirement: plain messages, silence (a message must not
    come), and so on. siconform explain ID has it in words.
    """
    from siconform.running.index import citations  # noqa: PLC0415  # imports protobuf

    try:
        name = find_revision(revision).name if revision else ""
        filters = read_filters(words, by_flag(given), name)
    except LookupError as error:
        wrong(str(error))
    if note := note_on(revision):
        click.echo(f"siconform: {note}", err=True)
    filters = replace(filters, untested=untested, side=Side(side) if side else None, revision=name)
    click.echo(render_list(catalogue().values(), citations(), filters))


@click.command()
@click.argument("words", nargs=-1, metavar="[ID|AREA]...", shell_complete=complete_ids)
@of_the_selection
def explain(words: Sequence[str], **given: Any) -> None:
    """Show requirements in full, with sources, tests and results."""
    from siconform.commands.prior_results import known_results  # noqa: PLC0415  # reads records
    from siconform.running.index import citations  # noqa: PLC0415  # imports protobuf

    if not words and not any(given.values()):
        wrong("no requirement given: siconform explain ID, or a filter such as --area or --text")
    try:
        requirements = _explained(words, given)
    except LookupError as error:
        wrong(str(error))
    if not requirements:
        wrong("no requirement matches all the given filters")
    received = [
        render_explanation(
            r, {side: by.get(r.id, ()) for side, by in citations().items()}, known_results(r.id)
        )
        for r in requirements
    ]
    click.echo("\n\n".join(received))


@click.command(name="profiles")
def list_profiles() -> None:
    """List the profiles: named sets of requirements of a revision."""
    click.echo(render_profiles(profiles().values()))


def _explained(words: Sequence[str], given: dict[str, Any]) -> list[Requirement]:
    """Return ids in the given order, other selections in catalogue order."""
    filters = read_filters(words, by_flag(given))
    if any(given.values()) or any(names_an_area(word) for word in words):
        return [r for r in catalogue().values() if filters.passes(r)]
    return [find_meant(word) for word in words]
