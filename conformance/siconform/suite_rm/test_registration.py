"""SI-REG: an RM registers first, and again after each start, and then reports everything."""

from collections.abc import Callable, Sequence

import pytest

from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import ApplicationRequest, AskRequest
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler


@requirement("SI-REG-009")
@pytest.mark.parametrize(
    "cause", [DrivenRM.cuts_connection, DrivenRM.restarts], ids=["cut", "restart"]
)
def test_an_rm_reports_its_complete_state_after_every_registration(
    rm: DrivenRM, scheduler: SimulatedScheduler, cause: Callable[[DrivenRM], None]
) -> None:
    apps = [rm.runs(), rm.runs()]
    running = [scheduler.allocation_of(app) for app in apps]
    spare = rm.adds_node()
    with scheduler.placing_nothing():
        waiting = rm.submits(Group(members=3))
        scheduler.raises_barrier()  # an RM may request them one after the other
        pending = {one.key for one in scheduler.pending_of(waiting)}

        scheduler.lets_register(lambda: cause(rm))

        for node in {spare, *(one.node for one in running)}:
            scheduler.expects_node(node)
        for application in (*apps, waiting):
            scheduler.expects(Sent(ApplicationRequest, application=application))
        scheduler.expects_existing(*(one.key for one in running))
        scheduler.expects_members(waiting, len(pending))
        scheduler.expects_none(*(Sent(AskRequest, key=one.key) for one in running))


@requirement("SI-REG-009")
@pytest.mark.usefixtures("gang")
def test_a_member_that_has_replaced_a_placeholder_is_reported_too(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node(memory=2)
    app = rm.submits_gang(members=2, real_containers=1)
    rm.waits_until(
        lambda view: any(not one.placeholder and one.key in view.running for one in view.of(app)),
        "a placeholder is replaced",
    )
    running = scheduler.allocations_of(app, at_least=2)

    scheduler.lets_register(rm.restarts)

    scheduler.expects_existing(*(one.key for one in running))


@requirement("SI-REG-010")
def test_another_instance_of_the_rm_registers_under_the_same_rm_id(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    before = scheduler.engine.registration

    scheduler.lets_register(rm.fails_over)

    after = scheduler.engine.registration
    for name in ("rm", "policy_group"):
        first, second = getattr(before, name), getattr(after, name)
        if first != second:
            raise ConformanceFailure(
                f"the second instance registers with {name} {second!r}",
                expected=f"{first!r}, as the first instance",
            )


@requirement("SI-REG-011")
def test_an_rm_registers_before_it_sends_updates(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    scheduler.allocation_of(rm.runs())  # it sends updates at all
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
    """Return what a restarted RM sent before it registered, without what its old streams sent.

    Of each kind the first stream that ends is the old one.
    """
    first = next(i for i, one in enumerate(sent) if isinstance(one, RegistrationRequested))
    ends: dict[UpdateKind, int] = {}
    for i, one in enumerate(sent[:first]):
        if isinstance(one, StreamEnded):
            ends.setdefault(one.kind, i)
    return sent[max(ends.values(), default=-1) + 1 : first]
