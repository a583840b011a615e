"""Recovery: existing allocations reported by the RM."""

import pytest
from sireference.core.model import (
    AcceptedNode,
    AllocationRecord,
    Ask,
    NewAllocation,
    RejectedAllocation,
    RejectedNode,
    Settings,
)
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from sireference.core.states import NodeAction
from tests.driving import RM, STOPPED, keys, of, released, states

QUOTA_OF_FIVE = """
partitions:
  - name: default
    queues: [{name: root, submitacl: "*", queues: [{name: quota, resources: {max: {memory: 5}}}]}]
"""


def existing(
    identity: str = "old-1", node: str = "n1", application: str = "a1", **more: object
) -> AllocationRecord:
    resource = Resource({"memory": 4})
    ask = Ask("k-" + identity, application, **{"resource": resource, **more})  # type: ignore[arg-type]
    return AllocationRecord(identity, ask, node)


# requirement: SI-CONN-021, SI-REC-007, SI-REC-003
def test_existing_allocation_takes_its_capacity_and_can_be_released(busy: RM) -> None:
    effects = busy.reports(existing())

    assert [type(effect).__name__ for effect in effects] == ["UpdatedApplication"] * 2
    assert states(effects) == ["Accepted", "Starting"]
    assert keys(busy.asks("k1", memory=7)) == []
    effects = busy.releases("old-1")
    assert released(effects) == [("old-1", STOPPED)]
    assert keys(effects) == ["k1"]


# requirement: SI-REC-004, SI-REC-008, SI-REC-017, SI-REC-022
@pytest.mark.parametrize(
    ("allocation", "message"),
    [
        (existing(identity=""), "no identity"),
        (existing(identity="known"), "'known' is known already"),
        (existing(node="nX"), "no node 'nX'"),
        (existing(application="aX"), "no application 'aX'"),
        (existing(partition="nope"), "no partition 'nope'"),
        (existing(resource=Resource({"memory": -1})), "negative: memory"),
    ],
)
def test_impossible_allocation_is_rejected(
    busy: RM, allocation: AllocationRecord, message: str
) -> None:
    busy.reports(existing(identity="known"))
    before = busy.scheduler.snapshot("rm")

    (verdict,) = busy.reports(allocation)

    assert isinstance(verdict, RejectedAllocation)
    ask = allocation.ask
    assert (verdict.key, verdict.application_id) == (ask.key, ask.application_id)
    assert message in verdict.reason
    assert busy.scheduler.snapshot("rm") == before


# requirement: SI-REC-013
def test_existing_allocation_needs_no_capacity_and_no_schedulable_node(busy: RM) -> None:
    busy.drains("n1")

    assert not of(busy.reports(existing(resource=Resource({"memory": 50}))), RejectedAllocation)

    assert busy.undrains("n1") == []
    assert keys(busy.asks("k1", memory=1)) == []


def test_identity_reported_by_the_rm_is_not_reused(busy: RM) -> None:
    busy.reports(existing(identity="1"))

    busy.asks("k1", memory=1)

    assert sorted(busy.partition.allocations.all) == ["1", "2"]


def with_node(
    busy: RM, *allocations: AllocationRecord, action: NodeAction = NodeAction.CREATE
) -> list[object]:
    return list(busy.send_node_action("n2", action, {"memory": 10}, allocations=allocations))


# requirement: SI-REC-001, SI-REC-023
@pytest.mark.parametrize("action", [NodeAction.CREATE, NodeAction.CREATE_DRAIN])
def test_node_comes_with_its_existing_allocations(busy: RM, action: NodeAction) -> None:
    busy.drains("n1")

    effects = with_node(busy, existing(node="n2"), existing("old-2", node="n2"), action=action)

    assert effects[0] == AcceptedNode("rm", "n2")
    assert action is NodeAction.CREATE or keys(busy.undrains("n2")) == []
    assert keys(busy.asks("k1", memory=3)) == []
    assert keys(busy.asks("k2", memory=2)) == ["k2"]
    assert released(busy.decommissions("n2"))[:2] == [("old-1", STOPPED), ("old-2", STOPPED)]


# requirement: SI-REC-004, SI-REC-006
@pytest.mark.parametrize(
    "bad",
    [
        existing("old-2", node="n1"),
        existing("old-1", node="n2"),
        existing("old-2", node="n2", application="aX"),
        existing("", node="n2"),
    ],
)
def test_one_invalid_allocation_rejects_the_node_and_leaves_nothing(
    busy: RM, bad: AllocationRecord
) -> None:
    (verdict,) = with_node(busy, existing(node="n2"), bad)

    assert isinstance(verdict, RejectedNode)
    assert verdict.reason
    assert busy.partition.allocations.all == {}
    assert set(busy.partition.nodes) == {"n1"}


