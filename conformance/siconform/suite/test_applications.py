"""Applications: submission, queues, timeouts and removal (SI-APP)."""

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.application_states import OVER
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.queue_configurations import queues
from siconform.protocol.snapshot_facts import ApplicationSeen
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-APP-001")
def test_a_new_application_is_accepted(rm: ResourceManager) -> None:
    app = rm.submits_application()

    rm.expect(ApplicationAccepted(app))


@requirement("SI-APP-001")
def test_applications_whose_ids_differ_in_case_are_accepted(rm: ResourceManager) -> None:
    unique = rm.new_name("app")

    for name in (f"{unique}.App", f"{unique}.app"):
        rm.expect(ApplicationAccepted(rm.submits_application(name)))


@requirement("SI-APP-002")
def test_an_application_that_is_active_is_rejected(rm: ResourceManager) -> None:
    app = rm.has_application()

    rm.submits_application(app)

    rm.expect(ApplicationRejected(app))


@requirement("SI-APP-002")
def test_the_second_of_two_applications_with_one_id_in_a_message_is_rejected(
    rm: ResourceManager,
) -> None:
    with rm.one_message():
        app = rm.submits_application()
        rm.submits_application(app)

    rm.expect(ApplicationRejected(app))


@requirement("SI-APP-039")
def test_the_rejection_of_an_application_gives_a_reason(rm: ResourceManager) -> None:
    app = rm.has_application()

    rm.submits_application(app)

    with rm.precondition("an application that is active is rejected"):
        rejection = rm.expect(ApplicationRejected(app))
    rm.states_reason(rejection)


@requirement("SI-APP-003")
def test_a_rejected_duplicate_keeps_the_asks_and_allocations(rm: ResourceManager) -> None:
    rm.has_node(memory=4)
    app = rm.has_application()
    allocation = rm.has_allocation(app, memory=4)
    waiting = rm.has_waiting_ask(app, memory=4)

    rm.submits_application(app, queue="root.other")
    with rm.precondition("the duplicate is rejected"):
        rm.expect(ApplicationRejected(app))

    rm.expect_none(Released(identity=allocation.identity))
    node = rm.has_node(memory=4)
    rm.is_served(waiting, node=node)
    rm.still_holds(allocation)


@requirement("SI-APP-003")
def test_a_rejected_duplicate_does_not_move_the_application(rm: ResourceManager) -> None:
    rm.has_node(memory=100)
    app = rm.has_application(queue="root.quota")
    rm.has_allocation(app, memory=4)
    held_back = rm.has_ask_left_alone(app, "the quota of its queue", memory=7)

    rm.submits_application(app, queue="root.other")
    with rm.precondition("the duplicate is rejected"):
        rm.expect(ApplicationRejected(app))

    beyond = rm.asks(app, memory=7)
    rm.expect_none(Allocated(held_back), Allocated(beyond))


@requirement("SI-APP-003")
def test_a_rejected_duplicate_leaves_the_application_the_capacity_of_its_queue(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=100)
    app = rm.has_application(queue="root.other")
    rm.has_allocation(app, memory=4)

    rm.submits_application(app, queue="root.quota")
    with rm.precondition("the duplicate is rejected"):
        rm.expect(ApplicationRejected(app))

    rm.expect(Allocated(rm.asks(app, memory=50)))


@requirement("SI-APP-004")
def test_every_application_gets_exactly_one_verdict(rm: ResourceManager) -> None:
    first, third = rm.has_application(), rm.has_application()

    with rm.one_message():
        rm.submits_application(first)
        second = rm.submits_application()
        rm.submits_application(third)
        fourth = rm.submits_application()

    for known in (first, third):
        rm.expect(ApplicationRejected(known))
    for new in (second, fourth):
        rm.expect(ApplicationAccepted(new))
    every = (first, second, third, fourth)
    rm.expect_none(
        *(ApplicationAccepted(app) for app in every), *(ApplicationRejected(app) for app in every)
    )


@requirement("SI-APP-004")
def test_an_application_that_is_added_twice_in_one_message_gets_two_verdicts(
    rm: ResourceManager,
) -> None:
    with rm.one_message():
        app = rm.submits_application()
        rm.submits_application(app)

    for _ in range(2):
        rm.expect_one_of(ApplicationAccepted(app), ApplicationRejected(app))


@requirement("SI-APP-005")
def test_an_application_for_which_policy_offers_no_queue_is_rejected(rm: ResourceManager) -> None:
    there = rm.submits_application(queue="root.other")
    missing = rm.submits_application(queue="root.missing")

    rm.expect(ApplicationAccepted(there))
    rm.expect(ApplicationRejected(missing))


