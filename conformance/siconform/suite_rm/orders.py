"""The order in which an RM sent two messages; nothing orders its streams."""

from siconform.outcomes import ConformanceFailure
from siconform.recording.history import Entry
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


def was_sent_before(scheduler: SimulatedScheduler, one: Entry, other: Entry) -> bool:
    """Return whether this was certainly sent first; two streams are not ordered exactly."""
    if scheduler.has_one_stream:
        return one.number < other.number
    return other.at - one.at > scheduler.deadlines.quiet


def comes_first(scheduler: SimulatedScheduler, first: Entry, second: Entry) -> None:
    """Check that one was sent no later than the other; in a message, lists have no order.

    Nothing orders two streams: what was sent on them in a row may arrive the other way round.
    """
    late = first.at - second.at
    if late > (0 if first.kind is second.kind else scheduler.deadlines.quiet):
        raise ConformanceFailure(
            f"{second.content} came {late:.3f} s before: {first.content}",
            expected=f"{first.content}, then {second.content}",
        )
