"""Which requirements notice which fault, and that nobody notices a liberty.

Run as ``python -m proof.matrix [NAME ...]``. A requirement notices a fault when it fails or is late
against that scheduler, and not against the same one without it. The exit code is 1 where a fault
never fired or is not noticed by a requirement it breaks, or where a liberty is noticed.

What is known already is not judged again until something changes, so a whole run can be ended and
taken up. At its end docs/proof.md is written; --page writes it of what is known.
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

from proof import armed, choosing
from proof.fault import CHANGES, Change
from proof.judging import Judgement, RunOptions, end, judge, kept
from proof.known import load
from proof.page import PAGE, Proof, page
from proof.proxy import NONE

_SHOWN: Final = 12  # others that notice
_CONFORMANT: Final = "CONFORMANT"
_QUICK: Final = RunOptions(own=True)
_MINUTE: Final = 60


@click.command(help=__doc__)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--jobs", default=1, show_default=True, help="How many are judged at a time.")
@click.option("-n", "workers", type=int, help="Workers of each run (default: by its size).")
@click.option("--anew", is_flag=True, help="Also what is known already.")
@click.option("--real-clock", is_flag=True, help="By the clock on the wall.")
@click.option("--time-scale", "scale", default="", help="Of deadlines.")
@click.option("--beside", default="", metavar="LIBERTY", help="That each of them takes, too.")
@click.option("--own", is_flag=True, help="By nothing but the requirements a fault breaks: quick.")
@click.option("--page", "writes", is_flag=True, help="Write the page, whatever is not known.")
@click.option("--sample", type=int, help="Only so many, chosen by what changed; as with --own.")
@click.option("--since", default="origin/main", show_default=True, help="What changed since when.")
@click.option("--revision", "revisions", multiple=True, help="Only those of this revision.")
def main(
    *,
    names: Sequence[str],
    jobs: int,
    sample: int | None,
    since: str,
    writes: bool,
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
    is_wrong = _judge(chosen, jobs, RunOptions(**options))
    click.echo(f"{len(chosen)} schedulers in {time.monotonic() - began:.0f} s")
    if writes or len(chosen) == len(CHANGES):
        _write(RunOptions(**options))
    sys.exit(is_wrong)


def _judge(chosen: Sequence[Change], jobs: int, options: RunOptions) -> bool:
    """Whether something is not as it has to be."""
    sound = {revision: _sound(revision, options) for revision in {c.revision for c in chosen}}
    is_wrong = False
    with ThreadPoolExecutor(jobs) as pool:
        try:
            judgements = pool.map(lambda change: judge(change, options), chosen)
            for change, judgement in zip(chosen, judgements, strict=True):
                wrong = list(complaints(change, judgement, sound[change.revision]))
                _tell(change, judgement, sound[change.revision], wrong)
                is_wrong = is_wrong or bool(wrong)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end()
            raise
    return is_wrong


def _write(options: RunOptions) -> None:
    """The page, of what is known: it names what is not."""
    if options.name not in ("", _QUICK.name):
        click.echo("no page is written: it tells of runs in the usual way only")
        return
    whole = {name: kept(change) for name, change in CHANGES.items()}
    quick = {
        name: kept(CHANGES[name], _QUICK.name)
        for name, judgement in whole.items()
        if judgement is None
    }
    known = {name: one for name, one in {**whole, **quick}.items() if one is not None}
    revisions = {change.revision for change in CHANGES.values()}
    sound = {revision: _sound(revision, RunOptions()) for revision in revisions}
    by_own = {name for name in quick if CHANGES[name].breaks}  # a liberty is judged by all as ever
    proof = Proof(CHANGES, known, sound, frozenset(by_own & known.keys()))
    PAGE.write_text(page(proof), "utf-8")
    armed.main(())
    seconds = sum(judgement.seconds for judgement in known.values())
    click.echo(
        f"wrote {PAGE.name} about {len(known)} of {len(CHANGES)}; "
        f"their runs together took {seconds / _MINUTE:.0f} minutes"
    )


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
