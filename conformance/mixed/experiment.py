"""All steps between all revisions, and what became of them."""

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from siwire import REVISIONS, Revision

from mixed.outcomes import Outcome
from mixed.play import Play, Result
from mixed.scheduler import Scheduler, served, started
from mixed.steps import STEPS, Step


@dataclass(frozen=True, slots=True)
class Pair:
    """An RM and a scheduler, by their revisions' names."""

    rm: str
    scheduler: str


Results = Mapping[Pair, Mapping[str, Result]]
"""By pair, then by the name of the step."""


def worst(results: Mapping[str, Result]) -> Outcome:
    """The worst outcome of a pair."""
    outcomes = (result.outcome for result in results.values())
    return max(outcomes, key=lambda one: one.badness)


def play(rm: Revision, scheduler: Scheduler, step: Step) -> Result:
    """What becomes of this step."""
    return Play(rm, scheduler).result(step.act)


def meet(rm: Revision, scheduler: Scheduler, steps: Iterable[Step] = STEPS) -> dict[str, Result]:
    """What becomes of the steps of an RM."""
    return {step.name: play(rm, scheduler, step) for step in steps}


def everything(revisions: Iterable[Revision] = tuple(REVISIONS.values())) -> Results:
    """Every pair of these; the reference is started once for each, all at the same time."""
    chosen = tuple(revisions)
    found: dict[Pair, dict[str, Result]] = {}
    with tempfile.TemporaryDirectory(prefix="mixed-") as folder, ExitStack() as stack:
        targets = [stack.enter_context(started(one, Path(folder))) for one in chosen]
        for target in targets:
            with served(target) as scheduler:
                for rm in chosen:
                    pair = Pair(rm.name, target.revision.name)
                    found[pair] = meet(rm, scheduler)
    return found
