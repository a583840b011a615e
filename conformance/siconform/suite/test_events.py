"""Events: records that a scheduler may send about its objects (SI-EVT).

No revision requires a record for a change, and details of later revisions are allowed. So only
received records are checked; that every change leads to one is a separate SHOULD (SI-EVT-013).
"""

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement, waits
from siconform.protocol.events import (
    Detail,
    EmptyBatch,
    EventChange,
    EventReceived,
    Subject,
)
from siconform.protocol.handles import Application
from siconform.protocol.matchers import OneOf
from siconform.protocol.notifications import Allocated, Released, Termination
from siconform.protocol.queue_configurations import queues_with_guarantees, queues_with_quotas
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.allocations import MAY_PREEMPT
from siconform.rm.steps.gangs import HARD, SOFT, Style
from siconform.rm.unregistered_rm import UnregisteredRM

NEW_NODE = [Detail.NODE_SCHEDULABLE, Detail.NODE_READY, Detail.NODE_CAPACITY, Detail.NODE_OCCUPIED]
NEW_QUEUE = [Detail.QUEUE_TYPE, Detail.QUEUE_MAX, Detail.QUEUE_GUARANTEED]
FATES = [Detail.APP_REJECT, Detail.APP_FAILING, Detail.APP_FAILED, Detail.APP_RESUMING]
NOT_OF_A_GANG = {
    HARD: [Detail.APP_REJECT, Detail.APP_RESUMING],
    SOFT: [Detail.APP_REJECT, Detail.APP_FAILING, Detail.APP_FAILED],
}
ALLOCATIONS = [Detail.APP_ALLOC, Detail.NODE_ALLOC, Detail.QUEUE_ALLOC]
GONE_NODE = [Detail.NODE_SCHEDULABLE, Detail.NODE_ALLOC, Detail.NODE_DECOMMISSION]


