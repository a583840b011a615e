"""Results of tests that an edited specification cannot express: neither pass nor fail."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from siconform.outcomes import NotExpressible
from siconform.protocol.notifications import NotInSpec
from siconform.recording.history import Entry, Exchange
from siconform.running.outcome_mapping import PhaseResult
from siconform.verdicts import BAD, Evidence, Verdict

_SPOILT = BAD | {Verdict.NOT_APPLICABLE}


def mask_inexpressible(result: PhaseResult, exchange: Exchange | None) -> PhaseResult:
    """Return the result, or COULD_NOT_RUN if it is not a pass and something was inexpressible.

    NOT_APPLICABLE may depend on behaviour probed before the test, so the whole history counts.
    """
    if isinstance(result.outcome, NotExpressible) or result.verdict not in _SPOILT:
        return result
    entries = [] if exchange is None else exchange.entries()
    if exchange is not None and result.verdict is Verdict.NOT_APPLICABLE:
        entries = exchange.everything()
    lost = _lost(entries)
    return result if lost is None else PhaseResult(Verdict.COULD_NOT_RUN, lost.message, lost)


def mask_violations(monitored: list[Evidence], exchange: Exchange) -> list[Evidence]:
    """Do the same for violations seen by monitors; report them as evidence of the test."""
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
        if isinstance(content, NotInSpec) and entry.number not in barriers:
            (sent if content.sent else observed)[content.element] = content.why
    if sent:
        return NotExpressible(sent)
    return NotExpressible(observed, what="received") if observed else None


def _answers_to_barriers(entries: Iterable[Entry]) -> frozenset[int]:
    """Return the numbers of the messages that only answer sync barriers."""
    received = [e for e in entries if not e.sent_by_rm and not isinstance(e.content, NotInSpec)]
    own = {entry.number for entry in received if not entry.barrier}
    return frozenset(entry.number for entry in received if entry.barrier) - own
