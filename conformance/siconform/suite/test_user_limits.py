"""Limits of users: what counts for the user of an application.

No revision has such limits; where the one of the kit has no effect there is no verdict.
"""

import json
from typing import Final

from siconform.marks import registering_again_is_a_race, requirement
from siconform.protocol.handles import Application
from siconform.protocol.notifications import Allocated, ApplicationRejected, NodeAccepted
from siconform.protocol.queue_configurations import conformance_queues, conformance_queues_and
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import SOFT
from siconform.rm.steps.preemption import ENTITLED_QUEUE, MAY_NOT_PREEMPT, OPTED_OUT, TAKING_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM

LIMITED_QUEUE: Final = "root.limited"
REASON: Final = "limits of users"


def limited(user: str) -> str:
    """Return a configuration by which this user may hold 10 memory in ``LIMITED_QUEUE``."""
    return conformance_queues_and("limited", {"users": [user], "maxresources": {"memory": 10}})


def has_limited_user(rm: UnregisteredRM) -> str:
    """Given: a user who may hold 10 memory in ``LIMITED_QUEUE``."""
    user = rm.new_name("user")
    rm.has_registered_with_limits(limited(user))
    return user


def has_application_of(rm: ResourceManager, user: str, *, held: int) -> Application:
    """Given: room on a node, and an application that has so much, whose user is seen limited."""
    rm.has_node(memory=100)
    app = rm.has_application(queue=LIMITED_QUEUE, user=user)
    rm.has_allocation(app, memory=held)
    rm.withdraws(rm.has_ask_left_alone(app, REASON, memory=11 - held))
    return app


def is_left(rm: ResourceManager, amount: int, *, of: str) -> None:
    """Then: the user of this application may have so much more memory, and nothing beyond."""
    rm.is_served(rm.asks(of, memory=amount))
    beyond = rm.asks(of, memory=1)
    rm.expect_none(Allocated(beyond))


@requirement("SI-REG-007")
@registering_again_is_a_race
def test_registering_again_forgets_what_a_user_held(unregistered_rm: UnregisteredRM) -> None:
    rm = unregistered_rm
    user = has_limited_user(rm)
    node = rm.has_node(memory=100)
    app = rm.has_application(queue=LIMITED_QUEUE, user=user)
    rm.has_allocation(app, memory=10)
    rm.withdraws(rm.has_ask_left_alone(app, REASON))

    rm.has_registered_again(config=limited(user))
    rm.registers_node(node, memory=100)
    rm.expect(NodeAccepted(node))

    is_left(rm, 10, of=rm.has_application(queue=LIMITED_QUEUE, user=user))


@requirement("SI-REC-001")
def test_existing_allocations_of_a_new_node_count_for_their_user(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    user = has_limited_user(rm)
    app = has_application_of(rm, user, held=1)
    node = rm.new_name("node")

    rm.has_recovered_node(node, rm.remembers_allocation(app, node, memory=6))

    is_left(rm, 3, of=app)


@requirement("SI-APP-003")
def test_a_rejected_duplicate_does_not_change_the_user(unregistered_rm: UnregisteredRM) -> None:
    rm = unregistered_rm
    user = has_limited_user(rm)
    app = has_application_of(rm, user, held=4)

    rm.submits_application(app, user=rm.new_name("user"))
    with rm.precondition("the duplicate is rejected"):
        rm.expect(ApplicationRejected(app))

    beyond = rm.asks(app, memory=7)
    rm.expect_none(Allocated(beyond))


@requirement("SI-GANG-012")
def test_placeholders_get_no_more_than_ordinary_asks_of_their_user(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    user = has_limited_user(rm)
    has_application_of(rm, user, held=4)

    since = rm.now()
    gang = rm.has_gang(queue=LIMITED_QUEUE, user=user, members=2, memory=3)
    rm.has_placeholders(gang)

    beyond = rm.asks_placeholder(gang)

    rm.expect_none_before_end(gang, since, Allocated(beyond))


@requirement("SI-GANG-054")
def test_what_a_smaller_real_allocation_leaves_is_free_for_its_user(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    user = has_limited_user(rm)
    rm.has_node(memory=100)
    app = rm.has_application(queue=LIMITED_QUEUE, user=user)
    rm.has_allocation(app, memory=1)
    gang = rm.has_gang(queue=LIMITED_QUEUE, user=user, memory=6)
    placeholder = rm.has_placeholder(gang)
    rm.withdraws(rm.has_ask_left_alone(app, REASON, memory=4))

    real = rm.asks_member(gang, memory=2)
    rm.ends_for_a_real_ask(placeholder)
    rm.expect(Allocated(real))

    is_left(rm, 7, of=app)


@requirement("SI-ALLOC-010")
def test_what_a_timeout_of_placeholders_leaves_is_free_for_their_user(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    user = has_limited_user(rm)
    rm.does_gang_scheduling()
    rm.has_node(memory=11)
    app = rm.has_application(queue=LIMITED_QUEUE, user=user)
    rm.has_allocation(app, memory=1)
    rm.withdraws(rm.has_ask_left_alone(app, REASON, memory=10))
    rm.has_allocation(rm.has_application(), memory=10)
    limit = rm.short_limit()
    partial = rm.has_partial_gang(queue=LIMITED_QUEUE, user=user, memory=3, style=SOFT, limit=limit)
    rm.has_expired(partial)

    rm.has_node(memory=100)
    is_left(rm, 9, of=app)


@requirement("SI-ALLOC-010")
def test_what_a_preempted_allocation_leaves_is_free_for_its_user(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    user = rm.new_name("user")
    limits = json.dumps([{"users": [user], "maxresources": {"memory": 9}}])
    taking = "              - name: taking\n"
    rm.has_registered_with_limits(
        conformance_queues().replace(taking, f"{taking}                limits: {limits}\n")
    )
    rm.has_node(memory=10)
    taker = rm.has_application(queue=TAKING_QUEUE, user=user)
    allocations = [rm.has_allocation(taker, policy=MAY_NOT_PREEMPT) for _ in range(9)]
    rm.withdraws(rm.has_ask_left_alone(taker, REASON))
    rm.has_allocation(rm.has_application(queue=TAKING_QUEUE), policy=OPTED_OUT)
    entitled = rm.has_application(queue=ENTITLED_QUEUE)

    with rm.confirming_nothing():
        ask = rm.claims(entitled)
        rm.sees_preemption_of(*allocations, by=ask)
        rm.withdraws(ask)
        rm.confirms_everything()

    rm.expect(Allocated(rm.asks(taker)))
