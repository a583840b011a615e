"""Cache synchronisation (2021-02): allocations an RM can assume or forget."""

from collections.abc import Iterable

import pytest
from sireference.core.model import AllocationRecord, Ask, Callback, Effect, SyncedCache
from sireference.core.resources import Resource
from sireference.core.states import TerminationType
from tests.asked import Asked
from tests.driving import identities, of, of_allocations

CACHE = Callback.CACHE_SYNC
Received = list[tuple[list[tuple[str, str]], list[str]]]


def received(effects: Iterable[Effect]) -> Received:
    """Return assumed and forgotten allocations, by message."""
    return [(list(one.assumed), list(one.forgotten)) for one in of(effects, SyncedCache)]


@pytest.fixture
def rm() -> Asked:
    return Asked(CACHE)


# requirement: SI-CB-011
def test_an_allocation_is_assumed_on_its_node_and_forgotten_when_it_ends(rm: Asked) -> None:
    made = rm.asks("k1", memory=3)
    ended = rm.releases(identities(made)[0])

    assert received(made) == [([("k1", "n1")], [])]
    assert received(ended) == [([], ["k1"])]


# requirement: SI-CB-011
def test_a_victim_is_forgotten_when_it_is_gone_and_not_before(rm: Asked) -> None:
    (identity,) = identities(rm.asks("k1", memory=3, more={"execution_timeout": 5.0}))

    assert received(rm.waits(5.0)) == []
    assert received(rm.releases(identity, termination=TerminationType.TIMEOUT)) == [([], ["k1"])]


# requirement: SI-CB-011
def test_a_lost_node_takes_its_allocations_along(rm: Asked) -> None:
    rm.asks("k1", memory=3)

    assert received(rm.decommissions("n1")) == [([], ["k1"])]


def test_a_key_is_forgotten_with_its_last_allocation(rm: Asked) -> None:
    made = rm.asks("k1", memory=8, most=2)
    first, second = identities(made)

    assert received(made) == [([("k1", "n1"), ("k1", "n2")], [])]
    assert received(rm.releases(first)) == []
    assert received(rm.releases(second)) == [([], ["k1"])]


def test_a_key_is_in_one_list_of_a_message_only(rm: Asked) -> None:
    (identity,) = identities(rm.asks("k1", memory=8))
    again = Ask("k1", "a1", resource=Resource({"memory": 10}))
    rm.drains("n2")
    rm.send(asks=(again,))

    assert received(rm.releases(identity)) == [([], ["k1"]), ([("k1", "n1")], [])]


def test_several_changes_of_one_event_share_a_message(rm: Asked) -> None:
    made = rm.asks("k1", memory=3) + rm.asks("k2", memory=3)
    both = tuple(of_allocations("a1", identity) for identity in identities(made))

    assert received(rm.send(releases=both)) == [([], ["k1", "k2"])]


# requirement: SI-CB-011
def test_new_listener_receives_the_current_state(rm: Asked) -> None:
    rm.asks("k1", memory=3)
    rm.offers()
    rm.asks("k2", memory=3)
    running = AllocationRecord("x", Ask("k3", "a1", resource=Resource({"memory": 1})), "n2")
    rm.reports(running)

    (whole,) = received(rm.offers(CACHE))

    assert sorted(whole[0]) == [("k1", "n1"), ("k2", "n2"), ("k3", "n2")]
    assert whole[1] == []


def test_no_records_without_an_offer() -> None:
    rm = Asked(Callback.EVENTS)

    effects = rm.asks("k1", memory=3)

    assert received(effects + rm.releases(identities(effects)[0])) == []
