"""SI-REG: an RM registers first, and again after each start."""

from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import StreamEnded
from siconform.protocol.registration import RegistrationRequested
from siconform.recording.history import Entry, Exchange
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-REG-011")
def test_an_rm_registers_before_it_sends_updates(
    rm: DrivenRM, scheduler: SimulatedScheduler, exchange: Exchange
) -> None:
    rm.runs()
    before = len(exchange.entries())

    rm.restarts()
    scheduler.expects_registration(after=exchange.start + before)

    early = updates_before_registration(exchange.entries()[before:])
    if early:
        raise ConformanceFailure(
            f"sent before the registration: {early[0].content}",
            expected="a registration before any update",
        )


def updates_before_registration(entries: list[Entry]) -> list[Entry]:
    """Return what a restarted RM sent before it registered, without what its old streams sent."""
    by_rm = [entry for entry in entries if entry.sent_by_rm]
    first = next(i for i, one in enumerate(by_rm) if isinstance(one.content, RegistrationRequested))
    ends = [i for i, one in enumerate(by_rm[:first]) if isinstance(one.content, StreamEnded)]
    return by_rm[max(ends, default=-1) + 1 : first]