@requirement("SI-EVT-001")
def test_events_come_as_records_by_callback(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()
    rm.expect(Allocated(rm.asks(rm.has_application())))

    events = rm.events_so_far()

    rm.expect(EventReceived())
    for event in events:
        rm.names_a_known_object(event)
    rm.expect_none(EmptyBatch())


@requirement("SI-EVT-002")
def test_every_record_has_a_type_an_object_and_a_time(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()
    app = rm.has_application()
    rm.releases(rm.has_allocation(app))

    events = rm.events_so_far()

    rm.presupposes_some(events, "anything")
    for event in events:
        rm.names_a_known_object(event)
        rm.reports_the_time_in_nanoseconds(event)


@requirement("SI-EVT-003")
def test_the_group_of_an_object_is_what_it_belongs_to(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()
    app = rm.has_application()
    ask = rm.asks(app)
    rm.expect(Allocated(ask))

    rm.events_so_far()

    about_ask = rm.observe(EventReceived(ask, Subject.REQUEST))
    about_app = rm.observe(EventReceived(app, Subject.APPLICATION))
    rm.presupposes_some([*about_ask, *about_app], "asks and applications")
    for event in about_ask:
        rm.agrees(event, EventReceived(group=app))
    for event in about_app:
        rm.agrees(event, EventReceived(group=app.queue))
    rm.expect_none(EventReceived(ask, reason=""), EventReceived(app, reason=""))


@requirement("SI-EVT-004")
def test_no_record_is_without_type(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()
    rm.releases(rm.has_allocation(rm.has_application()))

    rm.presupposes_some(rm.events_so_far(), "anything")

    rm.expect_none(EventReceived(subject=Subject.UNSET))


@waits
@requirement("SI-EVT-005")
def test_the_change_reports_what_came_changed_and_went(rm: ResourceManager) -> None:
    rm.observes_events()

    node = rm.has_node(memory=10)
    came = rm.events_of_this_step(node, Subject.NODE)
    rm.updates_node(node, memory=20)
    changed = rm.events_of_this_step(node, Subject.NODE)
    rm.decommissions(node)
    went = rm.events_of_this_step(node, Subject.NODE)

    rm.presupposes_some([*came, *changed, *went], "nodes")
    rm.never_reports(came, EventChange.REMOVE)
    rm.never_reports(changed, EventChange.ADD, EventChange.REMOVE)
    rm.never_reports(went, EventChange.ADD)
    rm.reports_as(changed, Detail.NODE_CAPACITY, EventChange.SET)
    rm.reports_as(went, Detail.NODE_DECOMMISSION, EventChange.REMOVE)


def records_of(
    rm: ResourceManager, app: Application, *objects: str, node: str = ""
) -> list[EventReceived]:
    """Return new records of the application and the node, and of the queue about ``objects``."""
    of_app = rm.events_of_this_step(app, Subject.APPLICATION)
    of_node = rm.events_of_this_step(node, Subject.NODE) if node else []
    of_queue = rm.events_of_this_step(app.queue, Subject.QUEUE)  # it may be that of others, too
    return [*of_app, *of_node, *(event for event in of_queue if event.reference in objects)]


@waits
@requirement("SI-EVT-005")
def test_the_change_reports_what_is_allocated_and_released(rm: ResourceManager) -> None:
    rm.observes_events()
    node = rm.has_node()
    app = rm.has_application()

    allocation = rm.has_allocation(app)
    names = (allocation.identity, allocation.key)
    allocated = records_of(rm, app, *names, node=node)
    rm.releases(allocation)
    rm.expect(Released(identity=allocation.identity))
    released = records_of(rm, app, *names, node=node)

    came = [event for event in allocated if event.detail in ALLOCATIONS]
    ends = (*ALLOCATIONS, Detail.ALLOC_CANCEL)
    went = [event for event in released if event.detail in ends]
    rm.presupposes_some([*came, *went], "allocations")
    rm.never_reports(came, EventChange.REMOVE)
    rm.never_reports(went, EventChange.ADD)


@waits
@requirement("SI-EVT-005")
def test_the_change_reports_an_application_that_comes_and_goes(rm: ResourceManager) -> None:
    rm.observes_events()
    app = rm.has_application()

    came = records_of(rm, app, app)
    rm.removes_application(app)
    went = records_of(rm, app, app)

    rm.presupposes_some([*came, *went], "applications")
    rm.never_reports(came, EventChange.REMOVE)
    rm.never_reports(went, EventChange.ADD)


@waits
@requirement("SI-EVT-005")
def test_the_change_reports_a_queue_that_comes_and_goes(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=8))
    unregistered_rm.observes_events()
    unregistered_rm.events_so_far()

    unregistered_rm.has_been_reconfigured(queues_with_quotas(first=8, second=8))
    came = unregistered_rm.events_of_this_step("root.second", Subject.QUEUE)
    unregistered_rm.has_been_reconfigured(queues_with_quotas(first=8))
    went = unregistered_rm.events_of_this_step("root.second", Subject.QUEUE)

    unregistered_rm.presupposes_some([*came, *went], "queues")
    unregistered_rm.never_reports(came, EventChange.REMOVE)
    unregistered_rm.never_reports(went, EventChange.ADD)


@requirement("SI-EVT-006")
def test_the_detail_belongs_to_the_type_of_its_record(rm: ResourceManager) -> None:
    rm.observes_events()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.releases(rm.has_allocation(app))
    rm.withdraws(rm.has_waiting_ask(app, memory=50))
    rm.has_allocation(app)
    rm.decommissions(node)

    events = rm.events_so_far()

    rm.presupposes_some([e for e in events if e.detail is not Detail.NONE], "details")
    for event in events:
        rm.reports_a_detail_of_its_type(event)


@requirement("SI-EVT-007")
def test_the_details_of_an_application_follow_its_life(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()
    app = rm.has_application()
    rm.events_of_this_step(app, Subject.APPLICATION)  # it may be waiting: it has nothing yet
    allocation = rm.has_allocation(app)
    running = rm.events_of_this_step(app, Subject.APPLICATION)
    rm.releases(allocation)
    rejected = rm.has_rejected_application()

    rm.events_so_far()

    rm.does_not_report(running, *FATES, Detail.APP_COMPLETING, Detail.APP_COMPLETED)
    life = rm.observe(EventReceived(app, Subject.APPLICATION))
    rm.does_not_report(life, *FATES)
    refusal = rm.observe(EventReceived(rejected, Subject.APPLICATION))
    rm.presupposes_some([*life, *refusal], "applications")
    rm.reports_states_in_order(app, life)
    rm.reports_only_the_refusal(refusal)


@pytest.mark.parametrize("style", [HARD, SOFT])
@requirement("SI-EVT-007")
def test_the_details_of_a_gang_that_timed_out_follow_its_life(
    rm: ResourceManager, style: Style
) -> None:
    rm.observes_events()
    partial = rm.has_partial_gang(style=style, limit=rm.short_limit())
    rm.has_expired(partial)
    rm.settles()

    rm.events_so_far()

    life = rm.observe(EventReceived(partial.gang, Subject.APPLICATION))
    rm.presupposes_some(life, "applications")
    rm.reports_states_in_order(partial.gang, life)
    rm.does_not_report(life, *NOT_OF_A_GANG[style])


@requirement("SI-EVT-008")
def test_an_allocation_the_rm_ends_is_reported_as_cancelled(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node(memory=10)
    allocation = rm.has_allocation(rm.has_application())

    rm.releases(allocation)
    rm.events_so_far()

    ends = rm.endings_of(allocation)
    rm.presupposes_some(ends, "the ends of allocations")
    rm.only_reports(ends, Detail.ALLOC_CANCEL, Detail.REQUEST_ALLOC)


@requirement("SI-EVT-008")
def test_an_ask_the_rm_withdraws_is_reported_as_cancelled(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node(memory=10)
    withdrawn = rm.has_pending_ask(rm.has_application(), memory=50)

    rm.withdraws(withdrawn)
    rm.events_so_far()

    cancelled = rm.endings_of(withdrawn)
    rm.presupposes_some(cancelled, "the ends of asks")
    rm.only_reports(cancelled, Detail.REQUEST_CANCEL)


@requirement("SI-EVT-008")
def test_what_ends_with_its_application_is_reported_as_cancelled(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node(memory=10)
    app = rm.has_application()
    allocation, pending = rm.has_allocation(app), rm.has_pending_ask(app, memory=50)

    rm.removes_application(app)
    rm.expect_end_of(allocation)
    rm.events_so_far()

    ends, cancelled = rm.endings_of(allocation), rm.endings_of(pending)
    rm.presupposes_some([*ends, *cancelled], "the ends of allocations and asks")
    rm.only_reports(ends, Detail.ALLOC_CANCEL, Detail.REQUEST_ALLOC, Detail.REQUEST_CANCEL)
    rm.only_reports(cancelled, Detail.REQUEST_CANCEL)


@requirement("SI-EVT-008")
def test_what_ends_with_a_timeout_is_reported_as_such(rm: ResourceManager) -> None:
    rm.observes_events()
    partial = rm.has_partial_gang(style=HARD, limit=rm.short_limit())
    rm.has_expired(partial)
    rm.settles()

    rm.events_so_far()

    pending = rm.endings_of(partial.pending)
    placeholders = [event for p in partial.placeholders for event in rm.endings_of(p)]
    rm.presupposes_some([*pending, *placeholders], "a placeholder timeout")
    rm.only_reports(pending, Detail.REQUEST_TIMEOUT)
    # The asks of allocated placeholders may end for the same reason.
    rm.only_reports(
        placeholders, Detail.ALLOC_TIMEOUT, Detail.REQUEST_TIMEOUT, Detail.REQUEST_ALLOC
    )


@requirement("SI-EVT-008")
def test_an_allocation_that_ends_with_the_time_of_its_application_is_reported_as_such(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.EXECUTION_TIMEOUT)
    rm.observes_events()
    rm.has_node()
    limit = rm.long_enough_to_be_served(0.5)
    app = rm.has_application(timeout_ms=round(1000 * limit))
    allocation = rm.has_allocation(app)
    over = Released(application=app, termination=Termination.TIMEOUT)
    rm.receive_if_any(over, window=limit + rm.deadlines.timer)
    rm.needs_some(rm.observe(over), of="to release what an application has when its time is over")
    rm.settles()

    rm.events_so_far()

    ends = rm.endings_of(allocation)
    rm.presupposes_some(ends, "an execution timeout")
    rm.only_reports(ends, Detail.ALLOC_TIMEOUT, Detail.REQUEST_ALLOC)


@requirement("SI-EVT-008")
def test_a_replaced_placeholder_is_reported_as_such(rm: ResourceManager) -> None:
    rm.observes_events()
    gang, placeholders = rm.has_complete_gang()
    real, gone = rm.has_replaced(gang, placeholders)

    rm.events_so_far()

    replaced = rm.endings_of(gone)  # they may name the real allocation, too
    others = [event for event in rm.endings_of(real) if event not in replaced]
    rm.presupposes_some([*replaced, *others], "a replacement")
    rm.only_reports(replaced, Detail.ALLOC_REPLACED, Detail.REQUEST_ALLOC)
    rm.only_reports(others, Detail.REQUEST_ALLOC)


@requirement("SI-EVT-008")
def test_an_allocation_that_went_with_its_node_is_reported_as_such(rm: ResourceManager) -> None:
    rm.observes_events()
    node = rm.has_node()
    allocation = rm.has_allocation(rm.has_application())

    rm.decommissions(node)
    rm.expect_end_of(allocation)
    rm.events_so_far()

    ends = rm.endings_of(allocation)
    rm.presupposes_some(ends, "the end of an allocation")
    rm.only_reports(ends, Detail.ALLOC_NODE_REMOVED, Detail.REQUEST_ALLOC)


@requirement("SI-EVT-008")
def test_a_preempted_allocation_is_reported_as_such(rm: ResourceManager) -> None:
    rm.observes_events()
    taken = rm.has_taken_node()
    release = rm.sees_preemption_of(
        *taken.allocations, by=rm.asks(taken.entitled, policy=MAY_PREEMPT)
    )
    victim = rm.victim_of(release, taken.allocations)
    rm.settles()

    rm.events_so_far()

    ends = rm.endings_of(victim)
    rm.presupposes_some(ends, "preemption")
    rm.only_reports(ends, Detail.ALLOC_PREEMPT, Detail.REQUEST_ALLOC)


@waits
@requirement("SI-EVT-009")
def test_the_detail_of_a_node_reports_what_changed_on_it(rm: ResourceManager) -> None:
    rm.observes_events()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    steps = [(rm.events_of_this_step(node, Subject.NODE), NEW_NODE)]

    rm.updates_node(node, memory=20)
    steps.append((rm.events_of_this_step(node, Subject.NODE), [Detail.NODE_CAPACITY]))
    for ready in ("false", "true"):  # it may make the node unschedulable meanwhile
        rm.updates_node(node, attributes={"ready": ready})
        readiness = [Detail.NODE_READY, Detail.NODE_SCHEDULABLE]
        steps.append((rm.events_of_this_step(node, Subject.NODE), readiness))
    rm.drains(node)
    steps.append((rm.events_of_this_step(node, Subject.NODE), [Detail.NODE_SCHEDULABLE]))
    rm.undrains(node)
    steps.append((rm.events_of_this_step(node, Subject.NODE), [Detail.NODE_SCHEDULABLE]))
    allocation = rm.has_allocation(app, node=node)
    placed = [Detail.NODE_ALLOC, Detail.NODE_RESERVATION]  # it may be reserved for a moment
    steps.append((rm.events_of_this_step(node, Subject.NODE), placed))
    rm.has_waiting_ask(app, memory=20)
    steps.append((rm.events_of_this_step(node, Subject.NODE), [Detail.NODE_RESERVATION]))
    rm.decommissions(node)
    rm.expect_end_of(allocation)
    gone = [*GONE_NODE, Detail.NODE_RESERVATION]  # possible while the ask is pending
    steps.append((rm.events_of_this_step(node, Subject.NODE), gone))

    rm.presupposes_some([event for events, _ in steps for event in events], "nodes")
    for events, details in steps:
        rm.only_reports(events, *details)


@waits
@requirement("SI-EVT-009")
def test_a_detail_reports_that_others_occupy_more_of_a_node(rm: ResourceManager) -> None:
    rm.has_occupied_resource()
    rm.observes_events()
    node = rm.has_node(memory=10)
    rm.events_of_this_step(node, Subject.NODE)

    rm.updates_node(node, occupied={"memory": 5})

    changed = rm.events_of_this_step(node, Subject.NODE)
    rm.presupposes_some(changed, "the occupied resource of nodes")
    rm.only_reports(changed, Detail.NODE_OCCUPIED)


@requirement("SI-EVT-010")
def test_the_detail_of_a_dynamic_queue_reports_what_changed(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()
    namespace = rm.new_name("space")
    queue = f"root.namespaces.{namespace}"

    app = rm.has_application_without_queue(tags={"namespace": namespace})
    rm.has_allocation(app)
    rm.events_so_far()

    events = rm.observe(EventReceived(queue, Subject.QUEUE))
    rm.presupposes_some(events, "queues")
    rm.only_reports(events, Detail.QUEUE_DYNAMIC, Detail.QUEUE_APP, Detail.QUEUE_ALLOC, *NEW_QUEUE)


@waits
@requirement("SI-EVT-010")
def test_the_detail_of_a_managed_queue_reports_what_changed(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=8, second=8))
    unregistered_rm.observes_events()
    unregistered_rm.events_so_far()

    unregistered_rm.has_been_reconfigured(queues_with_quotas(first=5, second=8, third=None))
    changed = unregistered_rm.events_of_this_step("root.first", Subject.QUEUE)
    added = unregistered_rm.events_of_this_step("root.third", Subject.QUEUE)
    same = unregistered_rm.events_of_this_step("root.second", Subject.QUEUE)

    unregistered_rm.presupposes_some([*changed, *added], "queues")
    unregistered_rm.only_reports(changed, Detail.QUEUE_CONFIG, Detail.QUEUE_MAX)
    unregistered_rm.only_reports(added, Detail.QUEUE_CONFIG, *NEW_QUEUE)
    unregistered_rm.only_reports(same, Detail.QUEUE_CONFIG)


@waits
@requirement("SI-EVT-010")
def test_a_changed_right_of_a_queue_is_reported_as_such(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered(config=queues_with_guarantees(first=2, second=2))
    unregistered_rm.observes_events()
    unregistered_rm.events_so_far()

    unregistered_rm.has_been_reconfigured(queues_with_guarantees(first=4, second=2))
    changed = unregistered_rm.events_of_this_step("root.first", Subject.QUEUE)
    same = unregistered_rm.events_of_this_step("root.second", Subject.QUEUE)

    unregistered_rm.presupposes_some(changed, "what queues have a right to")
    unregistered_rm.only_reports(changed, Detail.QUEUE_CONFIG, Detail.QUEUE_GUARANTEED)
    unregistered_rm.only_reports(same, Detail.QUEUE_CONFIG)


@waits
@requirement("SI-EVT-011")
def test_reference_and_resource_name_the_allocation_and_its_amount(rm: ResourceManager) -> None:
    rm.observes_events()
    node = rm.has_node(memory=10)
    app = rm.has_application()

    allocation = rm.has_allocation(app, memory=3, vcore=2)
    names = (allocation.identity, allocation.key)
    came = records_of(rm, app, *names, node=node)
    rm.releases(allocation)
    rm.expect(Released(identity=allocation.identity))
    went = records_of(rm, app, *names, node=node)

    details = (Detail.APP_REQUEST, Detail.APP_ALLOC, Detail.NODE_ALLOC, Detail.ALLOC_CANCEL)
    of_others = [event for event in (*came, *went) if event.detail in details]
    own = rm.observe(EventReceived(allocation.key, Subject.REQUEST, detail=Detail.REQUEST_ALLOC))
    rm.presupposes_some([*of_others, *own], "allocations of nodes and applications")
    for event in of_others:
        rm.agrees(event, EventReceived(reference=OneOf(names)))
    # Node and application have nothing else: a sum is the amount as well, and nothing afterwards.
    amount, taken = {"memory": 3, "vcore": 2}, {"memory": -3, "vcore": -2}
    new = [event for event in (*of_others, *own) if event.change is EventChange.ADD]
    rm.reports_amounts(new, amount, {})
    rm.reports_amounts([*of_others, *own], amount, taken, {})


@requirement("SI-EVT-011")
def test_the_resource_is_what_is_allocated_in_a_queue(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()
    namespace = rm.new_name("space")
    queue = f"root.namespaces.{namespace}"  # of this application only

    app = rm.has_application_without_queue(tags={"namespace": namespace})
    rm.has_allocation(app, memory=3, vcore=2)
    rm.events_so_far()

    allocated = rm.observe(EventReceived(queue, Subject.QUEUE, detail=Detail.QUEUE_ALLOC))
    rm.presupposes_some(allocated, "allocations in queues")
    rm.reports_amounts(allocated, {"memory": 3, "vcore": 2}, {})


@requirement("SI-EVT-011")
def test_the_resource_is_the_new_capacity_of_a_node(rm: ResourceManager) -> None:
    rm.observes_events()
    node = rm.has_node(memory=10)
    rm.events_of_this_step(node, Subject.NODE)

    rm.updates_node(node, memory=20, vcore=20)
    after = rm.events_of_this_step(node, Subject.NODE)

    resized = [event for event in after if event.detail is Detail.NODE_CAPACITY]
    rm.presupposes_some(resized, "the capacity of nodes")
    for event in resized:
        rm.agrees(event, EventReceived(resource={"memory": 20, "vcore": 20}))


@waits
@requirement("SI-EVT-011")
def test_the_resource_is_the_new_maximum_of_a_queue(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=8))
    unregistered_rm.observes_events()
    unregistered_rm.events_so_far()

    unregistered_rm.has_been_reconfigured(queues_with_quotas(first=5))
    changed = unregistered_rm.events_of_this_step("root.first", Subject.QUEUE)

    maxima = [event for event in changed if event.detail is Detail.QUEUE_MAX]
    lowered = [event for event in maxima if event.resource != {"memory": 8}]  # of before, but late
    unregistered_rm.presupposes_some(lowered, "the maximum of queues")
    for event in lowered:
        unregistered_rm.agrees(event, EventReceived(resource={"memory": 5}))


@waits
@requirement("SI-EVT-012")
def test_allocations_and_requests_of_an_application_are_reported_apart(rm: ResourceManager) -> None:
    rm.observes_events()
    app = rm.has_application()
    nothing = rm.events_of_this_step(app, Subject.APPLICATION)
    waiting = rm.has_waiting_ask(app)
    asked = rm.events_of_this_step(app, Subject.APPLICATION)
    rm.has_node()
    allocation = rm.is_served(waiting)
    allocated = rm.events_of_this_step(app, Subject.APPLICATION)
    rm.releases(allocation)
    released = rm.events_of_this_step(app, Subject.APPLICATION)

    both = {Detail.APP_ALLOC, Detail.APP_REQUEST}
    received = [e for e in (*nothing, *asked, *allocated, *released) if e.detail in both]
    rm.presupposes_some(received, "the asks and allocations of applications")
    rm.does_not_report(nothing, *both)
    rm.does_not_report(asked, Detail.APP_ALLOC)
    # With its allocation a request may be reported as ended, not as new or changed.
    ended = [event for event in released if event.detail is Detail.APP_REQUEST]
    rm.never_reports(ended, EventChange.ADD, EventChange.SET)


@requirement("SI-EVT-012")
def test_with_its_allocation_no_request_is_reported_to_come(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_full_node()
    app = rm.has_application()
    waiting = rm.has_pending_ask(app)
    rm.events_of_this_step(app, Subject.APPLICATION)

    rm.has_node()
    rm.expect(Allocated(waiting))

    allocated = rm.events_of_this_step(app, Subject.APPLICATION)
    requests = [event for event in allocated if event.detail is Detail.APP_REQUEST]
    rm.presupposes_some(allocated, "the asks and allocations of applications")
    rm.never_reports(requests, EventChange.ADD)


@requirement("SI-EVT-013")
def test_every_change_of_a_node_leads_to_a_record(rm: ResourceManager) -> None:
    rm.observes_events()
    node = rm.has_node(memory=10)
    allocation = rm.has_allocation(rm.has_application())
    rm.updates_node(node, memory=20, attributes={"ready": "false"})
    rm.drains(node)
    rm.decommissions(node)
    rm.expect_end_of(allocation)

    rm.events_so_far()

    for detail in rm.details_defined(*{*NEW_NODE, *GONE_NODE} - {Detail.NODE_OCCUPIED}):
        rm.expect(EventReceived(node, Subject.NODE, detail=detail))


@requirement("SI-EVT-013")
def test_what_others_occupy_leads_to_a_record(rm: ResourceManager) -> None:
    rm.has_occupied_resource()
    rm.observes_events()
    node = rm.has_node(memory=10)

    rm.updates_node(node, occupied={"memory": 5})

    rm.events_so_far()
    rm.expect(EventReceived(node, Subject.NODE, detail=Detail.NODE_OCCUPIED))


@requirement("SI-EVT-013")
def test_every_change_of_an_application_leads_to_a_record(rm: ResourceManager) -> None:
    rm.observes_events()
    rm.has_node()
    app = rm.has_application()
    rm.releases(rm.has_allocation(app))
    rejected = rm.has_rejected_application()

    rm.events_so_far()

    for detail in (Detail.APP_NEW, Detail.APP_ACCEPTED, Detail.APP_REQUEST, Detail.APP_ALLOC):
        rm.expect(EventReceived(app, Subject.APPLICATION, detail=detail))
    rm.expect_one_of(
        EventReceived(app, Subject.APPLICATION, detail=Detail.APP_STARTING),
        EventReceived(app, Subject.APPLICATION, detail=Detail.APP_RUNNING),
    )
    rm.expect(EventReceived(app, Subject.APPLICATION, detail=Detail.APP_COMPLETING))
    rm.expect(EventReceived(rejected, Subject.APPLICATION, detail=Detail.APP_REJECT))


@requirement("SI-EVT-013")
def test_every_end_of_an_ask_and_an_allocation_leads_to_a_record(rm: ResourceManager) -> None:
    rm.observes_events()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    released, lost = rm.has_allocation(app), rm.has_allocation(app)
    withdrawn = rm.has_pending_ask(app, memory=50)

    rm.releases(released)
    rm.withdraws(withdrawn)
    rm.decommissions(node)
    rm.expect_end_of(lost)
    rm.events_so_far()

    rm.notified_of(released, Detail.REQUEST_ALLOC)
    rm.notified_of(released, Detail.ALLOC_CANCEL)
    rm.notified_of(withdrawn, Detail.REQUEST_CANCEL)
    rm.notified_of(lost, Detail.ALLOC_NODE_REMOVED)
