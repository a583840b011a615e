"""Replacement of placeholders by real asks, and its failure modes."""

import pytest
from sireference.core.model import NewAllocation
from sireference.core.states import TerminationType
from tests.driving import STOPPED, TIMEOUT, identities, keys, of, placed, released, states
from tests.gangs import PREEMPTED, REPLACED, Gangs


@pytest.fixture
def rm() -> Gangs:
    return Gangs()


# requirement: SI-GANG-019, SI-GANG-020, SI-GANG-021
def test_real_ask_replaces_a_placeholder_once_that_has_ended(rm: Gangs) -> None:
    p0, p1, p2 = rm.has_gang(3)
    rm.submits("a2")
    rm.asks("waiting", "a2", memory=2)

    effects = rm.asks_member("r0")

    assert released(effects) == [(p0, REPLACED)]
    assert keys(effects) == []
    assert rm.waits(30) == []
    effects = rm.confirms(p0)
    assert placed(effects) == [("r0", "g1-n0")]
    assert states(effects) == ["Starting"]
    assert released(effects) == []
    (new,) = of(effects, NewAllocation)
    assert new.allocation.identity not in (p0, p1, p2)
    assert (new.allocation.ask.task_group, new.allocation.ask.placeholder) == ("tg", False)


# requirement: SI-GANG-017
def test_only_a_placeholder_of_the_same_group_is_replaced(rm: Gangs) -> None:
    rm.creates("n1", memory=4)
    rm.submits_gang(memory=4)
    rm.asks_placeholder("p0", group="tg1")
    (p1,) = identities(rm.asks_placeholder("p1", group="tg2"))

    assert released(rm.asks_member("r", group="tg2")) == [(p1, REPLACED)]


