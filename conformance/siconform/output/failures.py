"""The failures of a run, each next to the reference's history of the same scenario."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from siconform.config.options import Settings
from siconform.output import side_by_side
from siconform.output.failure_text import FailureBlock, repeated, text_of
from siconform.recording import exchange_text
from siconform.recording.exchange_text import Line
from siconform.results import Failure

AskReference = Callable[[Sequence[str]], Mapping[str, str]]
"""Maps tests to the files with the reference's histories, if there are any."""


def received(
    blocks: Sequence[FailureBlock], settings: Settings, ask: AskReference
) -> list[Failure]:
    """Return all failures in the given order, long ones of random histories last."""
    blocks = sorted(blocks, key=attrgetter("is_random"))
    of_the_reference = ask([b.test for b in blocks if b.history and not b.is_random])
    return [_received(b, of_the_reference.get(b.test, ""), settings) for b in blocks]


def _received(block: FailureBlock, reference: str, settings: Settings) -> Failure:
    command = settings.command_line
    ours = _lines(settings.results, block.history) or []
    its = _lines(settings.results, reference)
    rows = side_by_side.rows(ours, its)
    return Failure(
        test=block.test,
        requirement=block.requirement,
        verdict=block.verdict,
        text=text_of(block, rows, command, settings.side, with_reference=its is not None),
        expected=block.expected,
        happened=block.happened,
        known=block.known,
        history=block.history,
        reference=reference if its is not None else "",
        exchange=[row.moment() for row in rows],
        again=repeated(block, command),
    )


def _lines(results: Path, history: str) -> list[Line] | None:
    """Return the lines of a history, or None if it cannot be read."""
    if not history:
        return None
    try:
        return exchange_text.lines(exchange_text.records(results / history))
    except (OSError, ValueError):
        return None
