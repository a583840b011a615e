"""Evidence that does not count against the target: MAY requirements and challenged ones."""

from dataclasses import replace

from siconform.baseline import Baseline
from siconform.catalogue import Level, known_requirements
from siconform.verdicts import FAILED, Evidence, Verdict


def why_not(evidence: Evidence, known: Baseline) -> str:
    """Return why this evidence does not count against the target."""
    disputed = known_requirements()[evidence.requirement].challenge_of(evidence.implemented_by)
    if evidence.verdict is Verdict.CHALLENGED and disputed is not None:
        return f"{disputed} ({disputed.reason})"
    return known.explaining(evidence)[0].reason


def mark_challenged(evidence: list[Evidence]) -> list[Evidence]:
    """Mark failures of disputed requirements or tests as challenged."""
    apart = []
    for e in evidence:
        disputed = known_requirements()[e.requirement].challenge_of(e.implemented_by)
        if disputed is None or e.verdict not in FAILED:
            apart.append(e)
        else:
            message = f"{e.verdict.label}: {e.message} ({disputed})"
            apart.append(replace(e, verdict=Verdict.CHALLENGED, message=message))
    return apart


def mark_capabilities(evidence: list[Evidence]) -> list[Evidence]:
    """Mark failures of a MAY as not applicable: the scheduler need not offer it."""
    return [
        replace(e, verdict=Verdict.NOT_APPLICABLE, message=f"not offered: {e.message}")
        if e.verdict in FAILED and known_requirements()[e.requirement].level is Level.MAY
        else e
        for e in evidence
    ]
