"""Steps of the simulated scheduler with gangs: members, nodes that can be used, confirmations."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from siconform.outcomes import ConformanceFailure, PreconditionFailed
from siconform.protocol.notifications import NodeAccepted, Termination
from siconform.protocol.requests import (
    Action,
    AskReleaseRequest,
    NodeRequest,
    ReleaseRequest,
    Request,
)
from siconform.protocol.subjects import AllOf, OneAsk
from siconform.scheduler.gang_steps import keys_of
from siwire import Revision, find_revision

from .simulated_schedulers import DEADLINES, Both, becomes, connected

KEYED, EARLIER, OLDEST = map(find_revision, ("2024-10", "2023-12", "2021-02"))
SHORT = replace(DEADLINES, ack=0.1, place=0.1, release=0.1)  # for what never comes


@pytest.fixture(params=[KEYED, EARLIER, OLDEST], ids=str)
def both(request: pytest.FixtureRequest) -> Iterator[Both]:
    with connected(request.param) as ends:
        yield ends


def test_repeated_ask_is_one_member(both: Both) -> None:
    both.rm.submits()
    for key, is_placeholder in (("p1", True), ("p1", True), ("r1", False), ("p2", True)):
        both.rm.asks(key, task_group="g", placeholder=is_placeholder)

    both.scheduler.expects_members("a", 3)

    assert keys_of(both.scheduler.expects_members("a", 2, placeholder=True)) == ["p1", "p2"]
    assert keys_of(both.scheduler.expects_members("a", 1, placeholder=False)) == ["r1"]


def test_ask_for_several_is_as_many_members() -> None:
    with connected(EARLIER) as both:
        both.rm.submits()
        both.rm.asks("p", task_group="g", placeholder=True, max_allocations=3)

        asks = both.scheduler.expects_members("a", 3, placeholder=True)

        assert keys_of(asks) == ["p", "p", "p"]


def test_missing_members_are_counted() -> None:
    with connected(KEYED) as both:
        both.rm.submits()
        both.rm.asks("p", placeholder=True)
        both.scheduler.pending_of("a")

        both.scheduler.deadlines = SHORT
        with pytest.raises(ConformanceFailure, match="1 of 2 members were requested"):
            both.scheduler.expects_members("a", 2, placeholder=True)


def test_node_created_draining_is_awaited_until_it_is_undrained() -> None:
    with connected(KEYED, SHORT) as both:
        both.rm.sends(NodeRequest("n", Action.CREATE_DRAINING, {"memory": 4}))
        both.rm.receives(NodeAccepted("n"))
        with pytest.raises(PreconditionFailed, match="n is schedulable"):
            both.scheduler.awaits_node("n")

        both.rm.sends(NodeRequest("n", Action.UNDRAIN))

        both.scheduler.deadlines = DEADLINES
        both.scheduler.awaits_node("n")


@pytest.mark.parametrize(
    ("revision", "confirmations"),
    [
        (revision, confirmations)
        for revision, release in ((KEYED, ReleaseRequest), (EARLIER, AskReleaseRequest))
        for confirmations in (
            [AskReleaseRequest(OneAsk("a", key), "default", Termination.TIMEOUT) for key in "kl"],
            [release(AllOf("a"), partition="default", termination=Termination.TIMEOUT)],
        )
    ],
    ids=["each", "all-by-a-release", "each-earlier", "all-by-an-ask-release"],
)
def test_released_asks_are_confirmed_each_or_all_at_once(
    revision: Revision, confirmations: list[Request]
) -> None:
    with connected(revision) as both:
        both.rm.submits()
        for key in "kl":
            both.rm.asks(key)
        both.scheduler.pending_of("a", at_least=2)
        both.scheduler.releases_requests("k", "l")

        both.rm.sends(*confirmations)

        for key in "kl":
            both.scheduler.expects_confirmation_of_ask("a", key)


def test_release_of_all_allocations_confirms_no_ask_that_has_releases_of_its_own() -> None:
    with connected(EARLIER) as both:
        both.rm.submits()
        both.rm.asks("k")
        both.scheduler.pending_of("a")
        both.scheduler.releases_requests("k")

        both.rm.sends(ReleaseRequest(AllOf("a"), Termination.TIMEOUT))
        assert becomes(lambda: bool(both.scheduler.observed(ReleaseRequest)))

        both.scheduler.deadlines = SHORT
        with pytest.raises(ConformanceFailure, match="never received: ask release"):
            both.scheduler.expects_confirmation_of_ask("a", "k")
