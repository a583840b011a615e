"""What exploring finds: a history and what is wrong with it, as small as it could be made."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from siconform import monitors
from siconform.outcomes import Outcome
from siconform.protocol.notifications import Fact
from siconform.protocol.requests import AskRequest, NodeRequest
from siconform.recording.elements import element
from siconform.recording.history import Content, Exchange
from siconform.recording.history_verdict import HistoryVerdict
from siconform.verdicts import Verdict

EXPECTED: Final = "expected"
"""The key of the last record of a history that ends with something that was not told."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """One thing that is wrong, in the history it was seen in."""

    name: str  # of the monitor or of the law that was broken
    message: str
    requirements: tuple[str, ...]
    exchange: Exchange
    outcome: Outcome | None = None  # where an expectation failed
    expected: Fact | None = None  # what was not told

    @property
    def size(self) -> tuple[int, int]:
        """How many elements the RM said, and the amounts in them together."""
        sent = [e.content for e in self.exchange.entries() if e.sent_by_rm and not e.barrier]
        return len(sent), sum(_amounts(content) for content in sent)

    def write(self, path: Path) -> None:
        """The history as JSON lines, and what it should have ended with."""
        self.exchange.write_jsonl(path)
        if self.outcome is None:
            named = next(iter(self.requirements), "")
            HistoryVerdict(named, Verdict.FAIL.value, self.message, monitor=self.name).add_to(path)
        if self.expected is not None:
            with path.open("a", encoding="utf-8") as out:
                out.write(json.dumps({EXPECTED: element(self.expected)}, ensure_ascii=False) + "\n")


def _amounts(content: Content) -> int:
    match content:
        case NodeRequest(capacity=amounts) | AskRequest(resource=amounts) if amounts is not None:
            times = content.max_allocations if isinstance(content, AskRequest) else 1
            return times + sum(amounts.values())
        case _:
            return 0


class Found(Exception):  # what Hypothesis makes smaller
    """Something is wrong; every kind of it has a class of its own, and shrinks by itself."""


_CLASSES: dict[str, type[Found]] = {}


def raised_for(name: str) -> type[Found]:
    """The class of counterexamples of this name."""
    return _CLASSES.setdefault(name, type("Found", (Found,), {"name": name}))


def violations(
    exchange: Exchange, preconditions: dict[str, int], lacks: Collection[str] = ()
) -> list[Counterexample]:
    """What the monitors complain of; ``preconditions`` counts how often each had something to do.

    Left out is what presupposes a feature that the target ``lacks``.
    """
    found = []
    for evaluated in monitors.check(exchange, lacks):
        preconditions[evaluated.monitor] = preconditions.get(evaluated.monitor, 0) + evaluated.held
        if evaluated.violation and evaluated.seen_at is not None:
            until = replace(exchange, end=evaluated.seen_at + 1)
            found.append(
                Counterexample(
                    evaluated.monitor, evaluated.violation, evaluated.requirements, until
                )
            )
    return found


def smallest(counterexamples: Mapping[str, Counterexample]) -> list[Counterexample]:
    """One counterexample of each name, those that take the least to see first."""
    return sorted(
        counterexamples.values(),
        key=lambda counterexample: (counterexample.size, counterexample.name),
    )
