"""What of the evidence of a test is held against the target: no capability, nothing disputed."""

from dataclasses import replace

from siconform.baseline import Baseline
from siconform.catalogue import Level, known_requirements
from siconform.verdicts import FAILED, Evidence, Verdict


def why_not(evidence: Evidence, known: Baseline) -> str:
    """Why what is not held against the target is not."""
    disputed = known_requirements()[evidence.requirement].challenge_of(evidence.implemented_by)
    if evidence.verdict is Verdict.CHALLENGED and disputed is not None:
        return f"{disputed} ({disputed.reason})"
    return known.explaining(evidence)[0].reason


def challenged_apart(evidence: list[Evidence]) -> list[Evidence]:
    """What fails where that is disputed is no failure, and no pass."""
    apart = []
    for e in evidence:
        disputed = known_requirements()[e.requirement].challenge_of(e.implemented_by)
        if disputed is None or e.verdict not in FAILED:
            apart.append(e)
        else:
            message = f"{e.verdict.label}: {e.message} ({disputed})"
            apart.append(replace(e, verdict=Verdict.CHALLENGED, message=message))
    return apart


def capabilities_apart(evidence: list[Evidence]) -> list[Evidence]:
    """A MAY is something a scheduler can offer: not to offer it is no failure."""
    return [
        replace(e, verdict=Verdict.NOT_APPLICABLE, message=f"not offered: {e.message}")
        if e.verdict in FAILED and known_requirements()[e.requirement].level is Level.MAY
        else e
        for e in evidence
    ]