@requirement("SI-APP-006")
def test_the_queue_an_application_asks_for_need_not_be_its_own(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues("small-queue-of-the-user"))
    unregistered_rm.has_node(memory=10)
    app = unregistered_rm.submits_application(queue="root.asked", user="small")
    unregistered_rm.has_accepted(app, "a policy that places by user")

    with unregistered_rm.control("an ask within the limit of the user's queue is allocated"):
        unregistered_rm.expect(Allocated(unregistered_rm.asks(app, memory=4)))
    beyond_it = unregistered_rm.asks(app, memory=4)

    unregistered_rm.expect_none(Allocated(beyond_it))


@requirement("SI-APP-007")
def test_an_application_of_an_unknown_partition_is_rejected(rm: ResourceManager) -> None:
    nowhere = rm.submits_application(partition="nope")
    default = rm.submits_application()

    rm.expect(ApplicationRejected(nowhere))
    rm.expect(ApplicationAccepted(default))


@requirement("SI-APP-008")
def test_a_user_needs_no_groups(rm: ResourceManager) -> None:
    app = rm.submits_application(user="somebody", groups=())

    rm.expect(ApplicationAccepted(app))


@requirement("SI-APP-004", "SI-APP-009")
def test_an_application_without_user_gets_one_verdict(rm: ResourceManager) -> None:
    missing, empty = rm.submits_application(user=None), rm.submits_application(user="")

    of_missing = (ApplicationAccepted(missing), ApplicationRejected(missing))
    of_empty = (ApplicationAccepted(empty), ApplicationRejected(empty))
    rm.records("no user information", rm.expect_one_of(*of_missing))
    rm.records("an empty user", rm.expect_one_of(*of_empty))
    rm.expect_none(*of_missing, *of_empty, StreamEnded(UpdateKind.APPLICATIONS))


@requirement("SI-APP-010")
def test_application_tags_are_free_form(rm: ResourceManager) -> None:
    untagged = rm.submits_application(tags={})
    tagged = rm.submits_application(tags={"x": "y"})

    rm.expect(ApplicationAccepted(untagged))
    rm.expect(ApplicationAccepted(tagged))


@requirement("SI-APP-011")
def test_application_tags_do_not_steer_asks(rm: ResourceManager) -> None:
    roomy = rm.has_node(memory=10)
    small = rm.has_node(memory=1)
    app = rm.has_application(tags={"yunikorn.apache.org/requiredNode": small})

    untagged = rm.asks(app, memory=5)

    rm.expect(Allocated(untagged, node=roomy))


@requirement("SI-APP-012")
def test_an_application_is_not_kept_running_beyond_its_timeout(rm: ResourceManager) -> None:
    rm.has_node()
    before = rm.now()
    app = rm.has_application(timeout_ms=500)
    allocation = rm.has_allocation(app)

    rm.expect_when_due(
        Released(identity=allocation.identity, termination=Termination.TIMEOUT),
        ApplicationUpdated(app, state=OVER),
        seconds=0.5,
        since=before,
    )


