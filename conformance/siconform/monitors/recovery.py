"""Rules about existing allocations: a rejection names the allocation and gives a reason."""

from typing import Final

from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    of_each,
    violated_if,
    without_reason,
)
from siconform.monitors.recovered_allocations import REPORTING, recovered_in
from siconform.protocol.notifications import AllocationRejected
from siconform.protocol.requests import ForeignAllocationRequest
from siconform.recording.history import Entry


def rejections_of_existing_allocations_are_complete() -> Evaluator:
    """A rejection of an existing allocation names key and application of one the RM reported."""
    reported: set[tuple[str, str]] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AllocationRejected(key=key, application=application):
                message = f"rejection of {key!r} of {application!r}, which the RM did not report"
                return violated_if((key, application) not in reported, message)
            case ForeignAllocationRequest(key=key):
                reported.add((key, ""))
            case content:
                reported.update((a.key, a.application) for a in recovered_in(content))
        return NOTHING_TO_EVALUATE

    return evaluate


def rejections_of_existing_allocations_give_a_reason() -> Evaluator:
    """A rejection of an existing allocation has a reason that is not empty."""
    return of_each(AllocationRejected, without_reason)


MONITORS: Final = (
    Monitor(
        rejections_of_existing_allocations_are_complete,
        ("SI-REC-017",),
        observes=(AllocationRejected, ForeignAllocationRequest, *REPORTING),
    ),
    Monitor(
        rejections_of_existing_allocations_give_a_reason,
        ("SI-REC-022",),
        observes=(AllocationRejected,),
        about_one_message=True,
    ),
)
