"""Races between gang replacement and other events.

==========================  ================================================================
while a replacement is open expected result
==========================  ================================================================
it is confirmed, or twice   the real allocation has its capacity, the rest is free
the RM stops the            the same if the real ask is served, else all capacity is free
placeholder, or everything
the real ask is withdrawn   the same
the application is removed  all capacity is free
the node is drained         the same as without draining
the node is decommissioned  the queue has its capacity back
the real ask is sent again  it is served as last sent, with the same placeholder
==========================  ================================================================

Stops, withdrawals and removals by themselves are tested in the gang files, recovered placeholders
in ``test_recovery.py``, releases of everything in ``test_releases.py``.
"""

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import disruptive, requirement, waits
from siconform.protocol.application_states import COMPLETED
from siconform.protocol.notifications import (
    Allocated,
    ApplicationUpdated,
    NodeAccepted,
    Released,
    Termination,
)
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.gangs import (
    GANG_QUEUE,
    QUOTA_QUEUE,
    TASK_GROUP,
    Replacement,
    replaced,
    timed_out,
)
from siconform.rm.unregistered_rm import UnregisteredRM

Meanwhile = Callable[[ResourceManager, Replacement], None]

TOTAL: Final = 10  # memory of the quota queue and of the only node


def _nothing(rm: ResourceManager, replacement: Replacement) -> None:
    rm.confirms(replacement.release)


def _confirmed_twice(rm: ResourceManager, replacement: Replacement) -> None:
    rm.confirms(replacement.release)
    rm.confirms(replacement.release)


def _stopped(rm: ResourceManager, replacement: Replacement) -> None:
    rm.releases(replacement.placeholder)


def _stopped_and_confirmed(rm: ResourceManager, replacement: Replacement) -> None:
    rm.releases(replacement.placeholder)
    rm.synchronise_all()
    rm.confirms(replacement.release)


def _everything_stopped(rm: ResourceManager, replacement: Replacement) -> None:
    rm.releases_all(replacement.application)
    rm.synchronise_all()
    rm.confirms(replacement.release)


def _ask_withdrawn(rm: ResourceManager, replacement: Replacement) -> None:
    rm.withdraws(replacement.real)
    rm.synchronise_all()
    rm.confirms(replacement.release)


def _application_removed(rm: ResourceManager, replacement: Replacement) -> None:
    rm.removes_application(replacement.application)
    rm.settles()
    rm.confirms(replacement.release)


def _node_drained(rm: ResourceManager, replacement: Replacement) -> None:
    rm.drains(replacement.placeholder.node)
    rm.synchronise_all()
    rm.confirms(replacement.release)
    rm.settles()
    rm.undrains(replacement.placeholder.node)


def _node_decommissioned(rm: ResourceManager, replacement: Replacement) -> None:
    rm.decommissions(replacement.placeholder.node)
    rm.settles()
    rm.confirms(replacement.release)


MEANWHILE: Final[Mapping[str, Meanwhile]] = {
    "nothing": _nothing,
    "confirmed twice": _confirmed_twice,
    "stopped": _stopped,
    "stopped and confirmed": _stopped_and_confirmed,
    "everything stopped": _everything_stopped,
    "ask withdrawn": _ask_withdrawn,
    "application removed": _application_removed,
    "node drained": _node_drained,
    "node decommissioned": _node_decommissioned,
}


@pytest.mark.parametrize(
    "meanwhile",
    # some versions of yunikorn-core mishandle the late confirmation
    [pytest.param(m, marks=disruptive if "decommission" in m else ()) for m in MEANWHILE],
)
@requirement("SI-GANG-071")
def test_a_placeholder_that_has_ended_gives_its_quota_back_once(
    rm: ResourceManager, meanwhile: str
) -> None:
    rm.needs(Feature.QUOTAS)
    rm.has_node(memory=4)
    gang = rm.has_gang(queue=QUOTA_QUEUE, memory=4)
    replacement = rm.has_open_replacement(gang, rm.has_placeholders(gang))
    rm.has_node(memory=2 * TOTAL)

    MEANWHILE[meanwhile](rm, replacement)

    rm.has_capacity_for_the_rest_of(TOTAL, queue=QUOTA_QUEUE, meanwhile=gang)


@pytest.mark.parametrize("meanwhile", [name for name in MEANWHILE if "decommission" not in name])
@requirement("SI-GANG-071")
def test_a_placeholder_that_has_ended_gives_its_capacity_back_once(
    rm: ResourceManager, meanwhile: str
) -> None:
    rm.has_node(memory=TOTAL)
    gang = rm.has_gang(memory=4)
    replacement = rm.has_open_replacement(gang, rm.has_placeholders(gang))

    MEANWHILE[meanwhile](rm, replacement)

    rm.has_capacity_for_the_rest_of(TOTAL, queue=GANG_QUEUE, meanwhile=gang)


