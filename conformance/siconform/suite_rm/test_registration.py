"""SI-REG: an RM registers first, and again after each start."""

from collections.abc import Sequence

from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import StreamEnded
from siconform.protocol.registration import RegistrationRequested
from siconform.scheduler.driven_rm import DrivenRM
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-REG-011")
def test_an_rm_registers_before_it_sends_updates(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.runs()
    before = scheduler.exchange.until()

    rm.restarts()
    scheduler.expects_registration(after=before)

    early = before_registration([e.content for i, e in scheduler.received() if i >= before])
    if early:
        raise ConformanceFailure(
            f"sent before the registration: {early[0]}",
            expected="a registration before any update",
        )


def before_registration(sent: Sequence[object]) -> Sequence[object]:
    """Return what a restarted RM sent before it registered, without what its old streams sent."""
    first = next(i for i, one in enumerate(sent) if isinstance(one, RegistrationRequested))
    ends = [i for i, one in enumerate(sent[:first]) if isinstance(one, StreamEnded)]
    return sent[max(ends, default=-1) + 1 : first]
