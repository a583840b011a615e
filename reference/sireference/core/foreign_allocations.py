"""Foreign allocations: room on nodes that somebody else uses, as the RM reports it."""

from sireference.core.model import Effect, ForeignAllocation, RejectedAllocation
from sireference.core.state.resource_manager import ResourceManager


def report(rm: ResourceManager, foreign: ForeignAllocation, _now: float) -> list[Effect]:
    """Say that nothing is known of foreign allocations yet."""
    reason = "foreign allocations are not counted"
    return [RejectedAllocation(rm.rm_id, foreign.key, foreign.application_id, reason)]
