"""Runs the suite against schedulers that do nothing: almost no MUST may pass.

Run as ``python -m mutation.trivial [KIND ...]``. ``siconform.doctor.kept`` lists the MUSTs that
such a scheduler really meets, with reasons. The exit code is 1 if another one passes.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from siconform.catalogue import catalogue
from siconform.doctor.examining import BRIEF, evaluated, idle, passed
from siconform.doctor.idle import Idle
from siconform.doctor.kept import KEPT

from mutation.main_revision import NAME

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT / "build" / "trivial"


@click.command(help=__doc__)
@click.argument("kinds", nargs=-1, type=click.Choice([kind.value for kind in Idle]))
def main(kinds: Sequence[str]) -> None:
    """Run the suite against each kind in turn."""
    found = [_report(kind) for kind in map(Idle, kinds or [kind.value for kind in Idle])]
    sys.exit(any(found))


def passing(kind: Idle, folder: Path, options: Sequence[str] = ()) -> dict[str, str]:
    """Return the MUSTs that pass although the scheduler does not meet them; id to title."""
    record = evaluated(idle(kind), folder, ("--revision", NAME, *BRIEF, *options))
    return {
        identifier: catalogue()[identifier].title
        for identifier in passed(record)
        if identifier not in KEPT[kind]
    }


def _report(kind: Idle) -> bool:
    """Print the result for one kind; return whether a MUST passes wrongly."""
    wrong = passing(kind, _FOLDER / kind.value)
    click.echo(f"{kind.value:<10} {len(wrong) or 'no'} MUSTs pass that it does not meet")
    for identifier, title in wrong.items():
        click.echo(f"  {identifier} {title}")
    return bool(wrong)


if __name__ == "__main__":
    main()
