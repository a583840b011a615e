"""Configuration: updates of a running scheduler (SI-CFG)."""

from siconform.catalogue.features import Feature
from siconform.marks import requirement, waits
from siconform.protocol.matchers import OneOf
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    NodeRejected,
    Released,
)
from siconform.protocol.queue_configurations import (
    UNUSABLE,
    conformance_queues_and,
    queues,
    queues_with_quotas,
    queues_with_shared_quota,
)
from siconform.protocol.snapshot_facts import ApplicationSeen, SettingSeen
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import QUOTA_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM


@requirement("SI-CFG-001")
def test_an_update_takes_effect_without_registering_again(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=None))
    with unregistered_rm.control("before the update there is no such queue"):
        early = unregistered_rm.submits_application(queue="root.second")
        unregistered_rm.expect(ApplicationRejected(early))

    unregistered_rm.is_reconfigured(queues_with_quotas(first=None, second=None))

    app = unregistered_rm.submits_application(queue="root.second")
    unregistered_rm.expect(ApplicationAccepted(app))
    unregistered_rm.has_node()
    unregistered_rm.expect(Allocated(unregistered_rm.asks(app)))


@requirement("SI-CFG-001")
def test_a_queue_that_was_taken_out_while_in_use_accepts_applications_once_it_is_back(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm, both = unregistered_rm, queues_with_quotas(first=None, second=None)
    rm.has_registered(config=both)
    rm.has_node()
    held = rm.has_allocation(rm.has_application(queue="root.second"))  # keeps the queue in use

    rm.has_been_reconfigured_with("removing a queue in use", queues_with_quotas(first=None))
    early = rm.submits_application(queue="root.second")
    verdict = rm.expect_one_of(ApplicationRejected(early), ApplicationAccepted(early))
    rm.records("a queue in use that is not configured any more", verdict)

    rm.is_reconfigured(both)
    app = rm.submits_application(queue="root.second")
    rm.expect(ApplicationAccepted(app))
    rm.expect(Allocated(rm.asks(app)))
    rm.still_holds(held)


@requirement("SI-CFG-002")
def test_an_update_keeps_nodes_applications_and_allocations(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=8))
    node = unregistered_rm.has_node(memory=100)
    app = unregistered_rm.has_application(queue="root.first")
    allocation = unregistered_rm.has_allocation(app, memory=6)
    unregistered_rm.passes_over(ApplicationUpdated(app))
    change = ApplicationUpdated(app, state=unregistered_rm.any_change_of(app))

    unregistered_rm.is_reconfigured(queues_with_quotas(first=7))

    unregistered_rm.expect_none(Released(application=app), change)
    unregistered_rm.registers_node(node)
    unregistered_rm.expect(NodeRejected(node))
    unregistered_rm.expect(Allocated(unregistered_rm.asks(app, memory=1), node=node))
    unregistered_rm.still_holds(allocation)


@requirement("SI-CFG-002")
def test_an_update_keeps_pending_asks(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=9))
    unregistered_rm.has_node(memory=8)
    app = unregistered_rm.has_application(queue="root.first")
    allocation = unregistered_rm.has_allocation(app, memory=6)
    waiting = unregistered_rm.has_pending_ask(app, memory=3)

    unregistered_rm.is_reconfigured(queues_with_quotas(first=10))

    unregistered_rm.expect_none(AskReleased(application=app), AskRejected(waiting))
    unregistered_rm.still_holds(allocation)
    unregistered_rm.expect(Allocated(waiting))


