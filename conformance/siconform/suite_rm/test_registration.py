"""SI-REG: an RM registers first, and again after each start, and then reports everything."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress

import pytest

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import (
    Amounts,
    ApplicationRequest,
    AskRequest,
    NodeRequest,
)
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
def test_what_is_reported_again_has_the_latest_values(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    node = rm.adds_node()
    scheduler.awaits_node(node)
    with suppress(PreconditionFailed):  # a driver without this action
        rm.resizes_node(node, memory=20, vcore=15)
    group = Group(2, {"memory": 2, "vcore": 1}, priority=5, labels={"colour": "blue"})
    with scheduler.placing_nothing():
        app = rm.submits(group, queue="root.other", user="another")
        pending = scheduler.pending_of(app)
        added = scheduler.expects(Sent(ApplicationRequest, application=app))
        scheduler.raises_barrier()
        capacity = latest_capacity(scheduler, node)

        scheduler.lets_register(rm.restarts)

        is_added_as_before(scheduler, added)
        scheduler.expects_members(
            app,
            len(pending),
            resource=pending[0].resource,
            priority=pending[0].priority,
            tags=pending[0].tags,
        )
        scheduler.expects_node(node)
        scheduler.raises_barrier()  # an RM may update a node after it has created it
    again = latest_capacity(scheduler, node)
    if again != capacity:
        raise ConformanceFailure(f"{node} has {again}", expected=f"{capacity}, as before")


@requirement("SI-REG-009")
@pytest.mark.usefixtures("gang")
def test_placeholders_that_are_still_pending_are_requested_again(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    scheduler.awaits_node(rm.adds_node())
    group = rm.new_name("group")
    with scheduler.placing_nothing():
        app = rm.submits(Group(3, name=group, real_containers=3))
        with precondition("the RM asks for a placeholder for each member"):
            first, *_ = scheduler.expects_members(app, 3, placeholder=True)
        added = scheduler.expects(Sent(ApplicationRequest, application=app))
        scheduler.allocates(first.key)
        rm.awaits_running(first.key)

        scheduler.lets_register(rm.restarts)

        is_added_as_before(scheduler, added)
        scheduler.expects_existing(first.key)
        scheduler.expects_members(app, 2, placeholder=True, task_group=group)


def is_added_as_before(scheduler: SimulatedScheduler, before: ApplicationRequest) -> None:
    """Check that an application is added again, to its queue, for its user, with its gang."""
    again = scheduler.expects(Sent(ApplicationRequest, application=before.application))
    for name in ("queue", "user", "placeholder_ask"):
        was, is_now = getattr(before, name), getattr(again, name)
        if was != is_now:
            raise ConformanceFailure(
                f"{again.application} is added with {name} {is_now!r}", expected=f"{was!r}"
            )


def latest_capacity(scheduler: SimulatedScheduler, node: str) -> Amounts:
    """Return the basic capacity of a node as it was reported last in this registration."""
    reports: list[NodeRequest] = scheduler.observed(Sent(NodeRequest, node=node))
    latest = next(one.capacity for one in reversed(reports) if one.capacity is not None)
    return {name: latest.get(name, 0) for name in ("memory", "vcore")}


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


@requirement("SI-REG-011")
@pytest.mark.parametrize(
    "hinders",
    [SimulatedScheduler.holding_registrations, SimulatedScheduler.refusing_registrations],
    ids=["not answered", "refused"],
)
def test_an_rm_sends_no_update_until_its_registration_is_answered(
    rm: DrivenRM,
    scheduler: SimulatedScheduler,
    hinders: Callable[[SimulatedScheduler], AbstractContextManager[None]],
) -> None:
    scheduler.allocation_of(rm.runs())  # it sends updates at all
    before = scheduler.exchange.until()

    with hinders(scheduler):
        rm.restarts()
        scheduler.expects_registration(after=before)
        scheduler.waits()
        early = scheduler.sent_before_success(before)

    if early:
        raise ConformanceFailure(
            f"sent before the registration succeeded: {early[0]}",
            expected="no update until the scheduler has accepted the registration",
        )
    if not scheduler.rm_runs():
        raise NotOffered("an RM that is refused ends")
    in_the_end = scheduler.accepts_registration(after=before)
    scheduler.records(f"a restarted RM registers {'in the end' if in_the_end else 'once'}")


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
