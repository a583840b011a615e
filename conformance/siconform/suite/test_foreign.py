"""Foreign allocations: held on the RM's nodes by others than its applications (SI-FOR).

The specification names but does not describe them (C-52): a scheduler may ignore them.
"""

from collections.abc import Mapping

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    NodeAccepted,
    Released,
)
from siconform.protocol.requests import REQUIRED_NODE
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.foreign import STATIC_TAGS
from siconform.rm.steps.gangs import QUOTA_QUEUE
from siconform.rm.unregistered_rm import UnregisteredRM

LARGEST = 2**63 - 1


@requirement("SI-FOR-001")
def test_a_foreign_allocation_takes_capacity_and_is_announced_to_no_one(
    rm: ResourceManager,
) -> None:
    rm.has_foreign_allocations()
    node = rm.has_node(memory=10)
    app = rm.has_application()

    foreign = rm.has_foreign(node, memory=6)

    too_large = rm.asks(app, memory=5)
    rm.expect_none(Allocated(too_large), Allocated(foreign), AllocationRejected(foreign))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-FOR-002")
def test_a_foreign_allocation_holds_the_amount_it_was_reported_with_last(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=3)

    rm.has_foreign(node, key=foreign, memory=6)
    waiting = rm.asks(app, memory=5)
    rm.expect_none(Allocated(waiting))
    rm.has_foreign(node, key=foreign, memory=1)

    rm.is_served(waiting, node=node)
    rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-FOR-002")
def test_each_foreign_allocation_of_a_message_holds_its_amount(rm: ResourceManager) -> None:
    rm.has_foreign_allocations()
    node = rm.has_node(memory=10)
    app = rm.has_application()

    with rm.one_message():
        first, second = (rm.reports_foreign(node, memory=4) for _ in range(2))
    waiting = rm.asks(app, memory=5)
    rm.expect_none(Allocated(waiting))
    with rm.one_message():
        rm.reports_foreign(node, key=first, memory=3)
        rm.reports_foreign(node, key=second, memory=2)

    rm.is_served(waiting, node=node)
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more))


@requirement("SI-FOR-002")
def test_a_foreign_allocation_of_another_kind_holds_its_new_amount(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=3)

    rm.reports_foreign(node, key=foreign, memory=6, tags=STATIC_TAGS)

    too_large = rm.asks(app, memory=5)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-FOR-002")
def test_the_new_amount_of_a_foreign_allocation_on_a_draining_node_counts_once_undrained(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=3)
    rm.drains(node)

    rm.has_foreign(node, key=foreign, memory=6)
    rm.undrains(node)

    with rm.precondition("an undrained node takes work"):
        rm.expect(Allocated(rm.asks(app, memory=1), node=node))
    rm.expect(Allocated(rm.asks(app, memory=3), node=node))
    rm.expect_none(Allocated(rm.asks(app, memory=1)))


@requirement("SI-FOR-002")
def test_a_foreign_allocation_beyond_its_node_frees_only_what_is_not_held_then(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=25)

    rm.has_foreign(node, key=foreign, memory=6)

    rm.expect(Allocated(rm.asks(app, memory=4), node=node))
    rm.expect_none(Allocated(rm.asks(app, memory=1)))


@requirement("SI-FOR-002")
def test_a_foreign_allocation_holds_its_last_amount_of_every_type(rm: ResourceManager) -> None:
    node = rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 4})
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=1)

    rm.reports_foreign(node, key=foreign, resources={"memory": 1, "vcore": 1, "gpu": 4})

    waiting = rm.asks(app, resources={"memory": 1, "vcore": 1, "gpu": 2})
    rm.expect_none(Allocated(waiting))
    rm.reports_foreign(node, key=foreign, resources={"memory": 1, "vcore": 1, "gpu": 2})
    rm.is_served(waiting, node=node)


@requirement("SI-FOR-002")
def test_a_type_left_out_of_the_report_of_a_foreign_allocation_is_free_again(
    rm: ResourceManager,
) -> None:
    rm.has_foreign_allocations()
    node = rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 2})
    app = rm.has_application()
    foreign = rm.reports_foreign(node, resources={"memory": 1, "vcore": 1, "gpu": 2})
    waiting = rm.asks(app, resources={"memory": 1, "vcore": 1, "gpu": 1})
    rm.expect_none(Allocated(waiting))

    rm.reports_foreign(node, key=foreign, resources={"memory": 1, "vcore": 1})

    rm.is_served(waiting, node=node)


