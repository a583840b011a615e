"""Runs the suite against small schedulers with randomly combined permitted behaviour.

Run as ``python -m mutation.mixes [--of NAME] [SEED ...]``. A seed stands for the same scheduler as
long as the list of strategies is the same. The whole suite runs on the real clock, which takes
minutes. The exit code is 1 if one is not CONFORMANT.
"""

import random
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click
from siconform.catalogue import Level, catalogue
from siconform.doctor.examining import evaluated
from siconform.policy import RunVerdict
from siconform.reporting.record import Record
from siconform.reporting.stored import RecordError
from siconform.verdicts import BAD

from mutation.by_key import strategies as by_key
from mutation.independent import strategies as independent

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT / "build" / "mixes"
_USUAL: Final = range(1, 4)
_SHARE: Final = 0.45  # of the strategies differ from the default
_FIXED: Final = "own-timers"  # the timers passed to the kit
_TIMERS: Final = (
    *("--placeholder-timeout", "10"),
    *("--waiting-timeout", "3"),
    *("--connection-loss-timeout", "3"),
)
_WORKERS: Final = ("-n", "12")  # they wait most of the time


@dataclass(frozen=True, slots=True)
class Small:
    """A small scheduler, ``python -m mutation.NAME``, and its strategies."""

    name: str
    is_usual: Mapping[str, bool]  # by strategy
    one_of: tuple[tuple[str, ...], ...]  # mutually exclusive
    revision: str

    def mix(self, seed: int) -> list[str]:
        """Return the strategies in which this mix differs, as arguments of ``--strategy``."""
        draws = random.Random(seed)  # noqa: S311  # nothing secret about it
        unusual = {name for name in self.is_usual if draws.random() < _SHARE} - {_FIXED}
        for group in self.one_of:
            among = [name for name in group if name in unusual and not self.is_usual[name]]
            if among:
                unusual -= {*among} - {draws.choice(among)}
                unusual |= {name for name in group if self.is_usual[name]}
        return [
            f"no-{name}" if usual else name
            for name, usual in self.is_usual.items()
            if name in unusual
        ]

    def started(self, words: Sequence[str]) -> list[str]:
        """Return the command that starts it with these strategies."""
        command = [sys.executable, "-P", "-m", f"mutation.{self.name}", "--listen", "{address}"]
        return [*command, "--strategy", ",".join([_FIXED, *words])]


SMALL: Final[Mapping[str, Small]] = MappingProxyType(
    {
        one.name: one
        for one in (
            Small(
                "independent",
                {name: strategy.usual for name, strategy in independent.STRATEGIES.items()},
                (("largest-node", "round-robin"), ("silent", "mute", "other-names")),
                "2023-12",
            ),
            Small(
                "by_key",
                dict.fromkeys(by_key.STRATEGIES, False),
                (
                    ("singly", "together"),
                    ("silent-removal", "removed-at-once"),
                    ("withdrawn-rejected", "withdrawn-silently"),
                    ("updates-refused", "updates-end"),
                    # or a gang ends within a test
                    ("slow", "warms-up", "nodes-rest", "waits-assembled"),
                    (
                        *(
                            "slow",
                            "late",
                            "one-placement-each",
                            "tries-seldom",
                            "unsteady",
                            "one-a-round",
                        ),
                        *("by-turns", "warms-up", "pauses", "nodes-rest"),
                    ),  # or it needs a --time-scale
                ),
                "2024-10",
            ),
        )
    }
)


@click.command(help=__doc__)
@click.option("--of", "name", type=click.Choice(list(SMALL)), help="Only mixes of this scheduler.")
@click.argument("seeds", nargs=-1, type=int)
def main(name: str | None, seeds: Sequence[int]) -> None:
    """Run the suite against each mix in turn."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # and the run with it
    chosen = [one for one in SMALL.values() if name in (None, one.name)]
    found = [_report(small, seed) for small in chosen for seed in seeds or _USUAL]
    sys.exit(not all(found))


def _report(small: Small, seed: int) -> bool:
    """Print the result of one mix; return whether it is CONFORMANT."""
    words = small.mix(seed)
    click.echo(f"{small.name} {seed}: {', '.join(words) or 'defaults'}")
    try:
        folder = _FOLDER / small.name / str(seed)
        record = evaluated(
            small.started(words), folder, ("--revision", small.revision, *_TIMERS, *_WORKERS)
        )
    except (RecordError, subprocess.TimeoutExpired) as error:
        click.echo(f"  {error}")
        return False
    click.echo(f"  {record.sentence}")
    for line in _troubles(record):
        click.echo(f"  {line}")
    return record.sentence.startswith(RunVerdict.CONFORMANT)


def _troubles(record: Record) -> list[str]:
    """Return the MUSTs that keep it from being CONFORMANT."""
    return [
        f"{one.verdict.label} {identifier} {catalogue()[identifier].title}"
        for identifier, one in record.requirements.items()
        if one.verdict in BAD and catalogue()[identifier].level is Level.MUST
    ]


if __name__ == "__main__":
    main()
