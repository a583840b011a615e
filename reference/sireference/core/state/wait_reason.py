"""Why an ask waits, as the RM is told."""

from typing import NamedTuple

from sireference.core.model import SchedulingState


class WaitReason(NamedTuple):
    """How the scheduling of an ask goes, and why."""

    state: SchedulingState
    reason: str
