"""Which requirements notice which fault, and that nobody notices a liberty.

Run as ``python -m proof.matrix [NAME ...]``. A requirement notices a fault when it fails or is late
against that scheduler, and not against the same one without it. The exit code is 1 where a fault
never fired or is not noticed by a requirement it breaks, or where a liberty is noticed.

What is known already is not judged again until something changes, so a whole run can be ended and
taken up. The outcome of each is recorded in fixtures/proof/killed.jsonl.
"""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import click
from siconform.verdicts import Verdict

from proof import choosing, outcomes
from proof.fault import CHANGES, Change
from proof.judging import Judgement, RunOptions, end, judge
from proof.known import load
from proof.proxy import NONE

_SHOWN: Final = 12  # others that notice
_CONFORMANT: Final = "CONFORMANT"
_RECORDED: Final = ("", RunOptions(own=True).name)
"""The names of the options that test a scheduler in the usual way."""


@click.command(help=__doc__)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--jobs", default=1, show_default=True, help="How many are judged at a time.")
@click.option("-n", "workers", type=int, help="Workers of each run (default: by its size).")
@click.option("--anew", is_flag=True, help="Also what is known already.")
@click.option("--real-clock", is_flag=True, help="By the clock on the wall.")
@click.option("--time-scale", "scale", default="", help="Of deadlines.")
@click.option("--beside", default="", metavar="LIBERTY", help="That each of them takes, too.")
@click.option("--own", is_flag=True, help="By nothing but the requirements a fault breaks: quick.")
@click.option("--sample", type=int, help="Only so many, chosen by what changed; as with --own.")
@click.option("--since", default="origin/main", show_default=True, help="What changed since when.")
@click.option("--revision", "revisions", multiple=True, help="Only those of this revision.")
def main(
    *,
    names: Sequence[str],
    jobs: int,
    sample: int | None,
    since: str,
    revisions: Sequence[str],
    **options: Any,
) -> None:
    """Judge the schedulers, and say what came of each."""
    load()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # and the run with it
    unknown = [name for name in names if name not in CHANGES]
    if unknown:
        raise click.UsageError(f"there is no fault and no liberty {', '.join(unknown)}")
    there = [one for one in CHANGES.values() if not revisions or one.revision in revisions]
    chosen = [CHANGES[name] for name in names] or there
    if sample is not None:
        chosen, options["own"] = choosing.sample(chosen, sample, since), True
    began = time.monotonic()
    is_right = _judge(chosen, jobs, RunOptions(**options))
    click.echo(f"{len(chosen)} schedulers in {time.monotonic() - began:.0f} s")
    if RunOptions(**options).name in _RECORDED:
        outcomes.record(is_right)
    sys.exit(not all(is_right.values()))


def _judge(chosen: Sequence[Change], jobs: int, options: RunOptions) -> dict[str, bool]:
    """Whether the suite is right about each of them, by name."""
    sound = {revision: _sound(revision, options) for revision in {c.revision for c in chosen}}
    is_right = {}
    with ThreadPoolExecutor(jobs) as pool:
        try:
            judgements = pool.map(lambda change: judge(change, options), chosen)
            for change, judgement in zip(chosen, judgements, strict=True):
                wrong = list(complaints(change, judgement, sound[change.revision]))
                _tell(change, judgement, sound[change.revision], wrong)
                is_right[change.name] = not wrong
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end()
            raise
    return is_right


def complaints(change: Change, judgement: Judgement, sound: Judgement) -> Iterator[str]:
    """Why this judgement does not show what it has to show, a sentence each."""
    if not judgement.requirements:
        yield "it could not be judged: see the log in build/proof"
        return
    if not judgement.has_fired:
        yield change.never_fired
    noticed = judgement.noticed(sound, allowed=change.departs_from)
    if not change.is_liberty:
        missing = [identifier for identifier in change.breaks if identifier not in noticed]
        yield from (f"{one} does not notice: {judgement.verdict_on(one)}" for one in missing)
        return
    yield from (f"{one} notices: {judgement.requirements[one].reason}" for one in noticed)
    for one in judgement.without_a_chance(sound):
        yield f"{one} {Verdict.COULD_NOT_RUN.label}: {judgement.requirements[one].reason}"
    if not change.areas and judgement.verdict != _CONFORMANT:
        yield f"the verdict of the run is {judgement.verdict}"


def _sound(revision: str, options: RunOptions) -> Judgement:
    """What is said of the reference as it is; nothing where only a part is looked at."""
    if options.own:
        return Judgement({})
    judgement = judge(replace(NONE, revision=revision), options)
    if not judgement.requirements:
        raise click.ClickException(f"{revision} without any fault could not be judged")
    return judgement


def _tell(change: Change, judgement: Judgement, sound: Judgement, wrong: Sequence[str]) -> None:
    noticed = judgement.noticed(sound, allowed=change.departs_from)
    own = [one for one in change.breaks if one in noticed]
    others = [one for one in noticed if one not in own]
    word = "liberty" if change.is_liberty else "fault"
    click.echo(f"{word} {change.name} ({judgement.seconds:.0f} s): {'WRONG' if wrong else 'ok'}")
    if own:
        click.echo(f"  noticed by its own: {' '.join(own)}")
    if others:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        click.echo(f"  noticed by: {' '.join(others[:_SHOWN])}{more}")
    for one in wrong:
        click.echo(f"  WRONG: {one}")
    if change.is_liberty:
        for identifier, reason in judgement.left_alone(sound).items():
            click.echo(f"  {Verdict.NOT_APPLICABLE.label}: {identifier}: {reason}")


if __name__ == "__main__":
    main()
