"""Says what a plan writes and what is left to people, as lines."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from siconform.spec.laying.decisions import Topic
from siconform.spec.laying.plan import Plan, steps

_MANY = 4  # files of one folder that are counted, not listed


def written_lines(plan: Plan) -> Iterator[str]:
    """The files that are new and changed; many in one folder are counted."""
    yield f"{len(plan.new)} new files, {len(plan.edited)} changed for {plan.of.name}"
    yield from (f"  new      {path}" for path in _folded(plan.new))
    yield from (f"  changed  {path}" for path in sorted(plan.edited))


def decision_lines(plan: Plan) -> Iterator[str]:
    """What a person must decide, by topic."""
    yield f"{len(plan.decisions)} decisions for a person"
    for topic in Topic:
        mine = [one.says for one in plan.decisions if one.topic is topic]
        if mine:
            yield ""
            yield f"{topic.value} ({len(mine)})"
            yield from (f"  - {says}" for says in mine)


def step_lines(plan: Plan, *, is_generated: bool) -> Iterator[str]:
    """What to run next."""
    yield "next"
    yield from (f"  {step}" for step in [*steps(plan.of)][is_generated:])


def _folded(paths: Iterable[str]) -> list[str]:
    paths = sorted(paths)
    counted = Counter(str(PurePosixPath(path).parent) for path in paths)
    told: dict[str, None] = {}
    for path in paths:
        folder = str(PurePosixPath(path).parent)
        many = counted[folder] > _MANY
        told[f"{folder}/ ({counted[folder]} files)" if many else path] = None
    return list(told)
