"""Placeholder placement: when a gang starts, and which asks wait for which."""

import pytest
from sireference.core.model import NewAllocation
from tests.driving import STOPPED, identities, keys, of, placed, released, states
from tests.gangs import REPLACED, Gangs


@pytest.fixture
def rm() -> Gangs:
    return Gangs()


# requirement: SI-GANG-012, SI-GANG-015, SI-GANG-053
@pytest.mark.parametrize("announced", [True, False])
def test_placeholders_are_placed_like_other_asks_and_reported_as_such(
    rm: Gangs, *, announced: bool
) -> None:
    rm.creates("n1", memory=4)
    if announced:
        rm.submits_gang()
    else:
        rm.submits("g1")

    effects = rm.asks_placeholder("p0") + rm.asks_placeholder("p1") + rm.asks_placeholder("p2")

    allocations = [new.allocation for new in of(effects, NewAllocation)]
    assert [a.ask.key for a in allocations] == ["p0", "p1"]
    assert {(a.ask.is_placeholder, a.ask.task_group) for a in allocations} == {(True, "tg")}
    assert states(effects) == ["Accepted"]


# requirement: SI-GANG-028
def test_placeholder_flag_without_a_group_is_ignored(rm: Gangs) -> None:
    rm.creates("n1", memory=2)
    rm.submits("a1")

    effects = rm.asks_placeholder("k1", "a1", group="")

    assert keys(effects) == ["k1"]
    assert states(effects) == ["Accepted", "Starting"]
    assert released(rm.asks_member("k2", "a1", group="")) == []
    assert released(rm.asks_member("k3", "a1")) == []


# requirement: SI-GANG-030
def test_one_ask_may_stand_for_the_whole_group(rm: Gangs) -> None:
    rm.creates("n1", memory=6)
    rm.submits_gang()

    placeholders = identities(rm.asks_placeholder("p", most=3))

    assert len(placeholders) == 3
    effects = rm.asks_member("r", most=3)
    assert released(effects) == [(identity, REPLACED) for identity in placeholders]
    for identity in placeholders:
        assert placed(rm.confirms(identity)) == [("r", "n1")]
    assert rm.state() == "Running"


# requirement: SI-GANG-027
def test_placeholders_use_capacity_of_queues_and_nodes(rm: Gangs) -> None:
    rm.creates("n1", memory=20)
    rm.submits_gang(queue="root.quota", memory=8)
    rm.asks_placeholder("p", memory=2, most=4)

    rm.submits("a2", "root.quota")
    assert keys(rm.asks("k1", "a2", memory=3)) == []
    assert keys(rm.asks("k2", "a2", memory=2)) == ["k2"]
    rm.submits("a3")
    assert keys(rm.asks("k3", "a3", memory=11)) == []
    assert keys(rm.asks("k4", "a3", memory=10)) == ["k4"]


# requirement: SI-GANG-009
@pytest.mark.parametrize(
    ("queue", "neighbour"),
    [("root.quota", "root.quota"), ("root.parent.left", "root.parent.right")],
)
def test_no_placeholder_before_there_is_capacity_for_all(
    rm: Gangs, queue: str, neighbour: str
) -> None:
    rm.creates("n1", memory=20)
    rm.submits("a1", neighbour)
    (four, _) = identities(rm.asks("k4", memory=4) + rm.asks("k5", memory=4))
    rm.submits_gang(queue=queue)

    for number in range(3):
        assert keys(rm.asks_placeholder(f"p{number}")) == []

    assert keys(rm.releases(four)) == ["p0", "p1", "p2"]


def test_capacity_is_checked_again_as_it_grows_in_steps(rm: Gangs) -> None:
    rm.creates("n1", memory=20)
    rm.submits("a1", "root.quota")
    ones = identities(rm.asks("k", memory=1, most=8))
    rm.submits_gang(queue="root.quota")
    rm.asks_placeholder("p", most=3)

    for identity in ones[:3]:
        assert keys(rm.releases(identity)) == []

    assert keys(rm.releases(ones[3])) == ["p"] * 3


# requirement: SI-GANG-010
def test_waiting_gang_blocks_no_other_application(rm: Gangs) -> None:
    rm.creates("n1", memory=20)
    rm.submits("a1", "root.quota")
    rm.asks("k7", memory=7)
    rm.submits_gang(queue="root.quota", memory=4)
    rm.asks_placeholder("p", most=2)

    assert keys(rm.asks("k1", memory=1)) == ["k1"]
    rm.submits("a2", "root.quota")
    assert keys(rm.asks("k2", "a2", memory=1)) == ["k2"]


def test_started_gang_takes_available_capacity(rm: Gangs) -> None:
    rm.creates("n1", memory=20)
    rm.submits("a1", "root.quota")
    rm.submits_gang(queue="root.quota", memory=6)
    rm.asks_placeholder("p0")
    rm.asks("k5", memory=5)

    assert keys(rm.asks_placeholder("p1")) == ["p1"]
    assert keys(rm.asks_placeholder("p2")) == []


