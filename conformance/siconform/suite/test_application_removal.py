"""Removal of applications, and what ends with them (SI-APP)."""

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE


@requirement("SI-APP-017")
def test_a_removed_application_loses_its_pending_asks(rm: ResourceManager) -> None:
    app, other = rm.has_application(), rm.has_application()
    orphan = rm.has_waiting_ask(app)
    waiting = rm.has_waiting_ask(other)

    rm.removes_application(app)
    rm.has_node()

    with rm.control("an equal ask of another application is allocated"):
        rm.is_served(waiting)
    rm.expect_none(Allocated(orphan))


@requirement("SI-APP-017")
def test_the_asks_of_a_removed_application_do_not_come_back_with_it(rm: ResourceManager) -> None:
    app = rm.has_application()
    orphan = rm.has_waiting_ask(app)

    rm.removes_application(app)
    rm.settles()
    rm.submits_application(app)
    received = rm.expect_one_of(ApplicationAccepted(app), ApplicationRejected(app))
    rm.has_node()

    if isinstance(received, ApplicationAccepted):  # its id may still be in use
        with rm.control("an ask of the new application is allocated"):
            rm.expect(Allocated(rm.asks(app)))
    rm.expect_none(Allocated(orphan))


@requirement("SI-APP-018")
def test_a_removed_application_frees_its_capacity(rm: ResourceManager) -> None:
    rm.has_node(memory=3)
    app, other = rm.has_application(), rm.has_application()
    for _ in range(3):
        rm.has_allocation(app)
    waiting = rm.has_waiting_ask(other)

    rm.removes_application(app)

    rm.is_served(waiting)


@requirement("SI-APP-018")
def test_applications_removed_in_one_message_free_their_capacity(rm: ResourceManager) -> None:
    rm.has_node(memory=6)
    apps, other = [rm.has_application() for _ in range(3)], rm.has_application()
    for app in apps:
        rm.has_allocation(app, memory=2)
    waiting = rm.has_waiting_ask(other, memory=6)

    with rm.one_message():
        for app in apps:
            rm.removes_application(app)

    rm.is_served(waiting)


@requirement("SI-APP-018")
def test_a_removed_application_frees_what_its_recovered_allocations_held(
    rm: ResourceManager,
) -> None:
    app, other = rm.has_application(), rm.has_application()
    node = rm.new_name("node")
    rm.has_recovered_node(node, rm.remembers_allocation(app, node, memory=10))
    waiting = rm.has_waiting_ask(other, memory=10)

    rm.removes_application(app)

    rm.is_served(waiting, node=node)


@requirement("SI-APP-018")
def test_a_removed_application_frees_its_share_on_a_draining_node(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    app, other = (rm.has_application(queue=QUOTA_QUEUE) for _ in range(2))
    draining = rm.has_node(memory=10)
    rm.has_allocation(app, memory=10)
    rm.drains(draining)
    node = rm.has_node(memory=20)
    waiting = rm.has_waiting_ask(other, memory=10)

    rm.removes_application(app)

    rm.is_served(waiting, node=node)


@requirement("SI-APP-019")
def test_removing_an_unknown_application_is_harmless(rm: ResourceManager) -> None:
    rm.has_node(memory=4)
    app, other = rm.has_application(), rm.has_application()
    allocation = rm.has_allocation(app, memory=4)
    waiting = rm.has_waiting_ask(other, memory=4)

    rm.removes_application(rm.new_name("app"))
    rm.removes_application(app, partition="nope")

    rm.expect_none(
        Released(identity=allocation.identity),
        Allocated(waiting),
        StreamEnded(UpdateKind.APPLICATIONS),
    )
    with rm.control("the removal in its own partition takes effect"):
        rm.removes_application(app)
        rm.is_served(waiting)


@requirement("SI-APP-020")
def test_the_id_of_a_removed_application_is_free_again(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    rm.removes_application(app)
    rm.expect(AskRejected(rm.asks(app)))

    rm.submits_application(app)
    rm.expect(ApplicationAccepted(app))
    rm.expect(Allocated(rm.asks(app)))


@requirement("SI-APP-020")
def test_an_application_that_is_added_again_counts_in_the_queue_it_names_then(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=100)
    app = rm.has_application()
    rm.removes_application(app)
    with rm.precondition("the id of a removed application is free again"):
        rm.submits_application(app, queue=QUOTA_QUEUE)
        rm.expect(ApplicationAccepted(app))
    rm.expect(Allocated(rm.asks(app, memory=8)))

    beyond = rm.asks(app, memory=8)

    rm.expect_none(Allocated(beyond))
    with rm.control("an ask within the maximum of the queue is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(app, memory=2)))


@requirement("SI-APP-035")
def test_every_allocation_that_ends_with_its_application_is_reported(rm: ResourceManager) -> None:
    rm.has_node()
    app, other = rm.has_application(), rm.has_application()
    ending = [rm.has_allocation(app) for _ in range(3)]
    staying = rm.has_allocation(other)

    rm.removes_application(app)

    rm.expect_end_of(*ending)
    rm.expect_none(Released(identity=staying.identity))


@requirement("SI-APP-035")
def test_each_allocation_of_one_ask_that_ends_with_its_application_is_reported(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    app = rm.has_application()
    ending = rm.has_allocations_of_one_ask(app)

    rm.removes_application(app)

    rm.expect_end_of(*ending)


@requirement("SI-APP-035")
def test_an_allocation_that_ends_with_its_application_on_a_draining_node_is_reported(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    app = rm.has_application()
    ending = rm.has_allocation(app)
    rm.drains(ending.node)
    rm.settles()

    rm.removes_application(app)

    rm.expect_end_of(ending)


@requirement("SI-APP-035")
def test_a_recovered_allocation_that_ends_with_its_application_is_reported(
    rm: ResourceManager,
) -> None:
    app, node = rm.has_application(), rm.new_name("node")
    existing = rm.remembers_allocation(app, node)
    rm.has_recovered_node(node, existing)
    rm.settles()

    rm.removes_application(app)

    rm.expect_end_of(existing)


@requirement("SI-APP-035")
def test_what_ends_with_a_gang_is_reported(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node()
    gang = rm.has_gang(members=2)
    placeholders = rm.has_placeholders(gang)
    real, gone = rm.has_replaced(gang, placeholders)
    [left] = [placeholder for placeholder in placeholders if placeholder != gone]

    rm.removes_application(gang)

    rm.expect_end_of(left, real)
