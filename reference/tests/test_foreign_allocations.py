"""Foreign allocations: node usage by other schedulers, as the RM reports it."""

import pytest
from sireference.core.model import (
    Callback,
    ForeignAllocation,
    PreemptionPolicy,
    RecommendedNode,
    RejectedAllocation,
    ReportUtilisation,
    UtilisationReport,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction, TerminationType
from tests.configuring import tree
from tests.driving import STOPPED, TIMEOUT, keys, of, placed, released
from tests.keyed import Keyed, foreign, refused_entries
from tests.test_histories import accounting_balances

EVERYTHING = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)
SMALL = tree(
    "{name: default, resources: {max: {memory: 4}}}",
    root='limits: [{users: ["*"], maxresources: {memory: 9}}]',
)


@pytest.fixture
def rm() -> Keyed:
    """Return an RM with node n1 (memory 10) and application a1."""
    rm = Keyed()
    rm.creates("n1", memory=10)
    rm.submits("a1")
    return rm


# requirement: SI-FOR-001
def test_foreign_allocation_takes_capacity_and_is_not_announced(rm: Keyed) -> None:
    assert rm.sees("f1", memory=6) == []

    assert keys(rm.wants("k1", memory=5)) == []
    assert keys(rm.wants("k2", memory=4)) == ["k2"]
    accounting_balances(rm.partition)


# requirement: SI-FOR-002
def test_amount_is_updated_by_key(rm: Keyed) -> None:
    rm.sees("f1", memory=6)
    rm.wants("k1", memory=5)

    assert rm.sees("f1", memory=7) == []
    assert keys(rm.sees("f1", memory=1)) == ["k1"]
    assert rm.node().foreign == Resource({"memory": 1})
    accounting_balances(rm.partition)


def test_growth_wakes_no_ask(rm: Keyed) -> None:
    rm.sees("f1", memory=6)
    rm.wants("k1", memory=5)
    looked_at = rm.partition.node_index.looked_at

    rm.sees("f1", memory=7)
    rm.sees("f2", memory=1)

    assert rm.partition.node_index.looked_at == looked_at


# requirement: SI-FOR-003
def test_release_by_key_without_application_ends_it(rm: Keyed) -> None:
    rm.sees("f1", memory=6)
    rm.wants("k1", memory=5)

    assert keys(rm.ends("f1", "")) == ["k1"]
    assert rm.ends("f1", "") == []
    assert rm.node().foreign == Resource()
    accounting_balances(rm.partition)


@pytest.mark.parametrize(
    ("application_id", "termination"),
    [("a1", STOPPED), ("a9", STOPPED), ("", TIMEOUT), ("", TerminationType.PREEMPTED_BY_SCHEDULER)],
)
def test_other_releases_do_not_end_it(
    rm: Keyed, application_id: str, termination: TerminationType
) -> None:
    rm.sees("f1", memory=6)

    assert rm.ends("f1", application_id, termination) == []
    assert rm.node().foreign == Resource({"memory": 6})


# requirement: SI-REL-028
def test_release_without_application_ends_only_foreign_allocations(rm: Keyed) -> None:
    rm.wants("k1", memory=6)

    assert rm.ends("k1", "") == []
    assert released(rm.ends("k1")) == [("k1", STOPPED)]


# requirement: SI-FOR-004, SI-FOR-010
@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (foreign("", memory=1), "no key"),
        (foreign("f1", "", memory=1), "no node ''"),
        (foreign("f1", "n9", memory=1), "no node 'n9'"),
        (ForeignAllocation("f1", "n1", "p9", Resource({"memory": 1})), "no partition 'p9'"),
        (foreign("f1", memory=0), "uses nothing"),
        (foreign("f1"), "uses nothing"),
        (foreign("f1", memory=-1), "negative"),
        (foreign("f" * 2000, memory=1), "characters"),
        (ForeignAllocation("f1", "", application_id="a1"), "no node"),
    ],
)
def test_invalid_foreign_allocation_is_rejected(
    rm: Keyed, entry: ForeignAllocation, message: str
) -> None:
    (rejected,) = of(rm.lists(entry), RejectedAllocation)

    assert (rejected.key, rejected.application_id) == (entry.key, entry.application_id)
    assert message in rejected.reason
    assert rm.node().foreign == Resource()


# requirement: SI-FOR-010
def test_rejected_update_changes_nothing(rm: Keyed) -> None:
    rm.sees("f1", memory=6)

    for entry in (foreign("f1", memory=0), foreign("f1", memory=-1), foreign("f1", "n9", memory=1)):
        assert refused_entries(rm.lists(entry)) == ["f1"]

    assert rm.node().foreign == Resource({"memory": 6})


# requirement: SI-FOR-005
def test_no_capacity_is_needed_and_a_draining_node_is_allowed(rm: Keyed) -> None:
    rm.wants("k1", memory=8)
    rm.drains("n1")

    assert rm.sees("f1", memory=6) == []
    rm.undrains("n1")

    assert rm.node().free == Resource({"memory": -4})
    assert keys(rm.wants("k2", memory=1)) == []
    assert keys(rm.sees("f1", memory=1)) == ["k2"]
    accounting_balances(rm.partition)