# requirement: SI-GANG-052
def test_older_gang_gets_its_placeholders_before_a_younger_one(rm: Gangs) -> None:
    for application in ("g1", "g2"):
        rm.submits_gang(application, "root.fifo", memory=4)
        rm.asks_placeholder(f"{application}-p0", application)
        rm.asks_placeholder(f"{application}-p1", application)

    assert keys(rm.creates("n1", memory=2)) == ["g1-p0"]
    # n1 is full; a smaller one would fit, but the older gang's second would not
    rm.submits_gang("g3", "root.fifo", memory=1)
    rm.asks_placeholder("g3-p0", "g3", memory=1)
    assert keys(rm.creates("n2", memory=1)) == []

    assert keys(rm.creates("n3", memory=6)) == ["g1-p1", "g2-p0", "g2-p1", "g3-p0"]


def test_gangs_of_other_queues_do_not_wait(rm: Gangs) -> None:
    rm.submits_gang("g1", "root.fifo", memory=4)
    rm.asks_placeholder("g1-p", "g1", memory=4)
    rm.submits_gang("g2", "root.other", memory=2)
    rm.asks_placeholder("g2-p", "g2")

    assert keys(rm.creates("n1", memory=3)) == ["g2-p"]


@pytest.mark.parametrize("end", ["withdrawn", "removed", "timed out"])
def test_younger_gang_follows_when_the_older_one_is_complete(rm: Gangs, end: str) -> None:
    rm.has_half_a_gang(style="hard")
    rm.submits_gang("g2", memory=1)
    rm.asks_placeholder("g2-p", "g2", memory=1)
    assert keys(rm.creates("n2", memory=1)) == []

    if end == "withdrawn":
        effects = rm.withdraws("p2", "g1")
    elif end == "removed":
        effects = rm.removes("g1")
    else:
        effects = rm.waits(60)

    assert keys(effects) == ["g2-p"]


# requirement: SI-GANG-016
@pytest.mark.parametrize("group", ["tg", "unknown", ""])
def test_real_ask_waits_for_the_last_placeholder(rm: Gangs, group: str) -> None:
    p0, _ = rm.has_half_a_gang()
    rm.creates("spare", memory=1)

    assert keys(rm.asks_member("r0", group=group, memory=1)) == []

    effects = rm.creates("n2", memory=2)
    assert keys(effects)[0] == "p2"
    if group == "tg":
        assert released(effects) == [(p0, REPLACED)]
    else:
        assert released(effects) == []
        assert placed(effects)[1:] == [("r0", "spare")]


def test_real_ask_sent_before_the_placeholders_waits_too(rm: Gangs) -> None:
    rm.submits_gang()
    rm.asks_member("r0")
    rm.asks_placeholder("p0")

    effects = rm.creates("n0", memory=20)

    assert keys(effects) == ["p0"]
    assert len(released(effects)) == 1


def test_real_asks_continue_when_the_missing_placeholder_is_withdrawn(rm: Gangs) -> None:
    p0, _ = rm.has_half_a_gang()
    rm.asks_member("r0")

    assert released(rm.withdraws("p2", "g1")) == [(p0, REPLACED)]


# requirement: SI-GANG-018
def test_more_placeholders_may_come_later(rm: Gangs) -> None:
    rm.has_gang(2)
    rm.creates("n", memory=2)

    assert placed(rm.asks_placeholder("late")) == [("late", "n")]


def test_late_placeholder_serves_a_waiting_real_ask(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.replaces(p0, "r0")
    rm.asks_member("r1")
    rm.asks_placeholder("late", memory=1)
    assert rm.state() == "Starting"

    effects = rm.creates("n", memory=1)

    assert keys(effects) == ["late"]
    assert [kind for _, kind in released(effects)] == [REPLACED]


# requirement: SI-GANG-011
def test_gang_size_is_a_guarantee_not_a_maximum(rm: Gangs) -> None:
    (p0,) = rm.has_gang()
    rm.replaces(p0, "r0")
    rm.creates("n", memory=4)

    assert keys(rm.asks_member("r1")) == ["r1"]
    assert keys(rm.asks_member("r2", group="")) == ["r2"]


def test_gang_counts_as_a_running_application(rm: Gangs) -> None:
    rm.creates("n1", memory=20)
    rm.submits_gang("g1", "root.one")
    rm.submits_gang("g2", "root.one")
    p0 = identities(rm.asks_placeholder("p0"))[0]

    assert keys(rm.asks_placeholder("q0", "g2")) == []

    assert keys(rm.releases(p0, "g1")) == ["q0"]


# requirement: SI-GANG-043
def test_pending_placeholder_ask_prevents_waiting(rm: Gangs) -> None:
    p0, p1 = rm.has_half_a_gang()

    effects = rm.withdraws("nope", "g1") + rm.releases(p0, "g1") + rm.drains("n0")
    effects += rm.drains("n1") + rm.releases(p1, "g1")

    assert states(effects) == []
    assert rm.state() == "Accepted"


# requirement: SI-GANG-047
def test_placeholder_stopped_by_the_rm_is_confirmed_and_not_replaced(rm: Gangs) -> None:
    p0, _ = rm.has_half_a_gang()

    effects = rm.releases(p0, "g1")

    assert released(effects) == [(p0, STOPPED)]
    assert placed(effects) == [("p2", "n0")]
    assert rm.releases(p0, "g1") == []
