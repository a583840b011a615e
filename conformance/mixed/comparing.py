"""What was meant beside what was understood, statement by statement."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mixed.outcomes import Exchange, Finding, Outcome
from mixed.statements import IDENTITY, Statement


def compare(
    meant: Sequence[Statement], understood: Sequence[Statement], exchange: Exchange | None = None
) -> list[Finding]:
    """How the one differs from the other; nothing where all is as it was meant."""
    left = list(understood)
    pairs = [(one, _taken(left, one)) for one in meant]
    pairs = [(one, found or _about_the_same(left, one)) for one, found in pairs]
    found = [
        Finding(outcome, says, exchange)
        for one, other in pairs
        for outcome, says in _differences(one, other)
    ]
    found += [
        Finding(Outcome.MISREAD, f"{one} is read, and was not said", exchange) for one in left
    ]
    return found


def _taken(left: list[Statement], meant: Statement) -> Statement | None:
    """The one of the same kind about the same, which is left no longer."""
    for one in left:
        if (one.kind, one.subject) == (meant.kind, meant.subject):
            left.remove(one)
            return one
    return None


def _about_the_same(left: list[Statement], meant: Statement) -> Statement | None:
    """One of another kind about the same, or else one of the same application."""
    same = [one for one in left if one.subject == meant.subject]
    if meant.application:
        same += [one for one in left if one.application == meant.application]
    if not same:
        return None
    left.remove(same[0])
    return same[0]


def _differences(meant: Statement, understood: Statement | None) -> Iterator[tuple[Outcome, str]]:
    if understood is None:
        yield Outcome.NOT_HEARD, f"{meant} is not seen"
        return
    if (meant.kind, meant.subject) != (understood.kind, understood.subject):
        yield Outcome.MISREAD, f"{meant} is read as {understood}"
    lost = [concept for concept in meant.values if concept not in understood.values]
    if lost:
        names = ", ".join(_name(meant, concept) for concept in lost)
        yield Outcome.PARTLY_LOST, f"{meant} is read without {names}"
    for concept, value in meant.values.items():
        if concept in understood.values and understood.values[concept] != value:
            says = f"`{meant.named(concept)}` {_said(value)} of {meant} is read as "
            says += f"{_said(understood.values[concept])}"
            yield Outcome.MISREAD, says
    for concept, value in understood.values.items():
        if concept not in meant.values:
            says = f"{meant} is read with `{understood.named(concept)}` {_said(value)}"
            yield Outcome.MISREAD, f"{says}, which was not said"


def _name(statement: Statement, concept: str) -> str:
    name = f"`{statement.named(concept)}`"
    return f"its identity ({name})" if concept == IDENTITY else name


def _said(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
