"""Counterexamples: minimised failing histories with the failure."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from siconform import monitors
from siconform.catalogue import Level, catalogue
from siconform.outcomes import Outcome
from siconform.protocol.notifications import Fact
from siconform.protocol.requests import AskRequest, NodeRequest
from siconform.recording.elements import element
from siconform.recording.history import Content, Exchange
from siconform.recording.history_verdict import HistoryVerdict
from siconform.verdicts import Verdict

_RANKS: Final = list(Level)  # most binding first
EXPECTED: Final = "expected"
"""The key of the last record of a history: the message that was expected but not received."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """One failure, with the history in which it occurred."""

    name: str  # of the violated monitor or law
    message: str
    requirements: tuple[str, ...]
    exchange: Exchange
    outcome: Outcome | None = None  # of a failed expectation
    expected: Fact | None = None  # the missing message

    @property
    def size(self) -> tuple[int, int]:
        """The number of elements the RM sent, and the sum of their amounts."""
        sent = [e.content for e in self.exchange.entries() if e.sent_by_rm and not e.barrier]
        return len(sent), sum(_amounts(content) for content in sent)

    @property
    def rank(self) -> int:
        """The place of its most binding requirement's level; a law without any is as a MUST."""
        levels = (catalogue()[identifier].level for identifier in self.requirements)
        return min(map(_RANKS.index, levels), default=_RANKS.index(Level.MUST))

    def write(self, path: Path) -> None:
        """Write the history as JSON lines, with its verdict and the missing message."""
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


class Found(Exception):  # minimised by Hypothesis
    """A failure; each kind has a separate subclass and shrinks separately."""


_CLASSES: dict[str, type[Found]] = {}


def raised_for(name: str) -> type[Found]:
    """Return the exception class for counterexamples of this name."""
    return _CLASSES.setdefault(name, type("Found", (Found,), {"name": name}))


def violations(
    exchange: Exchange, preconditions: dict[str, int], lacks: Collection[str] = ()
) -> list[Counterexample]:
    """Return the monitors' violations and add each one's evaluations to ``preconditions``.

    The most binding come first. Skips monitors that need a feature the target ``lacks``, and
    violations of a MAY: the target does not offer what it describes.
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
    binding = (one for one in found if one.rank < _RANKS.index(Level.MAY))
    return sorted(binding, key=lambda counterexample: counterexample.rank)


def smallest(counterexamples: Mapping[str, Counterexample]) -> list[Counterexample]:
    """Return the counterexamples, smallest first."""
    return sorted(
        counterexamples.values(),
        key=lambda counterexample: (counterexample.size, counterexample.name),
    )