@requirement("SI-NODE-026")
def test_an_update_leaves_a_draining_node_draining(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.needs(Feature.QUEUES)
    unregistered_rm.has_registered(config=queues_with_quotas(first=None))
    node = unregistered_rm.has_node()
    app = unregistered_rm.has_application(queue="root.first")
    unregistered_rm.drains(node)

    unregistered_rm.is_reconfigured(queues_with_quotas(first=None, second=None))

    unregistered_rm.sees_draining(node, app)


@requirement("SI-CFG-002")
def test_an_update_keeps_open_replacements(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.does_gang_scheduling()
    gang, placeholders = unregistered_rm.has_complete_gang()
    replacement = unregistered_rm.has_open_replacement(gang, placeholders)

    with unregistered_rm.confirming_nothing():
        unregistered_rm.is_reconfigured(conformance_queues_and("more"))

    unregistered_rm.confirms(replacement.release)
    unregistered_rm.expect(Allocated(replacement.real))


@requirement("SI-CFG-002")
def test_an_update_keeps_the_timeout_of_a_gang(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.does_gang_scheduling()
    unregistered_rm.needs(Feature.PLACEHOLDER_TIMEOUT)
    partial = unregistered_rm.has_partial_gang(limit=unregistered_rm.short_limit())

    unregistered_rm.is_reconfigured(conformance_queues_and("more"))

    unregistered_rm.expect_expiry(partial.gang, partial.placeholders)


@waits
@requirement("SI-CFG-002")
def test_an_update_keeps_the_end_of_waiting(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered()
    unregistered_rm.needs(Feature.WAITING_TIMEOUT)
    unregistered_rm.has_node()
    app = unregistered_rm.has_waiting_application()

    unregistered_rm.is_reconfigured(conformance_queues_and("more"))

    unregistered_rm.outlasts_waiting()
    unregistered_rm.submits_application(app)
    unregistered_rm.expect(ApplicationAccepted(app))


@requirement("SI-CFG-003")
def test_an_invalid_configuration_is_refused_and_the_old_one_stays(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=None))

    unregistered_rm.is_refused_configuration(UNUSABLE)

    app = unregistered_rm.submits_application(queue="root.first")
    unregistered_rm.expect(ApplicationAccepted(app))
    with unregistered_rm.control("a usable configuration is applied"):
        unregistered_rm.is_reconfigured(queues_with_quotas(first=None, second=None))


@requirement("SI-CFG-004")
def test_an_update_for_an_unknown_rm_or_group_fails_and_changes_nothing(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=None))
    other = queues_with_quotas(second=None)

    unregistered_rm.is_refused_configuration(other, rm_id=unregistered_rm.new_name("unknown"))
    unregistered_rm.is_refused_configuration(
        other, policy_group=unregistered_rm.new_name("no-group")
    )

    unregistered_rm.expect(
        ApplicationAccepted(unregistered_rm.submits_application(queue="root.first"))
    )
    unregistered_rm.expect(
        ApplicationRejected(unregistered_rm.submits_application(queue="root.second"))
    )
    with unregistered_rm.control("for the registered RM and group it is applied"):
        unregistered_rm.is_reconfigured(queues_with_quotas(first=None, second=None))


@requirement("SI-CFG-005")
def test_a_changed_quota_holds_for_what_is_allocated_next(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=8))
    unregistered_rm.has_node(memory=100)
    app = unregistered_rm.has_application(queue="root.first")
    unregistered_rm.has_allocation(app, memory=6)
    beyond = unregistered_rm.has_ask_left_alone(app, "the quota of a queue", memory=3)

    unregistered_rm.is_reconfigured(queues_with_quotas(first=6))
    another = unregistered_rm.asks(app, memory=1)
    unregistered_rm.expect_none(Allocated(another), Allocated(beyond))

    unregistered_rm.is_reconfigured(queues_with_quotas(first=10))
    unregistered_rm.is_served(beyond)
    unregistered_rm.is_served(another)
    too_much = unregistered_rm.asks(app, memory=1)
    unregistered_rm.expect_none(Allocated(too_much))


@requirement("SI-CFG-005")
def test_a_quota_below_what_a_queue_holds_stops_what_comes_next(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=8))
    unregistered_rm.has_node(memory=100)
    app = unregistered_rm.has_application(queue="root.first")
    unregistered_rm.has_allocation(app, memory=6)
    held_back = unregistered_rm.has_ask_left_alone(app, "the quota of a queue", memory=6)

    unregistered_rm.is_reconfigured(queues_with_quotas(first=5))

    another = unregistered_rm.asks(app, memory=6)  # too much, even after preemption
    unregistered_rm.expect_none(Allocated(held_back), Allocated(another))


