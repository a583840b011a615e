"""Releases: by the RM, confirmed to it; by the scheduler, confirmed by the RM."""

import pytest
from sireference.core.model import ReleasedAllocation
from sireference.core.states import TerminationType
from tests.driving import (
    RM,
    STOPPED,
    TIMEOUT,
    identities,
    keys,
    of,
    of_allocations,
    placed,
    released,
    states,
)
from tests.keyed import Keyed

UNSET = TerminationType.UNSET
OF_THE_SCHEDULER = [
    TerminationType.TIMEOUT,
    TerminationType.PREEMPTED_BY_SCHEDULER,
    TerminationType.PLACEHOLDER_REPLACED,
]


# requirement: SI-REL-001, SI-REL-002
def test_release_is_confirmed_by_the_same_message(busy: RM) -> None:
    made = identities(busy.asks("k1", memory=1, most=3))

    effects = busy.send(
        releases=tuple(of_allocations("a1", identity, key="k1") for identity in made)
    )

    sent = [effect.release for effect in of(effects, ReleasedAllocation)]
    assert [(r.partition, r.application_id, r.identity, r.termination, r.key) for r in sent] == [
        ("default", "a1", identity, STOPPED, "k1") for identity in made
    ]


def test_confirmation_has_the_key_even_where_the_release_had_none(busy: RM) -> None:
    (identity,) = identities(busy.asks("k1", memory=1))

    (sent,) = of(busy.releases(identity), ReleasedAllocation)

    assert sent.release.key == "k1"


def test_state_change_comes_before_the_confirmation(busy: RM) -> None:
    (identity,) = identities(busy.asks("k1", memory=1))

    kinds = [type(effect).__name__ for effect in busy.releases(identity)]

    assert kinds == ["UpdatedApplication", "ReleasedAllocation"]


# requirement: SI-REL-003, SI-REL-004
@pytest.mark.parametrize("key", ["", "k1"])
def test_without_identity_all_allocations_of_the_application_end(busy: RM, key: str) -> None:
    busy.submits("a2")
    mine = identities(busy.asks("k1", memory=2) + busy.asks("k2", memory=2, most=2))
    others = identities(busy.asks("k3", "a2", memory=2))
    busy.asks("k4", "a2", memory=8)

    effects = busy.releases(key=key)

    assert released(effects) == [(identity, STOPPED) for identity in mine]
    assert keys(effects) == ["k4"]
    assert states(effects) == ["Completing", "Running"]
    assert released(busy.releases(others[0], "a2")) == [(others[0], STOPPED)]


# requirement: SI-REL-005, SI-ALLOC-010
def test_unknown_and_ended_allocations_are_ignored(busy: RM) -> None:
    (identity,) = identities(busy.asks("k1", memory=10))
    busy.asks("k2", memory=10)
    for unknown in (("zzz", "a1"), (identity, "aX"), (identity, ""), ("", "")):
        assert busy.releases(*unknown) == []
    assert busy.releases(identity, partition="nope") == []

    effects = busy.releases(identity) + busy.releases(identity)

    assert released(effects) == [(identity, STOPPED)]
    assert keys(effects) == ["k2"]
    assert keys(busy.asks("k3", memory=10)) == []


# requirement: SI-REL-007
def test_unset_type_is_a_release_by_the_rm(busy: RM) -> None:
    (identity,) = identities(busy.asks("k1", memory=1))

    assert released(busy.releases(identity, termination=UNSET)) == [(identity, STOPPED)]


# requirement: SI-REL-014
@pytest.mark.parametrize("termination", [*OF_THE_SCHEDULER, TerminationType.UNRECOGNISED])
@pytest.mark.parametrize("by_identity", [True, False])
def test_confirmation_without_an_open_release_changes_nothing(
    busy: RM, termination: TerminationType, *, by_identity: bool
) -> None:
    (identity,) = identities(busy.asks("k1", memory=10))
    busy.asks("k2", memory=10)

    assert busy.releases(identity if by_identity else "", termination=termination) == []

    assert released(busy.releases(identity)) == [(identity, STOPPED)]


def expired(rm: RM) -> str:
    (identity,) = identities(rm.asks("k1", memory=10, more={"execution_timeout": 1.0}))
    assert released(rm.waits(1)) == [(identity, TIMEOUT)]
    return identity


# requirement: SI-REL-009, SI-REL-011, SI-ALLOC-009
def test_release_of_the_scheduler_is_final_with_its_confirmation(busy: RM) -> None:
    identity = expired(busy)
    assert keys(busy.asks("k2", memory=10)) == []
    assert busy.waits(100) == []

    effects = busy.releases(identity, termination=TIMEOUT)

    assert released(effects) == []
    assert keys(effects) == ["k2"]
    assert busy.releases(identity, termination=TIMEOUT) == []


# requirement: SI-REL-026
def test_another_scheduler_type_leaves_the_release_open(busy: RM) -> None:
    identity = expired(busy)
    busy.asks("k2", memory=10)

    for termination in OF_THE_SCHEDULER[1:]:
        assert busy.releases(identity, termination=termination) == []

    assert keys(busy.releases(identity, termination=TIMEOUT)) == ["k2"]


def test_rm_may_stop_an_allocation_with_an_open_release(busy: RM) -> None:
    identity = expired(busy)

    assert released(busy.releases(identity)) == [(identity, STOPPED)]
    assert busy.releases(identity, termination=TIMEOUT) == []


def test_confirmation_without_identity_confirms_open_releases(busy: RM) -> None:
    (expiring,) = identities(busy.asks("k1", memory=2, more={"execution_timeout": 1.0}))
    (lasting,) = identities(busy.asks("k2", memory=2))
    busy.waits(1)

    assert busy.releases(termination=TIMEOUT) == []

    assert busy.releases(expiring) == []
    assert released(busy.releases(lasting)) == [(lasting, STOPPED)]


# requirement: SI-REL-013
def test_removed_node_ends_an_open_release(busy: RM) -> None:
    identity = expired(busy)

    assert released(busy.decommissions("n1")) == [(identity, STOPPED)]
    assert busy.releases(identity, termination=TIMEOUT) == []


def test_late_confirmation_for_a_removed_application_is_ignored(busy: RM) -> None:
    identity = expired(busy)
    busy.removes("a1")

    assert busy.releases(identity, termination=TIMEOUT) == []


# requirement: SI-REL-011, SI-REL-026
def test_confirmation_by_key_ends_the_current_allocation_of_that_key() -> None:
    """It cannot show that it is late and means an earlier allocation; the last one fails a1."""
    rm = Keyed()
    rm.creates("n1", memory=1)
    rm.creates("n2", memory=1)
    rm.submits("a1", execution_timeout=3.0)
    ((_, node_id),) = placed(rm.wants("k1", memory=1))
    assert released(rm.waits(3)) == [("k1", TIMEOUT)]
    assert states(rm.decommissions(node_id)) == ["Failed"]
    rm.submits("a1", execution_timeout=3.0)
    assert keys(rm.wants("k1", memory=1)) == ["k1"]
    assert released(rm.waits(3)) == [("k1", TIMEOUT)]

    late = rm.ends("k1", termination=TIMEOUT)  # refers to the first

    assert states(late) == ["Failed"]
