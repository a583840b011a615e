"""Writes the next edition of a profile: ``python -m siconform.commands.profile_publishing``.

What is published never changes again; a suite that has grown gets an edition of its own.
"""

import hashlib
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
from siwire import find_revision

from siconform import __version__
from siconform.catalogue import Level, Observation, Requirement, Side, catalogue
from siconform.catalogue.features import Feature
from siconform.profiles import PUBLISHED, profiles

FOLDER: Final = Path(__file__).parents[1] / "profiles"
_PLAIN: Final = frozenset(
    {Observation.PLAIN, Observation.SILENCE, Observation.QUEUES, Observation.STATIC}
)
_OF_GANGS: Final = frozenset(
    {Feature.QUEUES, Feature.GANG, Feature.PLACEHOLDER_TIMEOUT, Feature.WAITING_ASKS}
)


def _base(requirement: Requirement) -> bool:
    return (
        requirement.level is Level.MUST
        and _PLAIN.issuperset(requirement.observations)
        and requirement.features <= {Feature.QUEUES}
    )


def _gang(requirement: Requirement) -> bool:
    plain = {*_PLAIN, Observation.TIMERS}
    return _base(requirement) or (
        requirement.level is Level.MUST
        and Feature.GANG in requirement.features
        and plain.issuperset(requirement.observations)
        and requirement.features <= _OF_GANGS
    )


RULES: Final[dict[str, tuple[str, Callable[[Requirement], bool]]]] = {
    "base": (
        "each MUST of the plain service, without optional features",
        _base,
    ),
    "gang": ("what base has, and each MUST of gang scheduling", _gang),
    "all": ("MUST, SHOULD and MAY, as far as the suite decides them", lambda _: True),
}


@click.command()
@click.argument("revision")
@click.argument("name", type=click.Choice(list(RULES)))
def publish(revision: str, name: str) -> None:
    """Write the next edition of a profile for a revision, with what the suite decides today."""
    from siconform.running.index import cited  # noqa: PLC0415  # imports pytest and grpc

    revision = find_revision(revision).name
    about, fits = RULES[name]
    ids = [
        r.id
        for r in catalogue().values()
        if revision in r.revisions and cited().get(r.id) and _of_a_scheduler(r) and fits(r)
    ]
    editions = [p for p in profiles().values() if (p.revision, p.short_name) == (revision, name)]
    if editions and list(editions[-1].ids) == ids:
        click.echo(f"{editions[-1].name} has exactly these {len(ids)} already")
        return
    edition = f"{revision}/{name}.{len(editions) + 1}"
    click.echo(f"{edition}: {len(ids)} requirements in {_written(edition, about, ids)}")


def _of_a_scheduler(requirement: Requirement) -> bool:
    return Side.SCHEDULER in requirement.sides and not requirement.not_tested


def _written(edition: str, about: str, ids: list[str]) -> Path:
    listed = "\n".join(f'    "{identifier}",' for identifier in ids)
    text = (
        "# Published, so it never changes: what else belongs to it makes another edition.\n"
        f'profile = "{edition}"\n'
        f'published = "{datetime.now(UTC):%Y-%m-%d}"\n'
        f'kit = "{__version__}"\n'
        f'about = "{about}"\n'
        f"requirements = [\n{listed}\n]\n"
    )
    path = FOLDER / f"{edition}.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    with (FOLDER / PUBLISHED).open("a", encoding="utf-8") as lines:
        lines.write(f"{hashlib.sha256(text.encode()).hexdigest()}  {edition}\n")
    return path


if __name__ == "__main__":
    sys.exit(publish())
