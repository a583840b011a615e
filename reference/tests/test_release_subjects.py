"""Subjects of a release: each kind ends what it names, and nothing else."""

import pytest
from sireference.core.model import (
    AllOfApplication,
    AskedAndHeld,
    AskReleaseRequest,
    AskSubject,
    EachOfKey,
    Effect,
    Everything,
    OneAllocation,
    OneOfKey,
    ReleasedAllocation,
    ReleasedAsk,
    ReleaseRequest,
)
from tests.driving import RM, STOPPED, TIMEOUT, identities, keys, of, of_allocations, released

CASES = [
    (OneOfKey("a1", "k1"), [("a1", "k1")]),
    (EachOfKey("k1"), [("a1", "k1"), ("a2", "k1")]),
    (AllOfApplication("a1"), [("a1", "k1"), ("a1", "k2")]),
    (Everything(), [("a1", "k1"), ("a1", "k2"), ("a2", "k1")]),
    (OneOfKey("a1", ""), []),
    (OneOfKey("", "k1"), []),
    (EachOfKey(""), []),
    (AllOfApplication(""), []),
]


def withdrawn(effects: list[Effect]) -> list[tuple[str, str]]:
    return [(one.release.application_id, one.release.key) for one in of(effects, ReleasedAsk)]


# requirement: SI-REL-016, SI-REL-017, SI-REL-021
@pytest.mark.parametrize(("subject", "meant"), CASES, ids=lambda case: str(case)[:40])
def test_asks_are_withdrawn_only_by_their_kinds_of_subject(
    rm: RM, subject: AskSubject, meant: list[tuple[str, str]]
) -> None:
    asked = [("a1", "k1"), ("a1", "k2"), ("a2", "k1")]
    for application, key in asked:
        rm.submits(application)
        rm.asks(key, application, memory=1)
    stay = [key for application, key in asked if (application, key) not in meant]

    effects = rm.send(ask_releases=(AskReleaseRequest("default", subject, STOPPED),))

    assert withdrawn(effects) == meant
    assert keys(rm.creates("n1", memory=9)) == stay


def test_release_without_identity_is_not_a_release_of_all(busy: RM) -> None:
    made = identities(busy.asks("k1", memory=1, most=2))
    of_one = ReleaseRequest("default", OneAllocation("a1", ""), STOPPED)

    assert busy.send(releases=(of_one,)) == []
    assert len(of(busy.send(releases=(of_allocations("a1"),)), ReleasedAllocation)) == len(made)


def test_release_of_a_key_withdraws_the_pending_ask_of_that_key(busy: RM) -> None:
    busy.asks("k1", memory=1_000_000)
    busy.asks("k2", memory=1_000_000)

    effects = busy.send(releases=(ReleaseRequest("default", OneOfKey("a1", "k1"), STOPPED),))

    assert withdrawn(effects) == [("a1", "k1")]
    assert of(effects, ReleasedAllocation) == []


def test_confirmation_by_key_withdraws_nothing(busy: RM) -> None:
    busy.asks("k1", memory=1_000_000)

    assert busy.send(releases=(ReleaseRequest("default", OneOfKey("a1", "k1"), TIMEOUT),)) == []
    assert withdrawn(busy.withdraws("k1")) == [("a1", "k1")]


# requirement: SI-REL-029
def test_release_of_asks_and_allocations_ends_both(busy: RM) -> None:
    busy.submits("a2")
    busy.asks("waits", memory=1_000_000)
    busy.asks("waits too", "a2", memory=1_000_000)
    (made,) = identities(busy.asks("k1", memory=1))
    everything = ReleaseRequest("default", AskedAndHeld("a1"), STOPPED)

    effects = busy.send(releases=(everything,))

    assert withdrawn(effects) == [("a1", "waits")]
    assert released(effects) == [(made, STOPPED)]
    assert withdrawn(busy.withdraws("waits too", "a2")) == [("a2", "waits too")]


def test_confirmation_of_asks_and_allocations_withdraws_nothing(busy: RM) -> None:
    busy.asks("k1", memory=1_000_000)
    everything = ReleaseRequest("default", AskedAndHeld("a1"), TIMEOUT)

    assert busy.send(releases=(everything,)) == []
    assert withdrawn(busy.withdraws("k1")) == [("a1", "k1")]