@pytest.mark.parametrize("memory", [1, 3, 4, 6], ids=lambda memory: f"real ask of {memory}")
@pytest.mark.parametrize("queue", [QUOTA_QUEUE, GANG_QUEUE], ids=["quota", "node"])
@requirement("SI-GANG-071")
def test_a_real_ask_of_any_size_leaves_the_rest_free(
    rm: ResourceManager, queue: str, memory: int
) -> None:
    rm.has_node(memory=TOTAL)
    gang = rm.has_gang(queue=queue, memory=4)
    placeholder = rm.has_placeholder(gang)

    rm.asks_member(gang, memory=memory)
    rm.ends_for_a_real_ask(placeholder)

    rm.has_capacity_for_the_rest_of(TOTAL, queue=queue, meanwhile=gang)


@pytest.mark.parametrize("vcore", [1, 3, 6], ids=lambda vcore: f"real ask of {vcore} vcores")
@requirement("SI-GANG-071")
def test_a_real_ask_that_differs_in_vcores_leaves_the_rest_of_them_free(
    rm: ResourceManager, vcore: int
) -> None:
    rm.has_node(memory=TOTAL, vcore=TOTAL)
    gang = rm.has_gang(members=4, memory=1)
    both = {"memory": 4, "vcore": 4}  # as much as its four members
    with rm.precondition("a placeholder is allocated"):
        ask = rm.asks(gang, resources=both, task_group=TASK_GROUP, placeholder=True)
        placeholder = rm.expect(Allocated(ask, placeholder=True))

    rm.asks(gang, resources=both | {"vcore": vcore}, task_group=TASK_GROUP)
    rm.ends_for_a_real_ask(placeholder)

    rm.has_capacity_for_the_rest_of(TOTAL, of="vcore", queue=GANG_QUEUE, meanwhile=gang)


@pytest.mark.parametrize("devices", [2, 4], ids=lambda devices: f"real ask of {devices} devices")
@requirement("SI-GANG-071")
def test_a_real_ask_leaves_the_rest_of_the_devices_free(rm: ResourceManager, devices: int) -> None:
    rm.has_node(resources={"memory": TOTAL, "vcore": TOTAL, "gpu": TOTAL})
    gang = rm.has_gang(memory=4, devices=4)
    placeholder = rm.has_placeholder(gang)

    rm.asks(gang, resources={**gang.member, "gpu": devices}, task_group=TASK_GROUP)
    rm.ends_for_a_real_ask(placeholder)

    rm.has_capacity_for_the_rest_of(TOTAL, of="gpu", queue=GANG_QUEUE, meanwhile=gang)


@requirement("SI-ASK-003", "SI-ASK-004", "SI-ASK-032")
def test_an_ask_sent_again_during_its_replacement_is_served_as_sent_last(
    rm: ResourceManager,
) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)

    rm.has_asked_again(replacement.real, memory=3)
    rm.confirms(replacement.release)

    real = rm.expect(Allocated(replacement.real))
    rm.gives(real, {"memory": 3, "vcore": 1}, below={"memory": 4})
    rm.expect_none(Allocated(replacement.real))


@requirement("SI-GANG-019")
def test_an_ask_sent_again_during_its_replacement_has_no_other_placeholder_released(
    rm: ResourceManager,
) -> None:
    gang, placeholders = rm.has_complete_gang(members=2, memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)
    others = [one for one in placeholders if one != replacement.placeholder]

    rm.has_asked_again(replacement.real, memory=3)

    rm.expect_none(*(replaced(placeholder) for placeholder in others))
    rm.confirms(replacement.release)
    rm.expect(Allocated(replacement.real))
    rm.expect_none(*(replaced(placeholder) for placeholder in others))


@requirement("SI-GANG-020")
def test_a_placeholder_in_replacement_holds_its_capacity_on_a_node_that_is_updated(
    rm: ResourceManager,
) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)

    rm.updates_node(replacement.placeholder.node, memory=5)

    other = rm.asks(rm.has_application(), memory=4)
    rm.expect_none(Allocated(replacement.real), Allocated(other))
    with rm.control("after the confirmation the real allocation comes"):
        rm.confirms(replacement.release)
        rm.expect(Allocated(replacement.real))


