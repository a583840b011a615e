"""Rules of a revision for the core: how allocations are identified, and the states.

These tests cover the core alone; the codecs' tests cover how the rules get there.
"""

import pytest
from sireference.core.model import (
    AllocationRecord,
    Ask,
    OneOfKey,
    ReleasedAllocation,
    ReleasedAsk,
    ReleaseRequest,
    Rules,
)
from sireference.core.resources import Resource
from sireference.core.states import WITHOUT_STARTING
from tests.driving import RM, STOPPED, TIMEOUT, identities, keys, of, refused_keys, released, states
from tests.keyed import BY_KEY, of_key, refused_entries


def ready(rules: Rules) -> RM:
    """A registered RM under these rules, with node n1 (memory 10) and application a1."""
    rm = RM(rules=rules)
    rm.creates("n1", memory=10)
    rm.submits("a1")
    return rm


@pytest.fixture
def by_key() -> RM:
    return ready(BY_KEY)


def test_minted_identity_is_unique() -> None:
    made = identities(ready(Rules()).asks("k1", memory=1, most=3))

    assert len({*made, "k1"}) == 4


# requirement: SI-ALLOC-011
def test_key_of_an_ask_identifies_its_allocation(by_key: RM) -> None:
    effects = by_key.asks("k1", memory=1) + by_key.asks("k2", memory=1)

    assert identities(effects) == ["k1", "k2"]


# requirement: SI-REL-027
def test_release_of_a_key_ends_the_allocation_of_that_key(by_key: RM) -> None:
    by_key.asks("k1", memory=1)
    by_key.asks("k2", memory=1)

    effects = by_key.send(releases=(of_key("k1"),))

    assert released(effects) == [("k1", STOPPED)]
    assert of(effects, ReleasedAsk) == []
    assert released(by_key.releases()) == [("k2", STOPPED)]


# requirement: SI-REL-028
def test_release_of_a_key_of_another_application_ends_nothing(by_key: RM) -> None:
    by_key.submits("a2")
    by_key.asks("k1", memory=1)

    assert by_key.send(releases=(of_key("k1", "a2"),)) == []


def test_minted_identity_is_not_found_by_key() -> None:
    rm = ready(Rules())
    (identity,) = identities(rm.asks("k1", memory=1))

    assert rm.send(releases=(of_key("k1"),)) == []
    assert released(rm.releases(identity)) == [(identity, STOPPED)]


def test_release_of_the_scheduler_is_confirmed_by_key(by_key: RM) -> None:
    by_key.asks("k1", memory=10, more={"execution_timeout": 5.0})
    by_key.asks("k2", memory=10)
    assert released(by_key.waits(5.0)) == [("k1", TIMEOUT)]

    confirmation = ReleaseRequest("default", OneOfKey("a1", "k1"), TIMEOUT)
    effects = by_key.send(releases=(confirmation,))

    assert of(effects, ReleasedAllocation) == []
    assert identities(effects) == ["k2"]


def test_key_that_identifies_another_allocation_is_refused(by_key: RM) -> None:
    by_key.submits("a2")
    by_key.asks("lives", memory=1)
    by_key.asks("waits", memory=1_000)

    assert refused_entries(by_key.asks("lives", "a2", memory=1)) == ["lives"]
    assert refused_keys(by_key.asks("waits", "a2", memory=1)) == ["waits"]
    assert refused_keys(by_key.asks("several", memory=1, most=2)) == ["several"]
    assert keys(by_key.asks("waits", memory=1)) == ["waits"]


def test_existing_allocation_under_a_pending_key_of_another_application_is_refused(
    by_key: RM,
) -> None:
    by_key.submits("a2")
    by_key.asks("k1", memory=1_000)
    existing = Ask("k1", "a2", resource=Resource({"memory": 1}))

    assert refused_entries(by_key.reports(AllocationRecord("k1", existing, "n1"))) == ["k1"]


def test_minted_identities_do_not_restrict_keys() -> None:
    rm = ready(Rules())
    rm.submits("a2")

    effects = rm.asks("k1", memory=1) + rm.asks("k1", memory=1) + rm.asks("k1", "a2", memory=1)

    assert keys(effects) == ["k1", "k1", "k1"]
    assert len(set(identities(effects))) == 3


@pytest.mark.parametrize(
    ("rules", "first", "second"),
    [
        (Rules(), ["Accepted", "Starting"], ["Running"]),
        (Rules(application_transitions=WITHOUT_STARTING), ["Accepted", "Running"], []),
    ],
    ids=["with Starting", "without"],
)
def test_application_is_starting_where_that_state_exists(
    rules: Rules, first: list[str], second: list[str]
) -> None:
    rm = ready(rules)

    assert states(rm.asks("k1", memory=1)) == first
    assert states(rm.asks("k2", memory=1)) == second
    assert states(rm.releases()) == ["Completing"]
    assert states(rm.waits(30.0)) == ["Completed"]
