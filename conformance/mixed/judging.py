"""The outcome of a step, from what was meant, what was understood and what was done."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mixed.outcomes import Finding, Outcome
from mixed.statements import REJECTIONS, Kind, Statement

Answer = tuple[Kind, str]  # what it is about is the second
_UNCONFIRMED = "waits to be confirmed"


@dataclass
class Expected:
    """What a step is to bring about, and what was said."""

    answers: list[Answer] = field(default_factory=list)
    gained: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    said: list[Answer] = field(default_factory=list)  # by the scheduler, as it means it
    told: list[Answer] = field(default_factory=list)  # the same as the RM reads it


def judge(
    expected: Expected,
    findings: Iterable[Finding],
    before: Counter[str],
    after: Counter[str],
    status: str,
) -> tuple[Outcome, list[Finding]]:
    """The outcome and all that shows it, the worst first.

    A refusal that the RM is told counts for what it is, whatever was misread before it; what the
    scheduler did beside is told as well.
    """
    found = [*findings]
    if status:
        found.append(Finding(Outcome.REFUSED, status))
        return Outcome.REFUSED, _ordered(found)
    refused = [one for one in expected.told if one[0] in REJECTIONS and one not in expected.answers]
    is_as_it_was = before == after
    if refused and is_as_it_was:
        found += [Finding(Outcome.REFUSED, f"the RM is told {_said(one)}") for one in refused]
        return Outcome.REFUSED, _ordered(found)
    found += _of_answers(expected)
    found += _of_holdings(expected, gained=after - before, lost=before - after)
    worst = max((one.outcome for one in found), key=lambda one: one.badness, default=None)
    return worst or Outcome.UNDERSTOOD, _ordered(found)


def _of_answers(expected: Expected) -> Iterator[Finding]:
    """Those that did not come; one that came and was misread is found where it was read."""
    for one in expected.answers:
        if one not in expected.said and one not in expected.told:
            yield Finding(Outcome.NOT_HEARD, f"{_said(one)} never comes")


def _of_holdings(expected: Expected, gained: Counter[str], lost: Counter[str]) -> Iterator[Finding]:
    """What is otherwise with the scheduler and was not meant, or was meant and is not."""
    for one in sorted((gained - expected.gained).keys()):
        if not one.endswith(_UNCONFIRMED):
            yield Finding(Outcome.MISREAD, f"not meant, and now so: {one}")
    for one in sorted((lost - expected.lost).keys()):
        yield Finding(Outcome.MISREAD, f"not meant, and no longer so: {one}")
    missing = [f"meant, and not so: {one}" for one in sorted((expected.gained - gained).keys())]
    missing += [f"meant to end, and still so: {one}" for one in sorted(expected.lost - lost)]
    all_is_missing = not (gained - (gained - expected.gained)) and not (
        lost - (lost - expected.lost)
    )
    outcome = Outcome.NOT_HEARD if all_is_missing else Outcome.PARTLY_LOST
    for says in missing:
        yield Finding(outcome, says)


def _ordered(found: Sequence[Finding]) -> list[Finding]:
    by_sentence = {(one.outcome, one.says): one for one in reversed([*found])}
    first = [one for one in found if by_sentence.get((one.outcome, one.says)) is one]
    return sorted(first, key=lambda one: -one.outcome.badness)


def _said(answer: Answer) -> str:
    kind, subject = answer
    return str(Statement(kind, subject))