@requirement("SI-REL-003")
def test_a_release_without_identity_ends_what_is_being_replaced_as_well(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang, placeholders = rm.has_complete_gang(members=2)
    rm.has_open_replacement(gang, placeholders)

    with rm.confirming_nothing():
        rm.releases_all(gang)

        rm.expect_all_released(*placeholders)


@requirement("SI-GANG-025")
def test_a_real_ask_that_grew_during_its_replacement_waits_for_capacity(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm  # yunikorn-core loses count here
    rm.has_registered()
    gang, placeholders = rm.has_complete_gang(memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)

    grown = rm.has_asked_again(replacement.real, memory=6)
    rm.confirms(replacement.release)

    as_it_was = rm.receive_if_any(Allocated(grown, resource=gang.member))
    rm.needs_some([] if as_it_was else placeholders, of="to update what is being placed")
    rm.expect_none(Allocated(grown))
    rm.is_served(grown, node=rm.registers_node(memory=6))


@requirement("SI-CFG-008")
def test_a_real_ask_that_grew_during_its_replacement_stays_within_the_maximum_of_its_queue(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm  # yunikorn-core loses count here
    rm.has_registered()
    rm.needs(Feature.QUOTAS)
    rm.does_gang_scheduling()
    rm.has_node(memory=100)
    app = rm.has_application(queue=QUOTA_QUEUE)
    rm.has_allocation(app, memory=6)
    gang = rm.has_gang(queue=QUOTA_QUEUE, memory=4)
    replacement = rm.has_open_replacement(gang, rm.has_placeholders(gang))

    grown = rm.has_asked_again(replacement.real, memory=6)
    rm.confirms(replacement.release)

    as_it_was = rm.receive_if_any(Allocated(grown, resource=gang.member))
    held = [] if as_it_was else [replacement.placeholder]
    rm.needs_some(held, of="to update what is being placed")
    rm.expect_none(Allocated(grown))
    with rm.control("an ask that still fits is allocated"):
        rm.withdraws(grown)
        rm.expect(Allocated(rm.asks(app, memory=4)))


@requirement("SI-NODE-021")
def test_a_real_ask_does_not_take_what_others_occupied_during_its_replacement(
    rm: ResourceManager,
) -> None:
    rm.has_occupied_resource()
    rm.does_gang_scheduling()
    gang, placeholders = rm.has_complete_gang(memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)
    node = replacement.placeholder.node

    rm.updates_node(node, memory=4, occupied={"memory": 2})
    rm.confirms(replacement.release)

    rm.expect_none(Allocated(replacement.real))
    rm.is_served(replacement.real, node=rm.registers_node(memory=4))
    rm.expect(Allocated(rm.asks(rm.has_application(), memory=2), node=node))


@requirement("SI-ASK-005", "SI-ASK-027")
def test_an_ask_withdrawn_and_sent_again_during_its_replacement_is_allocated_once(
    rm: ResourceManager,
) -> None:
    rm.does_gang_scheduling()
    gang, placeholders = rm.has_complete_gang(memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)
    ask = replacement.real

    rm.withdraws(ask)
    rm.asks_again(ask)
    rm.synchronise_all()
    rm.confirms(replacement.release)
    rm.has_node(memory=10)

    rm.settles()
    rm.expect_at_most(1, Allocated(ask))


@requirement("SI-GANG-062")
def test_a_late_confirmation_continues_no_replacement_in_the_next_gang_of_the_id(
    rm: ResourceManager,
) -> None:
    gang, placeholders = rm.has_complete_gang(memory=4)
    replacement = rm.has_open_replacement(gang, placeholders)
    with rm.confirming_nothing():
        rm.has_removed(gang)
    again = rm.has_gang(gang, memory=4)

    rm.confirms(replacement.release)

    rm.expect_none(Allocated(application=again))
    with rm.control("what the next gang asks for is allocated"):
        rm.has_placeholder(again)


@disruptive  # some versions of yunikorn-core mishandle the late confirmation
@requirement("SI-NODE-006")
def test_a_late_confirmation_frees_nothing_on_the_next_node_of_the_id(rm: ResourceManager) -> None:
    rm.does_gang_scheduling()
    gang, other_app = rm.has_gang(memory=4), rm.has_application()
    node = rm.has_node(memory=4)
    replacement = rm.has_open_replacement(gang, rm.has_placeholders(gang))
    rm.withdraws(replacement.real)
    rm.decommissions(node)
    rm.settles()
    with rm.precondition("a decommissioned node can be created again"):
        rm.registers_node(node)
        rm.expect(NodeAccepted(node))
    rm.has_allocation(other_app, memory=4)

    rm.confirms(replacement.release)

    rm.expect_none(Allocated(rm.asks(other_app, memory=4)))


@waits
@requirement("SI-APP-028", "SI-APP-029", "SI-GANG-046")
def test_a_second_wait_is_as_long_as_the_first(rm: ResourceManager) -> None:
    waiting = rm.has_waiting_gang(leftovers=2)
    gang, leftovers = waiting.gang, waiting.leftovers
    rm.waits_a_while(*(timed_out(placeholder) for placeholder in leftovers), since=waiting.since)
    real, gone = rm.has_replaced(gang, leftovers)
    [left] = [placeholder for placeholder in leftovers if placeholder != gone]

    since = rm.now()
    rm.releases(real)

    end = (timed_out(left), ApplicationUpdated(gang, state=COMPLETED))
    rm.expect_when_due(*end, seconds=rm.waiting_timeout(), since=since)


@requirement("SI-GANG-032", "SI-GANG-033")
def test_the_timeout_ends_what_one_ask_for_several_placeholders_got(rm: ResourceManager) -> None:
    rm.has_asks_apart()
    rm.needs(Feature.SEVERAL_ALLOCATIONS)
    gang = rm.has_gang(members=3, memory=2, limit=rm.short_limit())
    for vcore in (10, 10, 0):  # enough in total, but not for the third
        rm.has_node(memory=2, vcore=vcore)
    ask = rm.asks_placeholder(gang, times=3)
    placeholders = rm.has_first_allocations(ask, 2)

    rm.expect_expiry(gang, placeholders)

    rm.expect_ask_released(ask)
    rm.expect_none(Allocated(ask), Released(application=gang, termination=Termination.TIMEOUT))
