"""Configuration: another one for a scheduler that runs (SI-CFG)."""

from siconform.catalogue.features import Feature
from siconform.marks import requirement
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
from siconform.protocol.queue_configurations import UNUSABLE, queues, queues_with_quotas
from siconform.protocol.snapshot_facts import ApplicationSeen, SettingSeen
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import Newcomer


@requirement("SI-CFG-001")
def test_an_update_takes_effect_without_registering_again(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=None))
    with newcomer.control("before the update there is no such queue"):
        early = newcomer.submits_application(queue="root.second")
        newcomer.is_told(ApplicationRejected(early))

    newcomer.is_reconfigured(queues_with_quotas(first=None, second=None))

    app = newcomer.submits_application(queue="root.second")
    newcomer.is_told(ApplicationAccepted(app))
    newcomer.has_node()
    newcomer.is_told(Allocated(newcomer.asks(app)))


@requirement("SI-CFG-002")
def test_an_update_keeps_nodes_applications_and_allocations(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=8))
    node = newcomer.has_node(memory=100)
    app = newcomer.has_application(queue="root.first")
    allocation = newcomer.has_allocation(app, memory=6)
    newcomer.passes_over(ApplicationUpdated(app))

    newcomer.is_reconfigured(queues_with_quotas(first=7))

    newcomer.is_not_told(Released(application=app), ApplicationUpdated(app))
    newcomer.registers_node(node)
    newcomer.is_told(NodeRejected(node))
    newcomer.is_told(Allocated(newcomer.asks(app, memory=1), node=node))
    newcomer.still_holds(allocation)


@requirement("SI-CFG-002")
def test_an_update_keeps_pending_asks(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=9))
    newcomer.has_node(memory=8)
    app = newcomer.has_application(queue="root.first")
    allocation = newcomer.has_allocation(app, memory=6)
    waiting = newcomer.has_pending_ask(app, memory=3)

    newcomer.is_reconfigured(queues_with_quotas(first=10))

    newcomer.is_not_told(AskReleased(application=app), AskRejected(waiting))
    newcomer.still_holds(allocation)
    newcomer.is_told(Allocated(waiting))


@requirement("SI-CFG-003")
def test_an_invalid_configuration_is_refused_and_the_old_one_stays(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=None))

    newcomer.is_refused_configuration(UNUSABLE)

    app = newcomer.submits_application(queue="root.first")
    newcomer.is_told(ApplicationAccepted(app))
    with newcomer.control("a usable configuration is applied"):
        newcomer.is_reconfigured(queues_with_quotas(first=None, second=None))


@requirement("SI-CFG-004")
def test_an_update_for_an_unknown_rm_or_group_fails_and_changes_nothing(
    newcomer: Newcomer,
) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=None))
    other = queues_with_quotas(second=None)

    newcomer.is_refused_configuration(other, rm_id=newcomer.new_name("nobody"))
    newcomer.is_refused_configuration(other, policy_group=newcomer.new_name("no-group"))

    newcomer.is_told(ApplicationAccepted(newcomer.submits_application(queue="root.first")))
    newcomer.is_told(ApplicationRejected(newcomer.submits_application(queue="root.second")))
    with newcomer.control("for the RM and group that are registered it is applied"):
        newcomer.is_reconfigured(queues_with_quotas(first=None, second=None))


@requirement("SI-CFG-005")
def test_a_changed_quota_holds_for_what_is_allocated_next(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=8))
    newcomer.has_node(memory=100)
    app = newcomer.has_application(queue="root.first")
    newcomer.has_allocation(app, memory=6)
    beyond = newcomer.has_ask_left_alone(app, "the quota of a queue", memory=3)

    newcomer.is_reconfigured(queues_with_quotas(first=6))
    another = newcomer.asks(app, memory=1)
    newcomer.is_not_told(Allocated(another), Allocated(beyond))

    newcomer.is_reconfigured(queues_with_quotas(first=10))
    newcomer.is_served(beyond)
    newcomer.is_served(another)
    too_much = newcomer.asks(app, memory=1)
    newcomer.is_not_told(Allocated(too_much))


@requirement("SI-CFG-005")
def test_a_quota_below_what_a_queue_holds_stops_what_comes_next(newcomer: Newcomer) -> None:
    newcomer.has_registered(config=queues_with_quotas(first=8))
    newcomer.has_node(memory=100)
    app = newcomer.has_application(queue="root.first")
    newcomer.has_allocation(app, memory=6)
    held_back = newcomer.has_ask_left_alone(app, "the quota of a queue", memory=6)

    newcomer.is_reconfigured(queues_with_quotas(first=5))

    another = newcomer.asks(app, memory=6)  # too much, whatever was preempted meanwhile
    newcomer.is_not_told(Allocated(held_back), Allocated(another))


@requirement("SI-CFG-008")
def test_the_maximum_of_a_queue_is_shared_by_those_below_it(rm: ResourceManager) -> None:
    rm.has_node(memory=100)
    left = rm.has_application(queue="root.parent.left")
    right = rm.has_application(queue="root.parent.right")
    limited = rm.has_application(queue="root.quota")
    rm.has_ask_left_alone(limited, "the quota of a queue", memory=11)

    rm.has_allocation(left, memory=6)
    beyond = rm.asks(right, memory=6)

    rm.is_not_told(Allocated(beyond))
    with rm.control("what fits beside it is allocated"):
        rm.withdraws(beyond)
        rm.is_told(Allocated(rm.asks(right, memory=4)))


@requirement("SI-CFG-008")
def test_two_queues_do_not_get_the_same_room_in_one_go(rm: ResourceManager) -> None:
    apps = [rm.has_application(queue=f"root.parent.{leaf}") for leaf in ("left", "right")]
    limited = rm.has_application(queue="root.quota")
    rm.has_node(memory=100)
    rm.has_ask_left_alone(limited, "the quota of a queue", memory=11)

    with rm.one_message():
        asks = [rm.asks(app, memory=6) for app in apps for _ in range(2)]

    rm.is_told(Allocated(application=OneOf(apps), resource={"memory": 6, "vcore": 1}))
    rm.is_not_told(*(Allocated(ask) for ask in asks))


@requirement("SI-CFG-006")
def test_extra_settings_of_an_update_replace_those_before(newcomer: Newcomer) -> None:
    queues = queues_with_quotas(first=None)
    newcomer.has_registered(config=queues, extra_config={"siconform.note": "before"})
    with newcomer.premise("a snapshot shows extra settings"):
        newcomer.sees(SettingSeen("siconform.note", "before"))

    newcomer.is_reconfigured(queues, extra_config={"siconform.note": "after"})

    newcomer.sees(SettingSeen("siconform.note", "after"))


@requirement("SI-CFG-008")
def test_the_maximum_of_the_queue_a_policy_chose_holds(newcomer: Newcomer) -> None:
    newcomer.needs(Feature.QUOTAS)
    newcomer.has_registered(config=queues("small-queue-of-the-user"))
    newcomer.has_node(memory=10)
    app = newcomer.submits_application(queue="root.asked", user="small")
    newcomer.has_accepted(app, "a policy that places by user")
    chosen = ApplicationSeen(app, queue="root.small")
    placed = [seen for seen in newcomer.snapshot() if chosen.matches(seen)]
    newcomer.needs_some(placed, of="a policy that places by user")

    with newcomer.control("an ask within the limit of the user's queue is allocated"):
        newcomer.is_told(Allocated(newcomer.asks(app, memory=4)))
    beyond_it = newcomer.asks(app, memory=4)

    newcomer.is_not_told(Allocated(beyond_it))
