"""SI-ALLOC: the keys of an RM, and updates of its running containers."""

from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.handles import Application
from siconform.protocol.notifications import Allocated
from siconform.protocol.requests import AllocationUpdate, AskRequest, ReleaseRequest
from siconform.protocol.subjects import OneAllocation
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler

LARGER = {"memory": 3, "vcore": 2}


@requirement("SI-ALLOC-017")
def test_containers_of_all_applications_have_keys_of_their_own(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    node = rm.adds_node()
    with scheduler.placing_nothing():
        apps = [rm.submits(Group(members=2)) for _ in range(2)]
        scheduler.raises_barrier()  # what has come is checked by the monitor
        have_keys_of_their_own(rm, apps)
    over, *_ = [rm.awaits_started(app, 2)[0] for app in apps]

    try:
        rm.stops_container(over)
        rm.adds_foreign_container(node)
    except PreconditionFailed as refused:
        scheduler.records(f"no container of others: {refused.message}")
    rm.submits()
    scheduler.raises_barrier()

    have_keys_of_their_own(rm, apps)


def have_keys_of_their_own(rm: DrivenRM, apps: list[Application]) -> None:
    """Check that no two containers of an application have the same key."""
    for app in apps:
        keys = [one.key for one in rm.looks().of(app) if one.key]
        if len(keys) != len(set(keys)):
            raise ConformanceFailure(
                f"containers of {app} have the keys {', '.join(keys)}",
                expected="a key of its own for each container",
            )


@requirement("SI-ALLOC-018")
def test_a_container_may_be_updated_under_its_key(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    app = rm.submits()
    allocation = scheduler.allocation_of(app)
    rm.awaits_running(allocation.key)

    with scheduler.only_new():
        rm.resizes_container(allocation.key, **LARGER)

        sent = first_about(allocation, scheduler)
    if not isinstance(sent, AllocationUpdate):
        raise NotOffered(f"a larger container is not updated: {sent or 'nothing is sent'}")
    updated = sent.allocation
    if updated.node != allocation.node or not LARGER.items() <= updated.resource.items():
        raise ConformanceFailure(
            f"{sent} on {updated.node or 'no node'}",
            expected=f"{allocation.key} with {LARGER} on {allocation.node}",
        )


def first_about(allocation: Allocated, scheduler: SimulatedScheduler) -> object:
    """Wait for an update, a release or an ask; return the first that comes, None without any."""
    app, key = allocation.application, allocation.key
    try:
        return scheduler.expects(
            Sent(AllocationUpdate, key=key),
            Sent(ReleaseRequest, subject=OneAllocation(app, allocation.identity)),
            Sent(AskRequest, application=app, key=key),
        )
    except ConformanceFailure:
        return None