# requirement: SI-FOR-006
def test_queues_and_users_are_not_charged() -> None:
    rm = Keyed(queues=SMALL)
    rm.creates("n1", memory=10)
    rm.submits("a1", user="bob")

    rm.sees("f1", memory=6)

    assert rm.partition.root.used == Resource()
    assert keys(rm.wants("k1", memory=4)) == ["k1"]


# requirement: SI-FOR-008
def test_it_is_not_a_victim_even_for_an_ask_bound_to_its_node(rm: Keyed) -> None:
    rm.sees("f1", memory=6)
    bound = {"required_node": "n1", "preemption_policy": EVERYTHING, "priority": 9}

    effects = rm.wants("k1", memory=5, more=bound) + rm.waits(600.0)

    assert released(effects) == []
    assert keys(effects) == []


def test_victims_that_would_not_free_enough_stay(rm: Keyed) -> None:
    rm.submits("a2")
    rm.wants("v", "a2", memory=4, more={"preemption_policy": EVERYTHING})
    rm.sees("f1", memory=6)
    bound = {"required_node": "n1", "preemption_policy": EVERYTHING, "priority": 9}

    assert released(rm.wants("k1", memory=5, more=bound) + rm.waits(600.0)) == []
    assert released(rm.wants("k2", memory=4, more=bound) + rm.waits(600.0)) == [
        ("v", TerminationType.PREEMPTED_BY_SCHEDULER)
    ]
    rm.sees("f1", memory=1)
    accounting_balances(rm.partition)


# requirement: SI-FOR-009
def test_it_ends_with_its_node_and_counts_again_when_reported_again(rm: Keyed) -> None:
    rm.sees("f1", memory=6)
    rm.decommissions("n1")
    rm.creates("n1", memory=10)
    assert rm.node().foreign == Resource()

    assert rm.sees("f1", memory=6) == []

    assert keys(rm.wants("k1", memory=10)) == []
    assert keys(rm.ends("f1", "")) == ["k1"]
    accounting_balances(rm.partition)


# requirement: SI-FOR-009
def test_it_counts_on_the_node_reported_last(rm: Keyed) -> None:
    rm.creates("n2", memory=10)
    rm.sees("f1", memory=6)

    assert rm.sees("f1", "n2", memory=5) == []

    assert (rm.node("n1").foreign, rm.node("n2").foreign) == (Resource(), Resource({"memory": 5}))
    assert placed(rm.wants("k1", memory=10)) == [("k1", "n1")]
    rm.decommissions("n1")
    assert rm.node("n2").foreign == Resource({"memory": 5})
    accounting_balances(rm.partition)


def test_key_is_unique_across_kinds(rm: Keyed) -> None:
    rm.wants("lives", memory=1)
    rm.wants("waits", memory=99)
    rm.sees("f1", memory=1)

    assert refused_entries(rm.sees("lives", memory=1)) == ["lives"]
    assert refused_entries(rm.sees("waits", memory=1)) == ["waits"]
    assert refused_entries(rm.wants("f1", memory=1)) == ["f1"]
    assert refused_entries(rm.runs("f1", memory=1)) == ["f1"]
    rm.ends("f1", "")
    assert keys(rm.wants("f1", memory=1)) == ["f1"]


def test_node_keeps_it_when_its_capacity_changes(rm: Keyed) -> None:
    rm.sees("f1", memory=6)

    rm.updates("n1", memory=20)

    assert rm.node().free == Resource({"memory": 14})
    assert rm.node().allocated == Resource()


def test_snapshot_shows_it_as_occupied(rm: Keyed) -> None:
    rm.send_node_action("n1", NodeAction.UPDATE, occupied={"memory": 1})
    rm.sees("f1", memory=6)
    rm.wants("k1", memory=2)

    (node,) = rm.scheduler.snapshot("rm").nodes

    assert (node.occupied, node.allocated) == ({"memory": 7}, {"memory": 2})
    rm.send_node_action("n1", NodeAction.UPDATE, occupied={})
    rm.ends("f1", "")
    (node,) = rm.scheduler.snapshot("rm").nodes
    assert node.occupied == {}


def test_its_usage_is_expected_in_utilisation(rm: Keyed) -> None:
    rm.sees("f1", memory=6)

    def uses(memory: int) -> list[RecommendedNode]:
        report = UtilisationReport("n1", Resource({"memory": memory}))
        effects = rm.scheduler.handle(ReportUtilisation("rm", (report,)), rm.now)
        return of(effects, RecommendedNode)

    assert uses(6) == []
    assert len(uses(7)) == 1


def test_another_registration_forgets_it(rm: Keyed) -> None:
    rm.sees("f1", memory=6)
    rm.registers()
    rm.creates("n1", memory=10)

    assert rm.node().free == Resource({"memory": 10})
    assert rm.sees("f1", memory=6) == []


def test_predicates_are_not_asked_about_it(rm: Keyed) -> None:
    rm.offers(*Callback)

    assert rm.sees("f1", memory=6) == []
    assert rm.ends("f1", "") == []
