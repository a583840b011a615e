"""Runs the suite against mutants and permitted variants: which requirements kill which mutant.

Run as ``python -m mutation.matrix [NAME ...]``. A requirement kills a mutant if it fails or is
late against it, and not against the same scheduler without it. The exit code is 1 if a mutant never
fired or survives a requirement it breaks, or if a permitted variant fails.

A scheduler is not tested again until something changes, so a run can be interrupted and continued.
The outcome of each is recorded in fixtures/mutation/killed.jsonl.
"""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import click
from siconform.catalogue import Side, catalogue
from siconform.verdicts import Verdict

from mutation import choosing, outcomes
from mutation.evaluating import Evaluation, RunOptions, end, evaluate
from mutation.known import load
from mutation.mutant import CHANGES, Change
from mutation.proxy import NONE

_SHOWN: Final = 12  # others that fail
_CONFORMANT: Final = "CONFORMANT"
_RECORDED: Final = ("", RunOptions(own=True).name)
"""The names of the options whose results are recorded."""


@click.command(help=__doc__)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--jobs", default=1, show_default=True, help="Number of schedulers tested in parallel."
)
@click.option("-n", "workers", type=int, help="Workers of each run (default: by its size).")
@click.option("--again", is_flag=True, help="Also test those with a cached result.")
@click.option("--real-clock", is_flag=True, help="Use the real clock.")
@click.option("--time-scale", "scale", default="", help="Of deadlines.")
@click.option(
    "--variant",
    default="",
    metavar="VARIANT",
    help="Combine each with this permitted variant.",
)
@click.option("--own", is_flag=True, help="Run only the requirements a mutant breaks: quick.")
@click.option(
    "--sample", type=int, help="Test a sample of this size, chosen by what changed; implies --own."
)
@click.option(
    "--since", default="origin/main", show_default=True, help="Commit from which changes count."
)
@click.option(
    "--revision", "revisions", multiple=True, help="Only mutants and variants of this revision."
)
@click.option(
    "--in-revision",
    default="",
    metavar="REVISION",
    help="Test mutants in the process in this revision, not their own; record no results.",
)
@click.option(
    "--side",
    type=click.Choice([side.value for side in Side]),
    help="Only mutants and variants of this side.",
)
def main(
    *,
    names: Sequence[str],
    jobs: int,
    sample: int | None,
    since: str,
    revisions: Sequence[str],
    in_revision: str,
    side: str | None,
    **options: Any,
) -> None:
    """Test the schedulers and print the result of each."""
    load()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # and the run with it
    unknown = [name for name in names if name not in CHANGES]
    if unknown:
        raise click.UsageError(f"unknown mutant or permitted variant: {', '.join(unknown)}")
    there = [one for one in CHANGES.values() if not revisions or one.revision in revisions]
    if variant := options["variant"]:
        side = CHANGES[variant].side
    there = [one for one in there if side in (None, one.side)]
    chosen = [CHANGES[name] for name in names] or there
    if sample is not None:
        chosen, options["own"] = choosing.sample(chosen, sample, since), True
    if in_revision:
        chosen = [one for change in chosen for one in _served_in(in_revision, change)]
    began = time.monotonic()
    is_right = _evaluate(chosen, jobs, RunOptions(**options))
    click.echo(f"{len(chosen)} tested in {time.monotonic() - began:.0f} s")
    if not in_revision and RunOptions(**options).name in _RECORDED:
        outcomes.record(is_right)
    sys.exit(not all(is_right.values()))


def _served_in(revision: str, change: Change) -> Iterator[Change]:
    """Yield the change as served in another revision, if it is possible and breaks anything."""
    if change.is_on_the_wire or not change.is_inside:
        return
    there = {one for one, requirement in catalogue().items() if revision in requirement.revisions}
    breaks = tuple(one for one in change.breaks if one in there)
    if breaks or change.is_variant:
        yield replace(change, revision=revision, breaks=breaks)


def _evaluate(chosen: Sequence[Change], jobs: int, options: RunOptions) -> dict[str, bool]:
    """Return for each of them, by name, whether the suite is right about it."""
    kinds = {(change.side, change.revision) for change in chosen}
    sound = {kind: _sound(*kind, options) for kind in kinds}
    is_right = {}
    with ThreadPoolExecutor(jobs) as pool:
        try:
            evaluations = pool.map(lambda change: evaluate(change, options), chosen)
            for change, evaluation in zip(chosen, evaluations, strict=True):
                unchanged = sound[change.side, change.revision]
                wrong = list(complaints(change, evaluation, unchanged))
                _report(change, evaluation, unchanged, wrong)
                is_right[change.name] = not wrong
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end()
            raise
    return is_right


def complaints(change: Change, evaluation: Evaluation, sound: Evaluation) -> Iterator[str]:
    """Yield a sentence for each way in which the result is not as expected."""
    if not evaluation.requirements:
        yield "the run has no results: see the log in build/mutation"
        return
    if not evaluation.has_fired:
        yield change.never_fired
    detected = evaluation.detected(sound, allowed=change.departs_from)
    if not change.is_variant:
        missing = [identifier for identifier in change.breaks if identifier not in detected]
        yield from (f"survived {one}: {evaluation.verdict_on(one)}" for one in missing)
        return
    yield from (f"{one} failed: {evaluation.requirements[one].reason}" for one in detected)
    for one in evaluation.newly_inconclusive(sound):
        yield f"{one} {Verdict.COULD_NOT_RUN.label}: {evaluation.requirements[one].reason}"
    if not change.areas and evaluation.verdict != _CONFORMANT:
        yield f"the verdict of the run is {evaluation.verdict}"


def _sound(side: Side, revision: str, options: RunOptions) -> Evaluation:
    """Return the result for the unchanged reference or RM; empty with ``--own``."""
    if options.own:
        return Evaluation({})
    evaluation = evaluate(replace(NONE, revision=revision, side=side), options)
    if not evaluation.requirements:
        raise click.ClickException(f"the unchanged {side.noun} of {revision} has no results")
    return evaluation


def _report(
    change: Change, evaluation: Evaluation, sound: Evaluation, wrong: Sequence[str]
) -> None:
    detected = evaluation.detected(sound, allowed=change.departs_from)
    own = [one for one in change.breaks if one in detected]
    others = [one for one in detected if one not in own]
    word = "variant" if change.is_variant else "mutant"
    click.echo(f"{word} {change.name} ({evaluation.seconds:.0f} s): {'WRONG' if wrong else 'ok'}")
    if own:
        click.echo(f"  killed by the requirements it breaks: {' '.join(own)}")
    if others:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        click.echo(f"  killed by: {' '.join(others[:_SHOWN])}{more}")
    for one in wrong:
        click.echo(f"  WRONG: {one}")
    if change.is_variant:
        for identifier, reason in evaluation.newly_inapplicable(sound).items():
            click.echo(f"  {Verdict.NOT_APPLICABLE.label}: {identifier}: {reason}")


if __name__ == "__main__":
    main()
