"""How a test ends in which an edited text had no words for something: neither passed nor failed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from siconform.outcomes import NotExpressible
from siconform.protocol.notifications import NotInTheText
from siconform.recording.history import Entry, Exchange
from siconform.running.outcome_mapping import PhaseResult
from siconform.verdicts import BAD, Evidence, Verdict

_SPOILT = BAD | {Verdict.NOT_APPLICABLE}


def unless_unsaid(result: PhaseResult, exchange: Exchange | None) -> PhaseResult:
    """The result, unless it did not go well and something had no words: then that alone is told.

    What does not apply may hang on what was found out about the target before the test.
    """
    if isinstance(result.outcome, NotExpressible) or result.verdict not in _SPOILT:
        return result
    entries = [] if exchange is None else exchange.entries()
    if exchange is not None and result.verdict is Verdict.NOT_APPLICABLE:
        entries = exchange.everything()
    lost = _lost(entries)
    return result if lost is None else PhaseResult(Verdict.COULD_NOT_RUN, lost.message, lost)


def unless_unheard(monitored: list[Evidence], exchange: Exchange) -> list[Evidence]:
    """The same for what monitors complain of; it is the test's then, so that it is told."""
    lost = _lost(exchange.entries())
    if lost is None:
        return monitored
    return [
        replace(e, verdict=Verdict.COULD_NOT_RUN, message=lost.message, monitor="") if e.bad else e
        for e in monitored
    ]


def _lost(entries: Sequence[Entry]) -> NotExpressible | None:
    barriers = _answers_to_barriers(entries)
    sent: dict[str, str] = {}
    observed: dict[str, str] = {}
    for entry in entries:
        content = entry.content
        if isinstance(content, NotInTheText) and entry.number not in barriers:
            (sent if content.sent else observed)[content.element] = content.why
    if sent:
        return NotExpressible(sent)
    return NotExpressible(observed, what="heard") if observed else None


def _answers_to_barriers(entries: Iterable[Entry]) -> frozenset[int]:
    """The numbers of the messages that tell nothing of the test itself."""
    received = [e for e in entries if not e.sent_by_rm and not isinstance(e.content, NotInTheText)]
    own = {entry.number for entry in received if not entry.barrier}
    return frozenset(entry.number for entry in received if entry.barrier) - own
