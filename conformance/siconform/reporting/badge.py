"""The badge of a run, as the endpoint of shields.io wants it: the verdict with its denominator."""

import json
from collections.abc import Mapping
from typing import Any, Final

from siconform.policy import RunVerdict
from siconform.reporting.certificate import Part
from siconform.verdicts import FAILED, REACHED, VIOLATED, Verdict

FILE: Final = "badge.json"
_COLOURS: Final[Mapping[str, str]] = {
    RunVerdict.CONFORMANT: "brightgreen",
    RunVerdict.NON_CONFORMANT: "red",
    RunVerdict.INCOMPLETE: "orange",
}
_AS_RECORDED: Final = "yellow"


def badge(part: Part) -> dict[str, Any]:
    """Label, message and colour: how many requirements of which revision were judged, of how many.

    A scheduler with known failures only is not conformant, and is not shown in red.
    """
    evaluated = sum(part.counts[verdict] for verdict in REACHED)
    of_all = sum(part.counts.values()) - part.counts[Verdict.OF_THE_RM]
    unexplained = sum(part.counts[verdict] for verdict in FAILED)
    as_recorded = part.verdict == RunVerdict.NON_CONFORMANT and not unexplained
    received = [part.verdict.lower(), f"{evaluated} of {of_all} judged"]
    received += [v.counted(part.counts[v]) for v in Verdict if v in VIOLATED and part.counts[v]]
    return {
        "schemaVersion": 1,
        "label": f"SI {part.revision}{f', profile {part.profile}' if part.profile else ''}",
        "message": ", ".join(received),
        "color": _AS_RECORDED if as_recorded else _COLOURS.get(part.verdict, "lightgrey"),
    }


def written(part: Part) -> str:
    """As JSON."""
    return json.dumps(badge(part), indent=1) + "\n"
