"""Runs the suites against schedulers and RMs that do nothing: almost no MUST may pass.

Run as ``python -m mutation.trivial [KIND ...]``. ``siconform.doctor.vacuous_musts`` and
``mutation.idle_rm`` list the MUSTs that such a peer really meets, with reasons. The exit code is 1
if another one passes.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from siconform.catalogue import Side, catalogue
from siconform.doctor.examining import BRIEF, evaluated, idle, passed
from siconform.doctor.idle import Idle
from siconform.doctor.vacuous_musts import KEPT
from siconform.reporting.record import Record

from mutation import idle_rm
from mutation.idle_rm import IdleRm
from mutation.main_revision import NAME

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT / "build" / "trivial"
_KINDS: Final[Mapping[str, Idle | IdleRm]] = {
    **{kind.value: kind for kind in KEPT},
    **{kind.value: kind for kind in idle_rm.KEPT},
}


@click.command(help=__doc__)
@click.argument("kinds", nargs=-1, type=click.Choice(list(_KINDS)))
def main(kinds: Sequence[str]) -> None:
    """Run the suite against each kind in turn."""
    found = [_report(_KINDS[kind]) for kind in kinds or _KINDS]
    sys.exit(any(found))


def passing(kind: Idle | IdleRm, folder: Path, options: Sequence[str] = ()) -> dict[str, str]:
    """Return the MUSTs that pass although the peer does not meet them; id to title."""
    kept = KEPT[kind] if isinstance(kind, Idle) else idle_rm.KEPT[kind]
    return {
        identifier: catalogue()[identifier].title
        for identifier in passed(_record(kind, folder, options))
        if identifier not in kept
    }


def _record(kind: Idle | IdleRm, folder: Path, options: Sequence[str]) -> Record:
    options = ("--revision", NAME, *BRIEF, *options)
    if isinstance(kind, Idle):
        return evaluated(idle(kind), folder, options)
    return evaluated(idle_rm.command(kind), folder, options, Side.RM)


def _report(kind: Idle | IdleRm) -> bool:
    """Print the result for one kind; return whether a MUST passes wrongly."""
    wrong = passing(kind, _FOLDER / kind.value)
    click.echo(f"{kind.value:<10} passes {len(wrong) or 'no'} MUST that it is not known to meet")
    for identifier, title in wrong.items():
        click.echo(f"  {identifier} {title}")
    if wrong:
        file = (
            "siconform/doctor/vacuous_musts.py" if isinstance(kind, Idle) else "mutation/idle_rm.py"
        )
        click.echo(f"  Strengthen their tests; list those that it meets in conformance/{file}")
    return bool(wrong)


if __name__ == "__main__":
    main()