# requirement: SI-GANG-022
def test_real_ask_without_placeholder_is_placed_normally(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.creates("n", memory=6)

    for key, group in (("r0", ""), ("r1", "unknown")):
        effects = rm.asks_member(key, group=group)
        assert placed(effects) == [(key, "n")]
        assert released(effects) == []
    rm.replaces(p0, "r2")
    assert placed(rm.asks_member("r3")) == [("r3", "n")]


# requirement: SI-GANG-023, SI-GANG-056, SI-GANG-024
def test_placeholder_is_replaced_once(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)

    assert released(rm.asks_member("r0")) == [(p0, REPLACED)]
    assert released(rm.asks_member("r1")) == [(p1, REPLACED)]
    rm.creates("n", memory=4)
    assert placed(rm.asks_member("r2")) == [("r2", "n")]
    rm.submits("a2")
    assert placed(rm.asks("k", "a2", memory=2)) == [("k", "n")]
    assert placed(rm.confirms(p1)) == [("r1", "g1-n1")]
    assert placed(rm.confirms(p0)) == [("r0", "g1-n0")]


# requirement: SI-GANG-025
def test_ask_that_no_longer_fits_there_is_placed_elsewhere(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)
    rm.asks_member("r0")
    rm.updates("g1-n0", memory=1)
    rm.creates("n2", memory=2)

    effects = rm.confirms(p0)

    assert placed(effects) == [("r0", "n2")]
    assert released(effects) == []
    assert released(rm.asks_member("r1")) == [(p1, REPLACED)]


# requirement: SI-GANG-025
def test_ask_that_fits_nowhere_waits_and_replaces_no_other_placeholder(rm: Gangs) -> None:
    p0, _ = rm.has_gang(2)
    rm.asks_member("r0")
    rm.updates("g1-n0", memory=1)

    assert rm.confirms(p0) == []

    assert keys(rm.asks("small", "g1", memory=1)) == ["small"]
    assert rm.confirms(p0) == []
    assert placed(rm.creates("n2", memory=2)) == [("r0", "n2")]


def test_draining_node_gets_no_replacement(rm: Gangs) -> None:
    nodes = ("g1-n0", "g1-n1")
    placeholders = rm.has_gang(2)
    rm.asks_member("r0", most=2)
    for node in nodes:
        rm.drains(node)

    assert [rm.confirms(placeholder) for placeholder in placeholders] == [[], []]

    for node in nodes:
        assert placed(rm.undrains(node)) == [("r0", node)]


def test_placeholder_on_a_usable_node_comes_first(rm: Gangs) -> None:
    _, p1, p2 = rm.has_gang(3)
    rm.drains("g1-n0")

    required = rm.asks_member("r1", required_node="g1-n2")
    assert released(required) == [(p2, REPLACED)]
    assert released(rm.asks_member("r0")) == [(p1, REPLACED)]


def test_placeholder_with_more_free_capacity_comes_first_for_a_larger_ask(rm: Gangs) -> None:
    _, p1 = rm.has_gang(2)
    rm.updates("g1-n1", memory=3)

    assert released(rm.asks_member("r0", memory=3)) == [(p1, REPLACED)]

    assert placed(rm.confirms(p1)) == [("r0", "g1-n1")]


def test_ask_for_another_node_is_placed_there(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.creates("n1", memory=2)

    rm.asks_member("r0", required_node="n1")

    assert placed(rm.confirms(p0)) == [("r0", "n1")]


# requirement: SI-GANG-026
def test_full_queue_and_full_node_suffice_for_all_members(rm: Gangs) -> None:
    rm.creates("n1", memory=10)
    rm.submits_gang(queue="root.quota", memory=10)
    placeholders = identities(rm.asks_placeholder("p", most=5))
    rm.submits("a2", "root.quota")
    rm.asks("greedy", "a2", memory=2)

    for number, identity in enumerate(placeholders):
        rm.asks_member(f"r{number}")
        assert placed(rm.confirms(identity)) == [(f"r{number}", "n1")]


# requirement: SI-GANG-054, SI-GANG-071
def test_smaller_ask_frees_the_difference(rm: Gangs) -> None:
    (p0,) = rm.has_gang(memory=4)
    rm.submits("a2")
    rm.asks("k1", "a2", memory=1)

    effects = rm.asks_member("r0", memory=3)
    assert released(effects) == [(p0, REPLACED)]
    assert keys(effects) == []

    assert placed(rm.confirms(p0)) == [("r0", "g1-n0"), ("k1", "g1-n0")]


# requirement: SI-GANG-055
def test_larger_ask_is_placed_in_full_where_there_is_capacity(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)

    assert released(rm.asks_member("r0", memory=3)) == [(p0, REPLACED)]
    assert rm.confirms(p0) == []

    effects = rm.creates("n2", memory=3)
    assert placed(effects) == [("r0", "n2")]
    assert released(effects) == []
    assert released(rm.asks_member("r1")) == [(p1, REPLACED)]


def test_larger_ask_respects_the_quota(rm: Gangs) -> None:
    rm.creates("n1", memory=20)
    rm.submits_gang(queue="root.quota", memory=10)
    p0, p1 = identities(rm.asks_placeholder("p", memory=5, most=2))

    rm.asks_member("r0", memory=6)
    assert rm.confirms(p0) == []

    assert keys(rm.releases(p1, "g1")) == ["r0"]


def test_group_of_larger_asks_is_not_scanned_for_each(rm: Gangs) -> None:
    rm.creates("n1", memory=40)
    rm.submits_gang(memory=40)
    rm.asks_placeholder("p", most=19)
    rm.creates("n2", memory=2)
    rm.drains("n1")
    (last,) = identities(rm.asks_placeholder("last"))

    first = released(rm.asks_member("r0"))

    assert last not in [identity for identity, _ in first]
    assert len(first) == 1


# requirement: SI-GANG-057
def test_second_confirmation_is_ignored(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0")
    rm.submits("a2")
    rm.asks("k", "a2", memory=2)

    assert keys(rm.confirms(p0)) == ["r0"]

    assert rm.confirms(p0) == []


# requirement: SI-GANG-058
def test_stop_by_the_rm_in_between_is_confirmed_and_the_real_ask_is_placed(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0")

    effects = rm.releases(p0, "g1")

    assert released(effects) == [(p0, STOPPED)]
    assert placed(effects) == [("r0", "g1-n0")]
    assert states(effects) == ["Starting"]
    assert rm.confirms(p0) == []
    rm.submits("a2")
    assert keys(rm.asks("k", "a2", memory=2)) == []


# requirement: SI-REL-026, SI-REL-014
@pytest.mark.parametrize("kind", [TIMEOUT, PREEMPTED, TerminationType.UNRECOGNISED])
def test_confirmation_of_another_type_changes_nothing(rm: Gangs, kind: TerminationType) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0")

    assert rm.confirms(p0, kind) == []

    assert keys(rm.confirms(p0)) == ["r0"]


# requirement: SI-REL-014
def test_unexpected_confirmation_changes_nothing(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)

    assert rm.confirms(p0) == []
    rm.asks_member("r0")
    assert rm.confirms(p1) == []

    assert placed(rm.confirms(p0)) == [("r0", "g1-n0")]


# requirement: SI-REL-003
def test_confirmation_for_the_whole_application_confirms_open_releases(rm: Gangs) -> None:
    rm.has_gang(3)
    rm.asks_member("r0")
    rm.asks_member("r1")

    assert keys(rm.confirms("")) == ["r0", "r1"]


# requirement: SI-GANG-059
def test_withdrawn_ask_is_not_allocated_and_the_placeholder_ends(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0")
    rm.submits("a2")
    rm.asks("k", "a2", memory=2)

    assert keys(rm.withdraws("r0", "g1")) == []

    assert keys(rm.confirms(p0)) == ["k"]
    assert rm.state() == "Completing"


def test_waiting_ask_can_be_replaced_with_new_values(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0")

    assert rm.asks_member("r0", memory=1) == []

    (new,) = of(rm.confirms(p0), NewAllocation)
    assert new.allocation.ask.resource.amounts == {"memory": 1}
    rm.submits("a2")
    assert keys(rm.asks("k", "a2", memory=1)) == ["k"]


def test_replaced_ask_keeps_its_claim_to_the_capacity(rm: Gangs) -> None:
    rm.submits("a0")
    (p0,) = rm.has_gang()
    rm.asks("older", "a0", memory=2)
    rm.asks_member("r0")
    rm.asks_member("r0")

    assert keys(rm.confirms(p0)) == ["r0"]


def test_ask_for_several_is_removed_from_the_replacement_queue_as_a_whole(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r", memory=3, most=2)
    assert rm.confirms(p0) == []

    (application,) = rm.partition.applications.values()
    assert [line.key.replaces for line in application.ask_groups.values()] == [""]
    assert keys(rm.creates("n", memory=6)) == ["r", "r"]


def test_ask_replaced_with_a_lower_maximum_gives_up_the_excess(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)
    rm.asks_member("r", most=2)

    rm.asks_member("r", most=1)

    assert keys(rm.confirms(p0) + rm.confirms(p1)) == ["r"]
    assert rm.state() == "Starting"


def test_ask_moved_to_another_group_stops_waiting(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0")
    rm.creates("n", memory=2)

    assert placed(rm.asks_member("r0", group="other")) == [("r0", "n")]

    assert rm.confirms(p0) == []


def test_replaced_ask_does_not_get_a_second_placeholder(rm: Gangs) -> None:
    p0, _ = rm.has_gang(2)
    rm.asks_member("r0", memory=3)
    rm.confirms(p0)

    assert rm.asks_member("r0", memory=3) == []


# requirement: SI-GANG-060
def test_placeholders_of_a_decommissioned_node_end_and_are_not_replaced(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)
    rm.creates("n", memory=2)

    assert released(rm.decommissions("g1-n0")) == [(p0, STOPPED)]

    assert released(rm.asks_member("r0")) == [(p1, REPLACED)]
    assert placed(rm.asks_member("r1")) == [("r1", "n")]


# requirement: SI-GANG-061
def test_ask_whose_placeholder_ends_with_its_node_is_placed_elsewhere_once(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0")
    rm.creates("n", memory=2)

    effects = rm.decommissions("g1-n0")

    assert released(effects) == [(p0, STOPPED)]
    assert placed(effects) == [("r0", "n")]
    assert rm.confirms(p0) == []


# requirement: SI-GANG-062
def test_removal_of_the_application_ends_its_replacements(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)
    rm.asks_member("r0")
    rm.submits("a2")
    rm.asks("k", "a2", memory=2, most=3)

    effects = rm.removes("g1")

    assert released(effects) == [(p0, STOPPED), (p1, STOPPED)]
    assert keys(effects) == ["k", "k"]
    assert rm.confirms(p0) == rm.confirms(p1) == []


# requirement: SI-GANG-047
def test_placeholder_stopped_by_the_rm_is_not_replaced(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)
    assert released(rm.releases(p0, "g1")) == [(p0, STOPPED)]
    rm.creates("n", memory=2)
    rm.drains("g1-n0")

    assert released(rm.asks_member("r0")) == [(p1, REPLACED)]
    assert placed(rm.asks_member("r1")) == [("r1", "n")]


def test_execution_timeout_of_a_real_ask_starts_at_its_allocation(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0", execution_timeout=10.0)
    rm.waits(9)
    (real,) = identities(rm.confirms(p0))

    assert rm.waits(9) == []

    assert released(rm.waits(1)) == [(real, TIMEOUT)]


def test_all_capacity_is_free_in_the_end(rm: Gangs) -> None:
    p0, p1 = rm.has_gang(2)
    r0 = rm.replaces(p0, "r0")
    rm.asks_member("r1")
    rm.releases(r0, "g1")
    rm.withdraws("r1", "g1")
    rm.confirms(p1)

    assert rm.is_empty()