@requirement("SI-FOR-003")
def test_a_foreign_allocation_released_on_a_draining_node_is_gone(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=6)
    waiting = rm.has_waiting_ask(app, memory=10)
    rm.drains(node)

    rm.releases_foreign(foreign)

    rm.undrains(node)
    rm.is_served(waiting, node=node)


@requirement("SI-FOR-003")
def test_a_release_by_key_without_application_ends_a_foreign_allocation(
    rm: ResourceManager,
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=6)
    waiting = rm.has_waiting_ask(app, memory=10)
    with rm.control("the foreign allocation holds capacity before"):
        rm.expect_none(Allocated(waiting))

    rm.releases_foreign(foreign)

    all_of_it = rm.is_served(waiting, node=node)
    confirmed = rm.receive_if_any(Released(identity=foreign))
    rm.records("a release of a foreign allocation", confirmed, otherwise="no confirmation")
    rm.releases_foreign(foreign)
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more), Released(application=app))
    rm.withdraws(one_more)
    rm.still_holds(all_of_it)


@requirement("SI-FOR-003")
def test_foreign_allocations_released_in_one_message_free_what_they_held_of_every_type(
    rm: ResourceManager,
) -> None:
    rm.has_foreign_allocations()
    node = rm.has_node(resources={"memory": 10, "vcore": 10, "gpu": 2})
    app = rm.has_application()
    held = {"memory": 1, "vcore": 1, "gpu": 1}
    both = [rm.reports_foreign(node, resources=held) for _ in range(2)]
    waiting = rm.asks(app, resources={**held, "gpu": 2})
    rm.expect_none(Allocated(waiting))

    with rm.one_message():
        for foreign in both:
            rm.releases_foreign(foreign)

    rm.is_served(waiting, node=node)


@requirement("SI-REL-028")
def test_a_release_with_an_application_ends_no_foreign_allocation(rm: ResourceManager) -> None:
    rm.has_foreign_allocations()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=6)

    for wrong in (app, rm.new_name("app")):
        rm.releases_foreign(foreign, application=wrong)

    too_large = rm.asks(app, memory=5)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-FOR-004")
@pytest.mark.parametrize("place", ["no node", "an unknown node", "an unknown partition"])
def test_a_foreign_allocation_without_a_place_is_rejected(rm: ResourceManager, place: str) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    with rm.control("a foreign allocation on a known node is not rejected"):
        rm.expect_none(AllocationRejected(rm.has_foreign(node, memory=1)))

    stray = rm.reports_foreign(
        {"no node": "", "an unknown node": rm.new_name("node")}.get(place, node),
        partition="nope" if place == "an unknown partition" else "default",
        memory=9,
    )

    rejection = rm.expect(AllocationRejected(stray, application=""))
    rm.states_reason(rejection)
    rm.expect(Allocated(rm.asks(app, memory=9), node=node))


@requirement("SI-FOR-004")
def test_a_rejected_foreign_allocation_takes_nothing_from_a_later_node(rm: ResourceManager) -> None:
    app = rm.has_application()
    node = rm.new_name("node")
    with rm.precondition("a foreign allocation on an unknown node is rejected"):
        rm.expect(AllocationRejected(rm.reports_foreign(node, memory=6)))

    rm.registers_node(node, memory=10)

    rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-FOR-004")
