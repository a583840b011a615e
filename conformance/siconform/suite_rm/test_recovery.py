"""SI-REC: an RM that has registered again reports what runs, complete and in order."""

from dataclasses import replace

import pytest

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.matchers import ANY
from siconform.protocol.notifications import Allocated, ApplicationAccepted, Fact, NodeAccepted
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ApplicationRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
)
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler
from siconform.suite_rm.orders import comes_first


@requirement("SI-REC-005")
def test_applications_are_added_before_their_existing_allocations(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    apps = [rm.runs(containers=2), rm.runs()]
    keys = [one.key for app in apps for one in scheduler.allocations_of(app)]

    scheduler.lets_register(rm.restarts)

    with precondition("the RM reports what runs"):
        reported = scheduler.expects_existing(*keys)
    for app in apps:
        added = scheduler.expects_entry(Sent(ApplicationRequest, application=app))
        for entry, allocation in reported:
            if allocation.application == app:
                comes_first(scheduler, added, entry)


@requirement("SI-REC-009")
def test_a_node_that_is_created_draining_is_undrained_and_filled_before_it_takes_work(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    running = scheduler.allocation_of(rm.runs())
    with scheduler.placing_nothing():
        waiting = rm.submits()
        scheduler.pending_of(waiting)

        with scheduler.delaying_verdicts(ApplicationAccepted):
            scheduler.lets_register(rm.restarts)
            with precondition("the RM reports its node"):
                created = scheduler.expects_node(running.node)
            if created.action is not Action.CREATE_DRAINING:
                raise NotOffered("the RM does not create nodes draining when it registers again")
            added = Sent(ApplicationRequest, application=waiting)
            if scheduler.comes(added, within=scheduler.deadlines.ack):  # some add one at a time
                scheduler.gives_verdicts(waiting)
            scheduler.existing_within(scheduler.deadlines.ack, running.key)  # some do not wait

        with precondition("the RM reports what runs"):
            ((filled, _),) = scheduler.expects_existing(running.key)
        undrained = scheduler.expects_entry(
            Sent(NodeRequest, node=running.node, action=Action.UNDRAIN)
        )
        if any(one.at < filled.at for one in scheduler.entries(AskRequest)):
            comes_first(scheduler, filled, undrained)


@requirement("SI-REC-010")
def test_recovered_placeholders_keep_their_group(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node(memory=2)
    with scheduler.replacing_nothing():
        app = rm.submits_gang(members=2)
        placeholders = scheduler.allocations_of(app, at_least=2)
        rm.awaits_running(*(one.key for one in placeholders))

        for _ in range(2):
            scheduler.lets_register(rm.restarts)

            agree_on_gang(scheduler, placeholders)


@requirement("SI-REC-010")
def test_a_recovered_member_that_has_replaced_a_placeholder_is_no_placeholder(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node(memory=2)
    app = rm.submits_gang(members=2, real_containers=1)
    rm.waits_until(
        lambda view: any(not one.placeholder and one.key in view.running for one in view.of(app)),
        "a placeholder is replaced",
    )
    members = scheduler.allocations_of(app, at_least=2)

    scheduler.lets_register(rm.restarts)

    agree_on_gang(scheduler, members)


@requirement("SI-REC-018")
def test_recovered_allocations_repeat_the_fields_of_the_original(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node(memory=9, vcore=4)
    app = rm.submits(
        Group(1, {"memory": 5, "vcore": 2}, priority=7, labels={"colour": "blue"}),
        Group(2, {"memory": 2, "vcore": 1}, priority=5, labels={"colour": "red"}),
    )
    originals = scheduler.allocations_of(app, at_least=3)
    originals.append(scheduler.allocation_of(rm.runs()))  # the first node is full
    rm.awaits_running(*(one.key for one in originals))

    scheduler.lets_register(rm.restarts)

    repeats(scheduler, [as_before(one) for one in originals])


@requirement("SI-REC-024")
@pytest.mark.parametrize(
    ("verdict", "awaited"),
    [(NodeAccepted, NodeRequest), (ApplicationAccepted, ApplicationRequest)],
    ids=["node", "application"],
)
def test_existing_allocations_wait_for_the_verdicts_they_depend_on(
    rm: DrivenRM,
    scheduler: SimulatedScheduler,
    verdict: type[Fact],
    awaited: type[NodeRequest | ApplicationRequest],
) -> None:
    running = scheduler.allocation_of(rm.runs())

    with scheduler.delaying_verdicts(verdict):
        scheduler.lets_register(rm.restarts)

        with precondition("the RM reports what the verdict is about"):
            scheduler.expects(Sent(awaited))
        reported = (ExistingAllocationRequest, AllocationUpdate)
        scheduler.stays_quiet(*(Sent(kind, key=running.key) for kind in reported))

    with precondition("the RM reports what runs"):
        scheduler.expects_existing(running.key)


def agree_on_gang(scheduler: SimulatedScheduler, originals: list[Allocated]) -> None:
    """Check the task groups and placeholder flags of recovered allocations."""
    repeats(
        scheduler,
        [
            Allocated(one.key, task_group=one.task_group, placeholder=one.placeholder)
            for one in originals
        ],
    )


def as_before(original: Allocated) -> Allocated:
    """Return the pattern of an allocation that repeats this one."""
    free = {"identity", "task_group", "placeholder", "partition", "queue"}
    if original.originator is None:  # the revision has no field for it
        free.add("originator")
    return replace(original, **dict.fromkeys(free, ANY))


def repeats(scheduler: SimulatedScheduler, expected: list[Allocated]) -> None:
    """Check recovered allocations against patterns, one for each key."""
    with precondition("the RM reports what runs"):
        reported = scheduler.expects_existing(*(one.key for one in expected))
    for pattern, (_, allocation) in zip(expected, reported, strict=True):
        if not pattern.matches(allocation):
            raise ConformanceFailure(f"reported {allocation}", expected=str(pattern))
