"""Placeholders reported by the RM after a restart."""

import pytest
from sireference.core.model import NodeInfo, RejectedAllocation, UpdateNodes
from sireference.core.resources import Resource
from sireference.core.states import NodeAction
from tests.driving import TIMEOUT, identities, keys, of, placed, released, states
from tests.gangs import PLACEHOLDER_TIMEOUT, REPLACED, WAITING, Gangs, existing


@pytest.fixture
def rm() -> Gangs:
    return Gangs()


# requirement: SI-REC-011, SI-REC-021
@pytest.mark.parametrize("with_node", [True, False])
def test_recovered_placeholder_is_replaced_like_any_other(rm: Gangs, *, with_node: bool) -> None:
    rm.submits_gang(memory=2)
    if with_node:
        old = (existing("old", "n1"),)
        effects = rm.send_node_action("n1", NodeAction.CREATE, {"memory": 2}, allocations=old)
    else:
        rm.creates("n1", memory=2)
        effects = rm.reports(existing("old", "n1"))
    assert states(effects) == ["Accepted"]

    assert released(rm.asks_member("r0")) == [("old", REPLACED)]
    assert placed(rm.confirms("old")) == [("r0", "n1")]


# requirement: SI-REC-012
@pytest.mark.parametrize(("group", "flag"), [("", False), ("tg", False), ("", True)])
def test_group_and_flag_together_make_a_placeholder(rm: Gangs, *, group: str, flag: bool) -> None:
    rm.creates("n1", memory=4)
    rm.submits_gang()

    effects = rm.reports(existing("old", "n1", group=group, placeholder=flag))

    assert states(effects) == ["Accepted", "Starting"]
    effects = rm.asks_member("r0")
    assert released(effects) == []
    assert placed(effects) == [("r0", "n1")]


# requirement: SI-REC-019
def test_recovered_placeholders_and_real_allocations_are_distinguished(rm: Gangs) -> None:
    rm.creates("n1", memory=4)
    rm.submits_gang()
    rm.reports(existing("r1", "n1", placeholder=False), existing("p2", "n1"))
    assert released(rm.asks_member("r3")) == [("p2", REPLACED)]
    (r3,) = identities(rm.confirms("p2"))

    assert states(rm.releases("r1", "g1")) == []
    assert states(rm.releases(r3, "g1")) == ["Completing"]


# requirement: SI-REC-020
def test_gang_that_is_incomplete_after_recovery_times_out(rm: Gangs) -> None:
    rm.creates("n1", memory=2)
    rm.submits_gang(style="hard")
    rm.asks_placeholder("p1", memory=3)
    rm.reports(existing("old", "n1"))
    assert rm.waits(0.99 * PLACEHOLDER_TIMEOUT) == []

    effects = rm.waits(0.01 * PLACEHOLDER_TIMEOUT)

    assert states(effects) == ["Failing"]
    assert released(effects) == [("old", TIMEOUT)]
    assert states(rm.confirms("old", TIMEOUT)) == ["Failed"]


def test_gang_with_a_recovered_allocation_has_started(rm: Gangs) -> None:
    rm.creates("n1", memory=8)
    rm.submits("a1", "root.quota")
    rm.asks("k6", memory=6)
    rm.submits_gang(queue="root.quota", memory=10)
    rm.reports(existing("old", "n1"))

    assert len(identities(rm.asks_placeholder("p1", memory=1))) == 0
    assert len(identities(rm.creates("n2", memory=2))) == 1


@pytest.mark.parametrize("asks_first", [True, False])
def test_recovered_gang_continues_behind_an_older_one(rm: Gangs, *, asks_first: bool) -> None:
    rm.submits_gang("g1")
    rm.submits_gang("g2", style="hard")
    old = (existing("old1", "n1", application_id="g2"), existing("old2", "n1", application_id="g2"))
    node = NodeInfo("n1", NodeAction.CREATE, capacity=Resource({"memory": 10}), allocations=old)
    comes = UpdateNodes("rm", (node,))
    served: list[str] = []
    if not asks_first:
        rm.scheduler.handle(comes, rm.now)
    rm.asks_placeholder("large", "g1", memory=50)
    for key in ("p1", "p2"):
        served += keys(rm.asks_placeholder(key, "g2", memory=1))
    if asks_first:
        served += keys(rm.scheduler.handle(comes, rm.now))

    assert served == ["p1", "p2"]


@pytest.mark.parametrize("asks_first", [True, False])
def test_recovered_gang_continues_in_a_full_queue(rm: Gangs, *, asks_first: bool) -> None:
    rm.creates("n1", memory=20)
    rm.submits("a1", "root.quota")
    rm.asks("k6", memory=6)
    rm.submits_gang(queue="root.quota", memory=8)
    reported = (existing("old", "n1"),)
    if not asks_first:
        rm.reports(*reported)
    served = keys(rm.asks_placeholder("p1"))
    if asks_first:
        served += keys(rm.reports(*reported))

    assert served == ["p1"]


def test_recovered_placeholder_serves_a_waiting_real_ask(rm: Gangs) -> None:
    rm.creates("n1", memory=2)
    rm.submits_gang()
    rm.asks_member("r0", memory=3)

    assert released(rm.reports(existing("old", "n1"))) == [("old", REPLACED)]


def test_recovered_placeholder_does_not_end_the_waiting(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.releases(rm.replaces(p0, "r0"), "g1")
    assert rm.reports(existing("old", "g1-n0")) == []

    assert released(rm.waits(WAITING)) == [("old", TIMEOUT)]

    assert states(rm.confirms("old", TIMEOUT)) == ["Completed"]


@pytest.mark.parametrize("after", ["timeout", "waiting"])
def test_application_that_releases_its_placeholders_accepts_no_others(
    rm: Gangs, after: str
) -> None:
    if after == "timeout":
        rm.has_half_a_gang()
        rm.waits(PLACEHOLDER_TIMEOUT)
        node = "n0"
    else:
        p0, _ = rm.has_gang(2)
        rm.releases(rm.replaces(p0, "r0"), "g1")
        rm.waits(WAITING)
        node = "g1-n0"

    (verdict,) = of(rm.reports(existing("old", node)), RejectedAllocation)

    assert "is releasing its placeholders" in verdict.reason


# requirement: SI-REC-016
def test_replacement_open_at_a_restart_starts_again(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.asks_member("r0")
    rm.registers()
    rm.creates("n1", memory=2)
    rm.submits("g1", "root.default")
    rm.reports(existing(p0, "n1"))

    assert rm.confirms(p0) == []

    assert released(rm.asks_member("r0")) == [(p0, REPLACED)]
    assert placed(rm.confirms(p0)) == [("r0", "n1")]