def test_a_rejected_report_leaves_a_foreign_allocation_where_it_was(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    foreign = rm.has_foreign(node, memory=6)

    with rm.precondition("a foreign allocation on an unknown node is rejected"):
        rm.reports_foreign(rm.new_name("node"), key=foreign, memory=6)
        rm.expect(AllocationRejected(foreign))

    too_large = rm.asks(app, memory=5)
    rm.expect_none(Allocated(too_large))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-FOR-005")
def test_a_foreign_allocation_is_taken_beyond_the_capacity_of_its_node(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    held = rm.has_allocation(app, memory=6, node=node)

    foreign = rm.has_foreign(node, memory=8)

    rm.has_kept(held)
    waiting = rm.asks(app, memory=1)
    rm.expect_none(Allocated(waiting), AllocationRejected(foreign))
    rm.has_foreign(node, key=foreign, memory=3)
    rm.is_served(waiting, node=node)
    rm.still_holds(held)


@requirement("SI-FOR-005")
def test_the_largest_foreign_allocations_leave_nothing_of_their_node(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm  # a scheduler may lose count beyond 2^63-1
    rm.has_registered()
    node = rm.has_node(memory=10)
    app = rm.has_application()
    with rm.control("before them an equal ask is allocated"):
        rm.expect(Allocated(rm.asks(app, memory=1), node=node))

    for _ in range(2):
        rm.has_foreign(node, memory=LARGEST)

    rm.expect_none(Allocated(rm.asks(app, memory=1)))


@requirement("SI-FOR-005")
def test_a_foreign_allocation_is_taken_on_a_draining_node(rm: ResourceManager) -> None:
    app = rm.has_application()
    node = rm.has_node(memory=10, draining=True)

    foreign = rm.has_foreign(node, memory=6)
    rm.undrains(node)

    too_large = rm.asks(app, memory=5)
    rm.expect_none(Allocated(too_large), AllocationRejected(foreign))
    with rm.control("an ask that fits as well is allocated"):
        rm.withdraws(too_large)
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))


@requirement("SI-FOR-005")
def test_a_real_ask_does_not_replace_its_placeholder_beyond_a_foreign_allocation(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm  # yunikorn-core loses count here
    rm.has_registered()
    rm.does_gang_scheduling()
    gang, placeholders = rm.has_complete_gang(memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)
    node = replacement.placeholder.node

    foreign = rm.has_foreign(node, memory=2)
    rm.confirms(replacement.release)

    rm.expect_none(Allocated(replacement.real), AllocationRejected(foreign))
    rm.releases_foreign(foreign)
    rm.is_served(replacement.real, node=node)


@requirement("SI-FOR-006")
def test_a_foreign_allocation_counts_for_no_queue(rm: ResourceManager) -> None:
    rm.needs(Feature.QUOTAS)
    others, node = rm.has_node(memory=10), rm.has_node(memory=10)
    app = rm.has_application(queue=QUOTA_QUEUE)

    rm.has_foreign(others, memory=6)

    rm.expect(Allocated(rm.asks(app, memory=10), node=node))
    with rm.control("an ask beyond the maximum of the queue is not allocated"):
        rm.expect_none(Allocated(rm.asks(app)))


@requirement("SI-FOR-007")
def test_an_unknown_kind_of_foreign_allocation_counts_as_any(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()

    odd = rm.reports_foreign(node, memory=6, tags={"foreign": "other"})

    is_taken = rm.is_taken(odd)
    rm.records(f"a foreign allocation of an unknown kind is taken: {is_taken}")
    all_of_it = rm.asks(app, memory=10)
    if is_taken:
        rm.expect_none(Allocated(all_of_it))
        rm.releases_foreign(odd)
    rm.is_served(all_of_it, node=node)


@requirement("SI-FOR-007")
def test_a_tag_with_a_domain_makes_no_foreign_allocation(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()

    other = rm.reports_foreign(node, memory=6, tags={"kubernetes.io/foreign": "default"})

    rm.records(f"an allocation of no application is taken: {rm.is_taken(other)}")
    rm.expect(Allocated(rm.asks(app, memory=10), node=node))


@requirement("SI-FOR-008")
def test_a_foreign_allocation_is_not_preempted(rm: ResourceManager) -> None:
    taken = rm.has_taken_node()
    claim = rm.claims(taken.entitled)
    rm.sees_preemption_of(*taken.allocations, by=claim)  # if there is preemption at all
    rm.expect(Allocated(claim))
    rm.decommissions(taken.node)

    node = rm.has_node(memory=10)
    foreign = rm.has_foreign(node, memory=10)
    entitled_ask = rm.claims(taken.entitled, memory=5)

    rm.sees_no_preemption_of(foreign)
    rm.releases_foreign(foreign)
    rm.is_served(entitled_ask, node=node)


@requirement("SI-FOR-008")
def test_a_foreign_allocation_stays_where_an_ask_can_go_nowhere_else(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    foreign = rm.has_foreign(node, memory=10)
    rm.has_node(memory=10)
    app = rm.has_application()

    bound = rm.has_ask_left_alone(app, "required nodes", memory=5, tags={REQUIRED_NODE: node})

    rm.expect_nothing_allocated(Released(identity=foreign), Allocated(bound))
    rm.releases_foreign(foreign)
    rm.is_served(bound, node=node)


@requirement("SI-FOR-009")
def test_a_foreign_allocation_counts_on_its_node_that_was_updated(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_foreign(node, memory=6)

    rm.updates_node(node, memory=12)

    too_large = rm.asks(app, memory=7)
    rm.expect_none(Allocated(too_large))
    rm.withdraws(too_large)
    rm.expect(Allocated(rm.asks(app, memory=6), node=node))


@requirement("SI-FOR-009")
def test_a_foreign_allocation_counts_on_its_node_that_came_back(rm: ResourceManager) -> None:
    app = rm.has_application()
    node = rm.has_node(memory=10)
    foreign = rm.has_foreign(node, memory=6)
    rm.decommissions(node)
    rm.settles()
    with rm.precondition("a decommissioned node is accepted again"):
        rm.has_observed(NodeAccepted(node))
        rm.registers_node(node, memory=10)
        rm.expect(NodeAccepted(node))

    rm.reports_foreign(node, key=foreign, memory=6)

    is_taken = rm.is_taken(foreign)
    all_of_it = rm.asks(app, memory=10)
    if is_taken:
        rm.expect_none(Allocated(all_of_it))
        rm.releases_foreign(foreign)
    rm.is_served(all_of_it, node=node)


@requirement("SI-FOR-009")
def test_a_foreign_allocation_counts_on_the_node_it_was_reported_with_last(
    rm: ResourceManager,
) -> None:
    app = rm.has_application()
    first, second = rm.has_node(memory=10), rm.has_node(memory=10)
    foreign = rm.has_foreign(first, memory=6)

    rm.reports_foreign(second, key=foreign, memory=6)

    left, holding = (first, second) if rm.is_taken(foreign) else (second, first)
    rm.expect(Allocated(rm.asks(app, memory=10), node=left))
    waiting = rm.asks(app, memory=10)
    rm.expect_none(Allocated(waiting))
    rm.releases_foreign(foreign)
    rm.is_served(waiting, node=holding)


@requirement("SI-FOR-009")
def test_a_foreign_allocation_counts_once_its_node_is_undrained(rm: ResourceManager) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    rm.has_foreign(node, memory=6)

    rm.drains(node)
    rm.undrains(node)

    with rm.precondition("an undrained node takes work"):
        rm.expect(Allocated(rm.asks(app, memory=4), node=node))
    one_more = rm.asks(app, memory=1)
    rm.expect_none(Allocated(one_more))


@requirement("SI-FOR-010")
@pytest.mark.parametrize(
    "resources",
    [{"memory": 0}, {"memory": -1}, {"memory": 1, "vcore": -1}],
    ids=["zero", "negative", "negative in part"],
)
def test_a_foreign_amount_of_zero_or_less_is_rejected(
    rm: ResourceManager, resources: Mapping[str, int]
) -> None:
    node = rm.has_node(memory=10)
    app = rm.has_application()
    with rm.control("a foreign allocation of something is not rejected"):
        known = rm.has_foreign(node, memory=1)
        rm.expect_none(AllocationRejected(known))
        rm.releases_foreign(known)

    foreign = rm.reports_foreign(node, resources=resources)

    rm.expect(AllocationRejected(foreign))
    too_large = [rm.asks(app, memory=11), rm.asks(app, vcore=11)]
    rm.expect_none(*(Allocated(ask) for ask in too_large))
    with rm.control("an ask for the whole node is allocated"):
        for ask in too_large:
            rm.withdraws(ask)
        rm.expect(Allocated(rm.asks(app, memory=10, vcore=10), node=node))