@requirement("SI-CFG-005")
def test_a_quota_below_what_a_queue_holds_counts_all_of_that(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered(config=queues_with_quotas(first=8))
    unregistered_rm.has_node(memory=100)
    app = unregistered_rm.has_application(queue="root.first")
    allocations = [unregistered_rm.has_allocation(app, memory=2) for _ in range(3)]
    unregistered_rm.withdraws(
        unregistered_rm.has_ask_left_alone(app, "the quota of a queue", memory=3)
    )

    unregistered_rm.is_reconfigured(queues_with_quotas(first=4))

    unregistered_rm.settles()  # what is beyond it may be preempted
    live = [one for one in allocations if not unregistered_rm.was_released(one)]
    unregistered_rm.needs_some(live, of="to keep what a reduced quota allows")
    unregistered_rm.has_released(live.pop())
    left = 4 - 2 * len(live)
    beyond = unregistered_rm.asks(app, memory=left + 1)
    unregistered_rm.expect_none(Allocated(beyond))


@requirement("SI-CFG-008")
def test_the_maximum_of_a_queue_is_shared_by_those_below_it(rm: ResourceManager) -> None:
    rm.has_node(memory=100)
    left = rm.has_application(queue="root.parent.left")
    right = rm.has_application(queue="root.parent.right")
    limited = rm.has_application(queue="root.quota")
    rm.withdraws(rm.has_ask_left_alone(limited, "the quota of a queue", memory=11))

    rm.has_allocation(left, memory=6)
    beyond = rm.asks(right, memory=6)

    rm.expect_none(Allocated(beyond))
    with rm.control("an ask that still fits is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(right, memory=4)))


@requirement("SI-CFG-008")
def test_the_maximum_of_another_resource_is_shared_by_those_below_it(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.QUOTAS)
    leaves, amounts = ("first", "second"), {"memory": 1, "vcore": 1}
    rm.has_registered(config=queues_with_shared_quota("devices", *leaves, most={"gpu": 4}))
    rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 10})
    first, second = (rm.has_application(queue=f"root.devices.{leaf}") for leaf in leaves)
    rm.withdraws(
        rm.has_ask_left_alone(first, "quotas of every resource", resources={**amounts, "gpu": 6})
    )

    rm.has_allocation(first, resources={**amounts, "gpu": 2})
    beyond = rm.asks(second, resources={**amounts, "gpu": 4})

    rm.expect_none(Allocated(beyond))
    with rm.control("an ask that still fits is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(second, resources={**amounts, "gpu": 2})))


@requirement("SI-CFG-008")
def test_two_queues_do_not_get_the_same_capacity_in_one_go(rm: ResourceManager) -> None:
    apps = [rm.has_application(queue=f"root.parent.{leaf}") for leaf in ("left", "right")]
    limited = rm.has_application(queue="root.quota")
    rm.has_node(memory=100)
    rm.withdraws(rm.has_ask_left_alone(limited, "the quota of a queue", memory=11))

    with rm.one_message():
        asks = [rm.asks(app, memory=6) for app in apps for _ in range(2)]

    rm.expect(Allocated(application=OneOf(apps)))
    rm.expect_none(*(Allocated(ask) for ask in asks))


@requirement("SI-CFG-008")
def test_an_ask_with_a_priority_gets_no_more_than_the_maximum_of_its_queue(
    rm: ResourceManager,
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=100)
    app = rm.has_application(queue=QUOTA_QUEUE)
    rm.has_allocation(app, memory=6, priority=5)

    beyond = rm.asks(app, memory=6, priority=5)

    rm.expect_none(Allocated(beyond))
    with rm.control("an ask that still fits is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(app, memory=4, priority=5)))


@requirement("SI-CFG-008")
def test_an_allocation_of_a_key_used_again_counts_in_its_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=100)
    app = rm.has_application(queue=QUOTA_QUEUE)
    rm.has_allocation(app, memory=1)  # keeps the application from completing
    ended = rm.has_released(rm.has_allocation(app, memory=5))
    again = rm.asks(app, key=ended.key, memory=5)
    received = rm.expect_one_of(Allocated(again), AskRejected(again))
    served = [received] if isinstance(received, Allocated) else []
    rm.needs_some(served, of="to serve a key for a second time")

    beyond = rm.asks(app, memory=5)

    rm.expect_none(Allocated(beyond))
    with rm.control("an ask that still fits is allocated"):
        rm.withdraws(beyond)
        rm.expect(Allocated(rm.asks(app, memory=4)))


@requirement("SI-CFG-006")
def test_extra_settings_of_an_update_replace_those_before(unregistered_rm: UnregisteredRM) -> None:
    queues = queues_with_quotas(first=None)
    unregistered_rm.has_registered(config=queues, extra_config={"siconform.note": "before"})
    with unregistered_rm.precondition("a snapshot shows extra settings"):
        unregistered_rm.sees(SettingSeen("siconform.note", "before"))

    unregistered_rm.is_reconfigured(queues, extra_config={"siconform.note": "after"})

    unregistered_rm.sees(SettingSeen("siconform.note", "after"))


@requirement("SI-CFG-008")
def test_the_maximum_of_the_queue_a_policy_chose_holds(unregistered_rm: UnregisteredRM) -> None:
    unregistered_rm.needs(Feature.QUOTAS)
    unregistered_rm.has_registered(config=queues("small-queue-of-the-user"))
    unregistered_rm.has_node(memory=10)
    app = unregistered_rm.submits_application(queue="root.asked", user="small")
    unregistered_rm.has_accepted(app, "a policy that places by user")
    chosen = ApplicationSeen(app, queue="root.small")
    placed = [seen for seen in unregistered_rm.snapshot() if chosen.matches(seen)]
    unregistered_rm.needs_some(placed, of="a policy that places by user")

    with unregistered_rm.control("an ask within the limit of the user's queue is allocated"):
        unregistered_rm.expect(Allocated(unregistered_rm.asks(app, memory=4)))
    beyond_it = unregistered_rm.asks(app, memory=4)

    unregistered_rm.expect_none(Allocated(beyond_it))
