"""Searches for victims among many nodes: sampled, incremental, and concurrent."""

import pytest
from sireference.core.model import Ask
from sireference.core.preemption import cycle, victim_search
from sireference.core.resources import Resource
from sireference.core.state.node import Node
from tests.preempting import ALLOWED, DELAY, OPTED_OUT, Preempting, preempted


@pytest.fixture
def rm() -> Preempting:
    return Preempting()


def the_last_of(rm: Preempting, nodes: int) -> str:
    """Return many full nodes, and one more that has the only victim."""
    for number in range(nodes):
        rm.creates(f"n{number:02}", memory=1)
        rm.takes(f"spared{number}", preemption_policy=OPTED_OUT)
    rm.creates("last", memory=1)
    (victim,) = rm.takes("v")
    return victim


def test_of_very_many_nodes_a_sufficient_number_is_searched(
    rm: Preempting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(victim_search, "_ENOUGH", 3)
    seen: list[str] = []
    on = victim_search.Search._on

    def watched(search: victim_search.Search, node: Node) -> object:
        seen.append(node.node_id)
        return on(search, node)

    monkeypatch.setattr(victim_search.Search, "_on", watched)
    for number in range(10):
        rm.creates(f"n{number}", memory=1)
        rm.takes(f"v{number}")

    assert len(preempted(rm.claims())) == 1
    assert len(set(seen)) == 3


def test_unsuccessful_search_continues_where_it_stopped(
    rm: Preempting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(victim_search, "_MOST_LOOKS", 10)
    victim = the_last_of(rm, 25)

    assert preempted(rm.claims()) == []
    assert len(rm.partition.preemptors.paused) == 1

    assert preempted(rm.waits(1)) == [victim]
    assert not rm.partition.preemptors.paused


def test_search_continues_without_a_node_that_drains_by_then(
    rm: Preempting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(victim_search, "_MOST_LOOKS", 10)
    the_last_of(rm, 15)
    rm.claims()

    assert preempted(rm.drains("last") + rm.waits(1)) == []


def test_asks_of_several_sizes_do_not_choose_the_same_victim(rm: Preempting) -> None:
    rm.creates("n1", memory=4)
    rm.submits("g", "root.parent.greedy")
    victims = [rm.takes(f"v{number}", "g", memory=2)[0] for number in range(2)]
    sizes = {"one": 1, "two": 2}
    asks = [
        Ask(key, "a1", resource=Resource({"memory": size}), preemption_policy=ALLOWED)
        for key, size in sizes.items()
    ]

    rm.send(asks=tuple(asks))

    assert sorted(preempted(rm.waits(DELAY))) == sorted(victims)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the keys of asks for which victims are searched."""
    seen: list[str] = []
    choose = victim_search.Search.choose

    def watched(search: victim_search.Search) -> victim_search.Choice | None:
        seen.append(search._ask.key)
        return choose(search)

    monkeypatch.setattr(victim_search.Search, "choose", watched)
    return seen


def test_searches_beyond_the_limit_of_a_pass_follow_soon(
    rm: Preempting, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cycle, "_MOST_LOOKS", 10)  # at nodes; these asks have one each
    rm.creates("n1", memory=10)
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    asks = []
    for number in range(25):
        rm.submits(f"d{number}", "root.outside")
        need = Resource({"memory": 1})
        asks.append(Ask(f"k{number}", f"d{number}", resource=need, required_node="n1"))

    rm.send(asks=tuple(asks))

    assert looks == [f"k{number}" for number in range(10)]
    rm.waits(1)
    assert looks == [f"k{number}" for number in range(25)]


def test_unsuccessful_search_is_not_repeated_after_every_change(
    rm: Preempting, looks: list[str]
) -> None:
    rm.creates("n1", memory=10)
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    rm.claims(memory=5)
    looks.clear()

    for number in range(5):
        rm.creates(f"small{number}", memory=1)
    assert looks == ["claim"]
    rm.waits(1)
    assert looks == ["claim", "claim"]

    rm.waits(400)  # the application of the others runs by now
    rm.submits("another", "root.outside")
    assert looks == ["claim", "claim"]
    assert rm.scheduler.next_deadline() is None


def test_similar_asks_are_searched_at_once(rm: Preempting, looks: list[str]) -> None:
    rm.creates("n1", memory=10)
    rm.takes("spared", most=10, preemption_policy=OPTED_OUT)
    need = Resource({"memory": 1})

    rm.send(
        asks=tuple(
            Ask(f"k{number}", "a1", resource=need, preemption_policy=ALLOWED, priority=number)
            for number in range(5)
        )
    )
    rm.waits(DELAY)

    assert looks == ["k4"]
