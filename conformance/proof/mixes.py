"""Legal schedulers nobody thought of: manners of the independent one, put together by chance.

Run as ``python -m proof.mixes [SEED ...]``. The same number is the same scheduler for as long as
there are the same manners. Each is judged by the whole suite on the clock on the wall, which takes
minutes. The exit code is 1 where one is not CONFORMANT.
"""

import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click
from siconform.catalogue import Level, catalogue
from siconform.doctor.examining import judged
from siconform.policy import RunVerdict
from siconform.reporting.record import Record, RecordError
from siconform.verdicts import Verdict

from proof.independent.manners import MANNERS

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT / "build" / "mixes"
_USUAL: Final = range(1, 5)
_SHARE: Final = 0.45  # of the manners is another than usual
_ONE_OF: Final = (("largest-node", "round-robin"), ("silent", "mute", "other-names"))
_FIXED: Final = "own-timers"  # or the kit could not be told how long they are
_TOLD: Final = (
    *("--revision", "2023-12"),  # which it speaks
    *("--placeholder-timeout", "4"),
    *("--waiting-timeout", "3"),
    *("--connection-loss-timeout", "3"),
    *("-n", "12"),  # it waits most of the time
)
_BAD: Final = (Verdict.FAIL, Verdict.LATE, Verdict.COULD_NOT_RUN, Verdict.KIT_ERROR)


@click.command(help=__doc__)
@click.argument("seeds", nargs=-1, type=int)
def main(seeds: Sequence[int]) -> None:
    """Judge them, one after the other."""
    found = [_tell(seed) for seed in seeds or _USUAL]
    sys.exit(not all(found))


def manners(seed: int) -> list[str]:
    """What is unusual about this one, in the words of ``proof.independent``."""
    draws = random.Random(seed)  # noqa: S311  # nothing secret about it
    unusual = {name for name in MANNERS if draws.random() < _SHARE} - {_FIXED}
    for group in _ONE_OF:
        among = [name for name in group if name in unusual and not MANNERS[name].usual]
        unusual -= set(among[1:])
        if among:
            unusual |= {name for name in group if MANNERS[name].usual}
    return [f"no-{name}" if MANNERS[name].usual else name for name in MANNERS if name in unusual]


def _tell(seed: int) -> bool:
    """Whether it is CONFORMANT."""
    words = manners(seed)
    click.echo(f"{seed}: {', '.join(words) or 'as usual'}")
    try:
        record = judged(_started(words), _FOLDER / str(seed), _TOLD)
    except (RecordError, subprocess.TimeoutExpired) as error:
        click.echo(f"  {error}")
        return False
    click.echo(f"  {record.sentence}")
    for line in _troubles(record):
        click.echo(f"  {line}")
    return record.sentence.startswith(RunVerdict.CONFORMANT)


def _started(words: Sequence[str]) -> list[str]:
    command = [sys.executable, "-P", "-m", "proof.independent", "--listen", "{address}"]
    return [*command, "--manner", ",".join(words)]


def _troubles(record: Record) -> list[str]:
    """The MUSTs that keep it from being CONFORMANT."""
    return [
        f"{one.verdict.words} {identifier} {catalogue()[identifier].title}"
        for identifier, one in record.requirements.items()
        if one.verdict in _BAD and catalogue()[identifier].level is Level.MUST
    ]


if __name__ == "__main__":
    main()
