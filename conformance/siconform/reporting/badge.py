"""Badge of a run for the endpoint of shields.io: the verdict and how much was tested."""

import json
from collections.abc import Mapping
from typing import Any, Final

from siconform.catalogue import Side
from siconform.policy import RunVerdict
from siconform.reporting.certificate import Part
from siconform.verdicts import FAILED, VIOLATED, Verdict

FILE: Final = "badge.json"
_COLOURS: Final[Mapping[str, str]] = {
    RunVerdict.CONFORMANT: "brightgreen",
    RunVerdict.NON_CONFORMANT: "red",
    RunVerdict.INCOMPLETE: "orange",
}
_AS_RECORDED: Final = "yellow"


def badge(part: Part) -> dict[str, Any]:
    """Return label, message and colour: how many of the selected requirements were tested.

    A scheduler with known failures only is not conformant, and is not shown in red.
    """
    unexplained = sum(part.counts[verdict] for verdict in FAILED)
    as_recorded = part.verdict == RunVerdict.NON_CONFORMANT and not unexplained
    received = [part.verdict.lower(), f"{part.coverage} tested"]
    received += [v.counted(part.counts[v]) for v in Verdict if v in VIOLATED and part.counts[v]]
    return {
        "schemaVersion": 1,
        "label": _label(part),
        "message": ", ".join(received),
        "color": _AS_RECORDED if as_recorded else _COLOURS.get(part.verdict, "lightgrey"),
    }


def _label(part: Part) -> str:
    profile = f", profile {part.profile}" if part.profile else ""
    return f"SI {part.revision}{' RM' if part.side is Side.RM else ''}{profile}"


def written(part: Part) -> str:
    """Return the badge as JSON."""
    return json.dumps(badge(part), indent=1) + "\n"
