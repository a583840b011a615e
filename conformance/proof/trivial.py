"""What passes against schedulers that schedule nothing: as good as no MUST.

Run as ``python -m proof.trivial [KIND ...]``. Each is judged by the suite; a MUST that passes has
to be one the scheduler really keeps, with the reason in the table here. The exit code is 1 where
another one passes.
"""

import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click
from siconform.catalogue import Level, Side, catalogue
from siconform.reporting.record import Record, read_results
from siconform.verdicts import Verdict
from siwire import DEFAULT_REVISION

from proof.trivial_schedulers import Trivial

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT / "build" / "trivial"
_LIMIT: Final = 600.0  # seconds for one run
_BRIEF: Final = "0.1"  # they answer at once or never

_REGISTERS: Final = {
    "SI-WIRE-001": "it serves the registration under the right path",
    "SI-REG-001": "it answers a registration with the empty response",
}
_ANSWERS: Final = {"SI-WIRE-006": "what it says is well formed"}
_GRANTS: Final = {
    "SI-WIRE-008": "what it says uses no reserved number",
    "SI-WIRE-010": "what it releases has the type the RM gave",
}
_ACCEPTS: Final = {
    "SI-REG-002": "no registration fails: what is answered with success is served",
    "SI-REG-004": "it accepts a registration however often it comes",
    "SI-NODE-001": "it accepts every new node",
    "SI-APP-001": "it accepts every new application",
    "SI-APP-008": "it accepts an application without groups",
    "SI-APP-010": "it accepts an application with any tags",
}
KEPT: Final[Mapping[Trivial, Mapping[str, str]]] = MappingProxyType(
    {
        Trivial.SILENT: _REGISTERS,
        Trivial.ENDING: _REGISTERS,
        Trivial.REJECTING: {**_REGISTERS, **_ANSWERS},
        Trivial.ACCEPTING: {**_REGISTERS, **_ANSWERS, **_ACCEPTS},
        Trivial.GRANTING: {**_REGISTERS, **_ANSWERS, **_GRANTS, **_ACCEPTS},
    }
)
"""The MUSTs such a scheduler keeps, and how."""


@click.command(help=__doc__)
@click.argument("kinds", nargs=-1, type=click.Choice([kind.value for kind in Trivial]))
def main(kinds: Sequence[str]) -> None:
    """Judge them, one after the other."""
    found = [_tell(kind) for kind in map(Trivial, kinds or [kind.value for kind in Trivial])]
    sys.exit(any(found))


def passing(kind: Trivial, folder: Path, options: Sequence[str] = ()) -> dict[str, str]:
    """The MUSTs of a scheduler that pass against it and that it does not keep; id to title."""
    return {
        identifier: catalogue()[identifier].title
        for identifier in passed(judged(kind, folder, options))
        if identifier not in KEPT[kind]
    }


def passed(record: Record) -> list[str]:
    """The MUSTs on the scheduler's side that a run passed."""
    return [
        identifier
        for identifier, one in record.requirements.items()
        if one.verdict is Verdict.PASS
        and catalogue()[identifier].level is Level.MUST
        and Side.SCHEDULER in catalogue()[identifier].sides
    ]


def judged(kind: Trivial, folder: Path, options: Sequence[str] = ()) -> Record:
    """The record of a run against such a scheduler, with these options of the suite."""
    serves = [sys.executable, "-m", "proof.trivial_schedulers", kind.value, DEFAULT_REVISION.name]
    command = [sys.executable, "-m", "siconform", "run", "--target-command", shlex.join(serves)]
    command += ["--time-scale", _BRIEF, "--results", str(folder), *options]
    subprocess.run(  # noqa: S603  # our own command
        command, capture_output=True, check=False, timeout=_LIMIT, cwd=_ROOT
    )
    return read_results(folder)[0]


def _tell(kind: Trivial) -> bool:
    """Whether something passes that should not."""
    wrong = passing(kind, _FOLDER / kind.value)
    click.echo(f"{kind.value:<10} {len(wrong) or 'no'} MUST passes that it does not keep")
    for identifier, title in wrong.items():
        click.echo(f"  {identifier} {title}")
    return bool(wrong)


if __name__ == "__main__":
    main()