@requirement("SI-APP-012")
def test_an_application_that_was_waiting_is_not_kept_running_beyond_its_timeout(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    limit = rm.long_enough_to_be_served(1.0) + rm.quiet_window()  # it may take that to be waiting
    before = rm.now()
    app = rm.has_waiting_application(timeout_ms=round(1000 * limit))
    again = rm.has_allocation(app)

    rm.expect_when_due(  # at the latest: its time may begin again
        Released(identity=again.identity, termination=Termination.TIMEOUT),
        ApplicationUpdated(app, state=OVER),
        seconds=limit,
        since=before,
    )


@requirement("SI-APP-012")
def test_a_recovered_application_is_not_kept_running_beyond_its_timeout(
    rm: ResourceManager,
) -> None:
    before = rm.now()
    app = rm.has_application(timeout_ms=500)
    node = rm.new_name("node")
    existing = rm.remembers_allocation(app, node)
    rm.has_recovered_node(node, existing)
    rm.has_observed(Allocated(existing.key))  # it may be echoed

    rm.expect_when_due(
        Released(identity=existing.identity, termination=Termination.TIMEOUT),
        ApplicationUpdated(app, state=OVER),
        seconds=0.5,
        since=before,
    )


@requirement("SI-APP-012")
def test_what_an_application_asked_for_is_not_placed_once_its_time_is_over(
    rm: ResourceManager,
) -> None:
    rm.has_node(memory=10)
    limit = rm.long_enough_to_be_served(0.5)
    app, other_app = rm.has_application(timeout_ms=round(1000 * limit)), rm.has_application()
    rm.has_allocation(app, memory=10)
    waiting = rm.has_pending_ask(app, memory=10)
    over = ApplicationUpdated(app, state=OVER)
    rm.receive_if_any(over, window=limit + rm.deadlines.timer)
    rm.needs_some(rm.observe(over), of="to report that an application is over")

    rm.has_node(memory=30)

    with rm.control("an ask of another application is allocated"):
        rm.expect(Allocated(rm.asks(other_app, memory=10)))
    rm.expect_none(Allocated(waiting))


@requirement("SI-APP-013")
def test_an_application_timeout_of_zero_or_less_is_no_limit(rm: ResourceManager) -> None:
    rm.has_node()
    unlimited = [rm.has_allocation(rm.has_application(timeout_ms=never)) for never in (0, -5)]

    with rm.control("an application with a positive timeout ends"):
        before = rm.now()
        app = rm.has_application(timeout_ms=500)
        rm.expect_when_due(
            Released(identity=rm.has_allocation(app).identity, termination=Termination.TIMEOUT),
            ApplicationUpdated(app, state=OVER),
            seconds=0.5,
            since=before,
        )
    rm.expect_none(
        *(Released(identity=one.identity) for one in unlimited),
        *(ApplicationUpdated(one.application, state=OVER) for one in unlimited),
    )
    for one in unlimited:
        rm.expect(Allocated(rm.asks(one.application)))


@requirement("SI-APP-013")
def test_the_timeout_of_a_removed_application_does_not_limit_the_next_of_its_id(
    rm: ResourceManager,
) -> None:
    rm.has_node()
    limit = rm.long_enough_to_be_served(0.5)
    removed = rm.has_application(timeout_ms=round(1000 * limit))
    rm.has_allocation(removed)
    rm.has_removed(removed)
    app = rm.has_application(removed)
    unlimited = rm.has_allocation(app)

    with rm.control("an application with a positive timeout ends"):
        before = rm.now()
        limited = rm.has_application(timeout_ms=round(1000 * limit))
        rm.expect_when_due(
            Released(identity=rm.has_allocation(limited).identity, termination=Termination.TIMEOUT),
            ApplicationUpdated(limited, state=OVER),
            seconds=limit,
            since=before,
        )
    rm.expect_none(Released(identity=unlimited.identity), ApplicationUpdated(app, state=OVER))
    rm.expect(Allocated(rm.asks(app)))


@requirement("SI-APP-014")
def test_an_application_timeout_does_not_count_queueing(rm: ResourceManager) -> None:
    limit = rm.long_enough_to_be_served(0.5)
    began = rm.now()
    app = rm.has_application(timeout_ms=round(1000 * limit))
    ask = rm.has_waiting_ask(app)
    ended = ApplicationUpdated(app, state=OVER)
    with rm.in_its_waiting_time(since=began, lasting=1.2 * limit):
        rm.stays_quiet(ended, window=1.2 * limit)
    before = rm.now()

    rm.has_node()
    allocation = rm.is_served(ask)

    rm.expect_when_due(
        Released(identity=allocation.identity, termination=Termination.TIMEOUT),
        ended,
        seconds=limit,
        since=before,
    )


@requirement("SI-APP-015")
def test_an_ask_without_application_is_served_or_rejected(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    independent = rm.asks("")

    answer = rm.receive_if_any(Allocated(independent), AskRejected(independent))
    rm.records("an ask without application", answer, otherwise="no answer")
    rm.expect_none(
        Allocated(independent), AskRejected(independent), StreamEnded(UpdateKind.ALLOCATIONS)
    )
    rm.expect(Allocated(rm.asks(app)))


@requirement("SI-CONN-017")
def test_an_ask_without_application_spoils_nothing(rm: ResourceManager) -> None:
    rm.has_node()
    app = rm.has_application()

    with rm.one_message():
        rm.asks("")
        ask = rm.asks(app)

    rm.expect(Allocated(ask))
    rm.expect_none(StreamEnded(UpdateKind.ALLOCATIONS))


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


@requirement("SI-APP-023")
def test_a_rejected_application_does_not_exist(rm: ResourceManager) -> None:
    rm.has_node()
    rejected = rm.has_rejected_application()

    ask = rm.asks(rejected)

    rm.expect_none(Allocated(ask))
    with rm.control("an equal ask of an accepted application is allocated"):
        rm.expect(Allocated(rm.asks(rm.has_application())))


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
def test_a_placeholder_that_ends_with_its_application_is_reported(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    rm.has_node()
    gang = rm.has_gang()
    placeholder = rm.has_placeholder(gang)

    rm.removes_application(gang)

    rm.expect_end_of(placeholder)


@requirement("SI-APP-036")
def test_the_queue_of_an_application_may_depend_on_its_tags(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues("queue-for-each-team"))

    tagged = unregistered_rm.submits_application(queue="", tags={"team": "blue"})
    untagged = unregistered_rm.submits_application(queue="")

    unregistered_rm.has_accepted(tagged, "a policy that places by tag")
    unregistered_rm.expect(ApplicationRejected(untagged))


@requirement("SI-APP-036")
def test_an_application_is_in_the_queue_its_tag_names(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered(config=queues("queue-for-each-team"))

    tagged = unregistered_rm.submits_application(queue="", tags={"team": "blue"})

    unregistered_rm.has_accepted(tagged, "a policy that places by tag")
    unregistered_rm.sees(ApplicationSeen(tagged, queue="root.teams.blue"))
