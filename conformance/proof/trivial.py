"""What passes against schedulers that schedule nothing: as good as no MUST.

Run as ``python -m proof.trivial [KIND ...]``. Each is judged by the suite; a MUST that passes has
to be one the scheduler really keeps, with the reason in ``siconform.doctor.kept``. The exit code is
1 where another one passes.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from siconform.catalogue import catalogue
from siconform.doctor.examining import idle, judged, passed
from siconform.doctor.idle import Idle
from siconform.doctor.kept import KEPT

from proof.main_revision import NAME

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT / "build" / "trivial"
_BRIEF: Final = ("--time-scale", "0.1")  # they answer at once or never


@click.command(help=__doc__)
@click.argument("kinds", nargs=-1, type=click.Choice([kind.value for kind in Idle]))
def main(kinds: Sequence[str]) -> None:
    """Judge them, one after the other."""
    found = [_tell(kind) for kind in map(Idle, kinds or [kind.value for kind in Idle])]
    sys.exit(any(found))


def passing(kind: Idle, folder: Path, options: Sequence[str] = ()) -> dict[str, str]:
    """The MUSTs of a scheduler that pass against it and that it does not keep; id to title."""
    record = judged(idle(kind), folder, ("--revision", NAME, *_BRIEF, *options))
    return {
        identifier: catalogue()[identifier].title
        for identifier in passed(record)
        if identifier not in KEPT[kind]
    }


def _tell(kind: Idle) -> bool:
    """Whether something passes that should not."""
    wrong = passing(kind, _FOLDER / kind.value)
    click.echo(f"{kind.value:<10} {len(wrong) or 'no'} MUST passes that it does not keep")
    for identifier, title in wrong.items():
        click.echo(f"  {identifier} {title}")
    return bool(wrong)


if __name__ == "__main__":
    main()