# requirement: SI-REC-002
def test_recovered_allocation_is_not_allocated_again(busy: RM) -> None:
    busy.reports(existing())

    assert keys(busy.creates("n2", memory=10)) == []
    assert keys(busy.waits(Settings().retention)) == []
    assert keys(busy.releases("old-1")) == []


@pytest.fixture
def echoing() -> RM:
    """Return an RM like ``busy`` whose scheduler sends recovered allocations back."""
    rm = RM(settings=Settings(echo_recovered_allocations=True))
    rm.creates("n1", memory=10)
    rm.submits("a1")
    return rm


# requirement: SI-REC-007, SI-REC-002
def test_recovered_allocation_is_sent_back_as_new_where_configured(echoing: RM) -> None:
    record = existing()

    effects = echoing.reports(record)

    assert states(effects) == ["Accepted", "Starting"]
    assert effects[-1] == NewAllocation("rm", record, "root.default")
    assert keys(echoing.waits(Settings().retention)) == []


# requirement: SI-REC-001, SI-REC-002
def test_allocation_of_a_node_is_sent_back_after_the_node_is_accepted(echoing: RM) -> None:
    effects = with_node(echoing, existing(node="n2"))

    assert effects[0] == AcceptedNode("rm", "n2")
    assert effects[-1] == NewAllocation("rm", existing(node="n2"), "root.default")


# requirement: SI-REC-008
def test_rejected_allocation_is_not_sent_back(echoing: RM) -> None:
    (verdict,) = echoing.reports(existing(node="nX"))

    assert isinstance(verdict, RejectedAllocation)


# requirement: SI-REC-009
def test_node_may_be_created_draining_filled_and_undrained(rm: RM) -> None:
    rm.submits("a1")
    rm.asks("whole", memory=10)
    rm.send_node_action("n1", NodeAction.CREATE_DRAIN, {"memory": 10})
    assert not of(rm.reports(existing(resource=Resource({"memory": 7}))), RejectedAllocation)

    assert rm.undrains("n1") == []

    rm.withdraws("whole")
    assert keys(rm.asks("k1", memory=4)) == []
    assert keys(rm.asks("k2", memory=3)) == ["k2"]


# requirement: SI-REC-013
def test_existing_allocations_may_exceed_their_queue_and_block_new_ones() -> None:
    rm = RM(queues=QUOTA_OF_FIVE)
    rm.creates("n1", memory=100)
    rm.submits("a1", "root.quota")
    eight, three = Resource({"memory": 8}), Resource({"memory": 3})

    effects = rm.reports(existing(resource=eight), existing("old-2", resource=three))

    assert not of(effects, RejectedAllocation)
    assert keys(rm.asks("k1", memory=2)) == []
    assert keys(rm.releases("old-1")) == ["k1"]


# requirement: SI-REC-014
def test_recovered_allocation_keeps_its_application_from_completing(busy: RM) -> None:
    busy.reports(existing())
    assert busy.waits(0.9 * Settings().starting_timeout) == []

    assert states(busy.releases("old-1")) == ["Completing"]
    assert states(busy.waits(Settings().completing_timeout)) == ["Completed"]


# requirement: SI-REC-015
def test_existing_allocations_count_with_a_creation_only(busy: RM) -> None:
    nine = existing(resource=Resource({"memory": 9}))

    assert busy.send_node_action("n1", NodeAction.UPDATE, allocations=(nine,)) == []

    assert keys(busy.asks("k1", memory=10)) == ["k1"]
    assert busy.releases("old-1") == []


# requirement: SI-REC-016, SI-CONN-018
@pytest.mark.parametrize("is_restarted", [False, True])
def test_replay_by_the_rm_restores_the_state(busy: RM, *, is_restarted: bool) -> None:
    busy.submits("a2")
    asks = tuple(
        Ask(f"{application}-{key}", application, resource=Resource({"memory": amount}))
        for application, key, amount in (("a1", "k", 4), ("a2", "k", 2), ("a2", "big", 30))
    )
    made = [new.allocation for new in of(busy.send(asks=asks), NewAllocation)]
    before = busy.scheduler.snapshot("rm")
    assert [len(application.allocations) for application in before.applications] == [1, 1]

    if is_restarted:
        busy.scheduler = Scheduler()
    busy.registers()
    assert busy.scheduler.snapshot("rm").nodes == ()
    busy.creates("n1", memory=10, vcore=10)
    for application in ("a1", "a2"):
        busy.submits(application)
    busy.reports(*made)
    assert busy.send(asks=asks[2:]) == []

    assert busy.scheduler.snapshot("rm") == before
    assert keys(busy.asks("k5", memory=5)) == []
    busy.withdraws("k5")
    assert keys(busy.asks("k4", memory=4)) == ["k4"]
    assert keys(busy.creates("n2", memory=30)) == ["a2-big"]
