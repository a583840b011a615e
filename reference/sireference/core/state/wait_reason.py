"""Wait reasons: why an ask waits, as reported to the RM."""

from typing import NamedTuple

from sireference.core.model import SchedulingState


class WaitReason(NamedTuple):
    """A scheduling state and its reason."""

    state: SchedulingState
    reason: str
