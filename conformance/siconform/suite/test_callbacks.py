"""Callbacks: what a scheduler asks an RM that takes them, and the effect (SI-CB)."""

from collections.abc import Callable

from siconform.catalogue.features import Feature
from siconform.marks import registering_again_is_a_race, requirement
from siconform.protocol.callbacks import (
    Assumed,
    Forgotten,
    PlacementCheck,
    Scheduling,
    SchedulingReported,
)
from siconform.protocol.events import EventReceived
from siconform.protocol.facets import Facet
from siconform.protocol.handles import Ask
from siconform.protocol.matchers import AnotherThan, OneOf
from siconform.protocol.notifications import Allocated, Released, UpdateKind
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.allocations import MAY_PREEMPT
from siconform.rm.steps.gangs import QUOTA_QUEUE, TASK_GROUP
from siconform.rm.steps.preemption import CLAIM, ENTITLED_QUEUE, TAKING_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM

MAY_WAIT = (Scheduling.FAILED, Scheduling.SKIPPED)  # no node has capacity, or none was tried


@registering_again_is_a_race
@requirement("SI-CB-001")
def test_callbacks_go_to_those_of_the_latest_registration(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    first = unregistered_rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    unregistered_rm.has_node()
    with unregistered_rm.precondition("an RM that takes placement checks is asked"):
        early = unregistered_rm.asks(unregistered_rm.has_application())
        unregistered_rm.expect(PlacementCheck(early, offer=first))
        unregistered_rm.expect(Allocated(early))

    unregistered_rm.has_registered_again()
    second = unregistered_rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    unregistered_rm.has_node()
    late = unregistered_rm.asks(unregistered_rm.has_application())

    unregistered_rm.expect(PlacementCheck(late, offer=second))
    unregistered_rm.expect_none(PlacementCheck(late, offer=first))


@registering_again_is_a_race
@requirement("SI-CB-001")
def test_events_go_to_the_callbacks_of_the_latest_registration(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered()
    first = unregistered_rm.takes_callbacks(Facet.EVENTS)
    unregistered_rm.has_node()
    unregistered_rm.presupposes_some(unregistered_rm.events_so_far(), "nodes")

    unregistered_rm.has_registered_again()
    unregistered_rm.takes_callbacks(Facet.EVENTS)
    node = unregistered_rm.has_node()

    unregistered_rm.events_so_far()
    unregistered_rm.expect_none(EventReceived(node, offer=first))


@requirement("SI-CB-001", "SI-CONN-004")
def test_placement_checks_go_to_the_rm_that_asked(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    second_rm.joins()
    rms = (rm, second_rm)
    for one in rms:
        one.takes_callbacks(Facet.PLACEMENT_CHECKS)
        one.has_node()

    asks = []
    for one in rms:
        asks.append(one.asks(one.has_application()))
        one.expect(Allocated(asks[-1]))

    for one, other in zip(rms, reversed(asks), strict=True):
        one.expect_none(PlacementCheck(other))
    for one, own in zip(rms, asks, strict=True):
        with one.control("an RM that takes placement checks is asked"):
            one.expect(PlacementCheck(own))


@requirement("SI-CB-001", "SI-CONN-004")
def test_events_about_the_objects_of_an_rm_go_to_that_rm(
    rm: ResourceManager, second_rm: UnregisteredRM
) -> None:
    second_rm.joins()
    rms = (rm, second_rm)
    for one in rms:
        one.observes_events()

    objects = []
    for one in rms:
        node, app = one.has_node(), one.has_application()
        allocation = one.has_allocation(app)
        objects.append(OneOf((node, app, allocation.key)))

    for one, own, others in zip(rms, objects, reversed(objects), strict=True):
        one.events_so_far()
        one.presupposes_some(one.observe(EventReceived(own)), "what an RM has")
        one.expect_none(EventReceived(others))


@requirement("SI-CB-002")
def test_an_ask_goes_only_where_the_rm_wants_it(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    nodes = [rm.has_node(memory=10) for _ in range(2)]
    app = rm.has_application()
    with rm.control("where nothing is refused both nodes are used"):
        for _ in nodes:
            rm.expect(Allocated(rm.asks(app, memory=6)))

    for unwanted, wanted in (nodes, reversed(nodes)):
        key = rm.new_name("ask")
        rm.refuses(key, on=unwanted)
        rm.asks(app, key=key)
        rm.expect(Allocated(key, node=wanted))
        rm.came_before(PlacementCheck(key, node=wanted), Allocated(key))
    nowhere = rm.new_name("ask")
    for node in nodes:
        rm.refuses(nowhere, on=node)
    rm.asks(app, key=nowhere)
    rm.expect_none(Allocated(nowhere))


@requirement("SI-CB-002")
def test_a_placeholder_goes_only_where_the_rm_wants_it(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    nodes = [rm.has_node(memory=10) for _ in range(2)]

    for unwanted, wanted in (nodes, reversed(nodes)):
        key = rm.new_name("placeholder")
        rm.refuses(key, on=unwanted)
        gang = rm.has_gang(members=1)
        rm.asks(gang, key=key, resources=gang.member, task_group=TASK_GROUP, placeholder=True)
        rm.expect(Allocated(key, node=wanted))
        rm.came_before(PlacementCheck(key, node=wanted), Allocated(key))


@requirement("SI-CB-002")
def test_each_allocation_of_an_ask_goes_only_where_the_rm_wants_it(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    _, unwanted = [rm.has_node(memory=10) for _ in range(2)]
    app = rm.has_application()
    with rm.control("where nothing is refused both nodes are used"):
        for allocation in rm.has_allocations_of_one_ask(app, times=2, memory=6):
            rm.has_released(allocation)

    key = rm.new_name("ask")
    rm.refuses(key, on=unwanted)
    rm.asks(app, key=key, memory=6, times=2)

    rm.expect_none(Allocated(key, node=unwanted))


@requirement("SI-CB-002")
def test_a_pending_ask_goes_to_a_new_node_once_the_rm_wants_it_there(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    rm.has_full_node()
    waiting = rm.has_waiting_ask(rm.has_application())

    node = rm.has_node()

    allocation = rm.is_served(waiting, node=node)
    key = allocation.key
    rm.came_before(PlacementCheck(key, node=node), Allocated(key))


@requirement("SI-CB-002")
def test_a_real_ask_takes_the_place_of_its_placeholder_only_where_the_rm_wants_it(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    gang, [placeholder] = rm.has_complete_gang(memory=4)
    rm.has_node(memory=4)

    key = rm.new_name("ask")
    rm.refuses(key, on=placeholder.node)
    rm.asks(gang, key=key, resources=gang.member, task_group=TASK_GROUP)

    rm.expect_none(Allocated(key, node=placeholder.node))
    with rm.control("an ask that the RM does not refuse is allocated"):
        rm.expect(Allocated(rm.asks_member(gang)))


@requirement("SI-CB-002")
def test_a_preempting_ask_goes_only_where_the_rm_wants_it(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    taken = rm.has_taken_node()
    with rm.control("a preempting ask that the RM does not refuse is allocated"):
        welcome = rm.claims(taken.entitled)
        rm.sees_preemption_of(*taken.allocations, by=welcome)
        rm.expect(Allocated(welcome))

    key = rm.new_name("ask")
    rm.refuses(key, on=taken.node)
    rm.asks(taken.entitled, key=key, memory=1, priority=CLAIM, policy=MAY_PREEMPT)

    rm.stays_quiet(Allocated(key), window=rm.deadlines.place)


def drained(rm: ResourceManager, _ask: Ask, node: str) -> None:
    rm.drains(node)
    rm.barriers(UpdateKind.NODES)


def decommissioned(rm: ResourceManager, _ask: Ask, node: str) -> None:
    rm.decommissions(node)
    rm.barriers(UpdateKind.NODES)


def shrunk(rm: ResourceManager, _ask: Ask, node: str) -> None:
    rm.updates_node(node, memory=1)
    rm.barriers(UpdateKind.NODES)


def withdrawn(rm: ResourceManager, ask: Ask, _node: str) -> None:
    rm.withdraws(ask)
    rm.barriers(UpdateKind.ALLOCATIONS)


def is_not_allocated_once(
    rm: ResourceManager, happened: Callable[[ResourceManager, Ask, str], None]
) -> None:
    rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    node = rm.has_node(memory=10)
    app = rm.has_application()
    with rm.control("an ask that the RM is asked about is allocated"):
        rm.has_released(rm.has_allocation(app, memory=10))
    with rm.holds_answers_back():
        ask = rm.asks(app, memory=10)
        rm.is_asked_about(ask)
        happened(rm, ask, node)

    rm.expect_none(Allocated(ask))


@requirement("SI-NODE-026")
def test_an_ask_is_not_allocated_on_a_node_drained_while_the_rm_is_asked(
    rm: ResourceManager,
) -> None:
    is_not_allocated_once(rm, drained)


@requirement("SI-NODE-033")
def test_an_ask_is_not_allocated_on_a_node_decommissioned_while_the_rm_is_asked(
    rm: ResourceManager,
) -> None:
    is_not_allocated_once(rm, decommissioned)


@requirement("SI-NODE-018")
def test_an_ask_is_not_allocated_on_a_node_that_shrank_while_the_rm_is_asked(
    rm: ResourceManager,
) -> None:
    is_not_allocated_once(rm, shrunk)


@requirement("SI-REL-015")
def test_an_ask_withdrawn_while_the_rm_is_asked_is_not_allocated(rm: ResourceManager) -> None:
    is_not_allocated_once(rm, withdrawn)


@requirement("SI-CB-003")
def test_a_placement_check_names_a_known_ask_and_node(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.PLACEMENT_CHECKS)
    nodes = [rm.has_node(memory=10) for _ in range(2)]
    app = rm.has_application()

    fitting = rm.asks(app, memory=6)
    allocation = rm.expect(Allocated(fitting))
    too_large_for_one_node = rm.asks(app, memory=8)
    rm.expect(Allocated(too_large_for_one_node))
    too_large = rm.asks(app, memory=9)
    rm.settles()

    rm.every_check_names([fitting, too_large_for_one_node, too_large], nodes)
    rm.expect(PlacementCheck(fitting, node=allocation.node, allocate=True))


@requirement("SI-CB-004")
def test_an_rm_that_takes_no_callbacks_is_scheduled_all_the_same(rm: ResourceManager) -> None:
    node = rm.has_node()
    app = rm.has_application()

    rm.expect(Allocated(rm.asks(app), node=node))


@requirement("SI-CB-005")
def test_an_eviction_check_names_victims_in_order(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.EVICTION_CHECKS)
    for _ in range(2):
        rm.has_node(memory=5)
    taker = rm.has_application(queue=TAKING_QUEUE)
    rm.has_released(rm.has_allocation(taker))  # naming this one shows outdated state
    allocations = [rm.has_allocation(taker) for _ in range(10)]
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    ask = rm.asks(entitled, memory=3, policy=MAY_PREEMPT)

    check = rm.sees_eviction_check(ask)
    rm.names_victims(check, allocations)


@requirement("SI-CB-007")
def test_no_more_is_preempted_than_the_rm_lets_go(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.EVICTION_CHECKS)
    taken = rm.has_taken_node()

    rm.refuses_evictions()
    refused = rm.asks(taken.entitled, memory=2, policy=MAY_PREEMPT)
    rm.sees_eviction_check(refused)
    rm.sees_no_preemption_of(*taken.allocations)
    rm.withdraws(refused)

    rm.welcomes_evictions()
    welcome = rm.asks(taken.entitled, memory=2, policy=MAY_PREEMPT)
    rm.sees_eviction_check(welcome)
    with rm.control("with the RM's consent victims are released"):
        identities = tuple(one.identity for one in taken.allocations)
        rm.expect(Released(identity=OneOf(identities)))
    rm.evicts_no_more_than(welcome, taken.allocations)


@requirement("SI-CB-009")
def test_a_reported_container_state_fits_the_ask(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.CONTAINER_STATES)
    rm.has_node(memory=10)
    app = rm.has_application()

    huge = rm.asks(app, memory=50)

    rm.sees_a_report()
    rm.every_report_names_an_ask()
    rm.expect_none(
        SchedulingReported(huge, application=AnotherThan(app)),
        *(SchedulingReported(huge, state=s) for s in Scheduling if s not in MAY_WAIT),
    )


@requirement("SI-CB-009")
def test_a_reported_container_state_fits_an_ask_beyond_the_maximum_of_its_queue(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.takes_callbacks(Facet.CONTAINER_STATES)
    rm.has_node(memory=100)
    app = rm.has_application(queue=QUOTA_QUEUE)

    beyond = rm.has_ask_left_alone(app, "the quota of a queue", memory=11)

    rm.settles()
    rm.expect_none(*(SchedulingReported(beyond, state=s) for s in Scheduling if s not in MAY_WAIT))


@requirement("SI-CB-011")
def test_allocations_are_assumed_and_later_forgotten(rm: ResourceManager) -> None:
    rm.takes_callbacks(Facet.CACHE_SYNCHRONISATION)
    node = rm.has_node()
    app = rm.has_application()

    ask = rm.asks(app)
    allocation = rm.expect(Allocated(ask, node=node))
    rm.expect(Assumed(ask, node=node))
    rm.expect_none(Forgotten(ask))

    rm.releases(allocation)
    rm.expect(Released(identity=allocation.identity))
    forgotten = rm.receive_if_any(Forgotten(ask))
    rm.records("a released allocation", forgotten, otherwise="nothing is sent")
