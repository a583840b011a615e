"""Behaviour the kit probes or is configured with, and its effect on tests."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from siconform.catalogue.features import Feature
from siconform.config.option_values import BadOption
from siconform.config.options import settings_from
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.probed_behaviour import Latency, ProbedBehaviour
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.handles import Ask
from siconform.protocol.notifications import Allocated, AskRejected, Fact
from siconform.protocol.requests import AskRequest, Request
from siconform.targets.profile import TargetProfile
from siconform.targets.terms import LONGEST_TIMER, PLAIN, Terms

from .conftest import FinishedRun
from .resource_managers import FakeConnection, rm_on
from .test_expectations import BRIEF, answers

Served = Callable[[AskRequest], Sequence[Fact]]


class Capacity(FakeConnection):
    """A fake scheduler: its answer to an ask depends on free capacity."""

    def __init__(self, without_capacity: Served) -> None:
        super().__init__(self.about)
        self.without_capacity = without_capacity
        self.there_is_capacity = False
        self.waiting: list[AskRequest] = []
        self.node = "n1"

    def about(self, request: Request) -> Sequence[Fact]:
        if not isinstance(request, AskRequest) or request.application.startswith("barrier-"):
            return answers(request)
        if self.there_is_capacity:
            return [Allocated(request.key, node=self.node)]
        received = self.without_capacity(request)
        self.waiting += [] if received else [request]
        return received

    def makes_capacity(self) -> None:
        self.there_is_capacity = True
        self.receives(*(Allocated(ask.key, node=self.node) for ask in self.waiting))


class Rm:
    def __init__(
        self,
        without_capacity: Served,
        observed: ProbedBehaviour | None = None,
        *,
        deadlines: Deadlines = BRIEF,
        terms: Terms = PLAIN,
    ) -> None:
        self.capacity = Capacity(without_capacity)
        profile = TargetProfile(terms=terms)
        self.rm = rm_on(self.capacity, deadlines, profile=profile, observed=observed)


def keeps(_: AskRequest) -> Sequence[Fact]:
    return []


def rejects(ask: AskRequest) -> Sequence[Fact]:
    return [AskRejected(ask.key, ask.application, "no room")]


def allocates(ask: AskRequest) -> Sequence[Fact]:
    return [Allocated(ask.key)]


@pytest.mark.parametrize("without_capacity", [keeps, rejects])
def test_unserved_ask_kept_or_rejected_is_served_later(without_capacity: Served) -> None:
    rm = Rm(without_capacity)
    waiting = rm.rm.has_waiting_ask("app")
    assert isinstance(waiting, Ask)

    rm.capacity.makes_capacity()

    assert rm.rm.is_served(waiting, node="n1").node == "n1"


def test_rejected_ask_is_repeated_until_there_is_capacity() -> None:
    asked = []

    def rejects_thrice(ask: AskRequest) -> Sequence[Fact]:
        asked.append(ask.key)
        rm.capacity.there_is_capacity = len(asked) == 3
        return rejects(ask)

    rm = Rm(rejects_thrice, deadlines=replace(BRIEF, place=5.0))

    served = rm.rm.is_served(rm.rm.asks("app"), node="n1")

    assert len({*asked, served.key}) == 4


@pytest.mark.parametrize("without_capacity", [keeps, rejects])
def test_ask_never_served_fails(without_capacity: Served) -> None:
    rm = Rm(without_capacity)
    waiting = rm.rm.has_waiting_ask("app")

    with pytest.raises(ConformanceFailure):
        rm.rm.is_served(waiting)


@pytest.mark.parametrize("without_capacity", [keeps, rejects])
def test_ask_served_elsewhere_fails(without_capacity: Served) -> None:
    rm = Rm(without_capacity)
    waiting = rm.rm.has_waiting_ask("app")
    rm.capacity.node = "n2"
    rm.capacity.makes_capacity()

    with pytest.raises(ConformanceFailure):
        rm.rm.is_served(waiting, node="n1")


def test_an_ask_that_finds_capacity_does_not_wait() -> None:
    with pytest.raises(PreconditionFailed, match="was allocated"):
        Rm(allocates).rm.has_waiting_ask("app")


def test_rejected_ask_is_not_pending() -> None:
    for keeps_others in (None, True, False):  # it may reject this one all the same
        seen = ProbedBehaviour(keeps_waiting_asks=keeps_others)
        with pytest.raises(NotOffered, match="waiting-asks"):
            Rm(rejects, seen).rm.has_pending_ask("app")


def test_rejection_may_take_a_scheduling_cycle() -> None:
    seen = ProbedBehaviour(keeps_waiting_asks=False)
    seen.latency.measured(0.05, 0.0)
    rm = Rm(keeps, seen)

    def rejects_later(ask: AskRequest) -> Sequence[Fact]:
        threading.Timer(0.02, lambda: rm.capacity.receives(*rejects(ask))).start()
        return []

    rm.capacity.without_capacity = rejects_later

    with pytest.raises(NotOffered, match="waiting-asks"):
        rm.rm.has_pending_ask("app")


def test_unoffered_behaviour_is_not_tested() -> None:
    terms = replace(PLAIN, without=frozenset({Feature.GANG}))
    rm = Rm(keeps, ProbedBehaviour(serves_several_allocations=False), terms=terms)

    rm.rm.needs(Feature.PREEMPTION)
    for feature in (Feature.GANG, Feature.SEVERAL_ALLOCATIONS):
        with pytest.raises(NotOffered, match=feature):
            rm.rm.needs(feature)


def test_silence_window_is_twice_slowest_placement() -> None:
    latency = Latency()
    assert latency.quiet(0.2, 6.0) == 0.2

    latency.measured(0.5, 0.0)

    assert latency.quiet(0.2, 6.0) == 1.0
    assert latency.quiet(0.2, 0.8) == 0.8
    assert latency.settle(0.05, 6.0) == 0.05


def test_silence_window_is_twice_a_slower_confirmation() -> None:
    latency = Latency(virtual=0.1, wall=0.1)

    latency.reported(0.5, 0.2)

    assert latency.quiet(0.2, 6.0) == 1.0
    assert latency.settle(0.05, 6.0) == 0.4
    assert latency.slowest == 0.1


def test_third_slow_placement_sets_latency() -> None:
    latency = Latency()
    latency.measured(0.1, 0.0)

    for slow in (3.0, 2.0):
        latency.seen(slow, 0.0)
    assert latency.slowest == 0.1

    latency.seen(1.0, 0.0)
    assert latency.slowest == 1.0


def test_slow_allocation_is_not_silence() -> None:
    observed = ProbedBehaviour(Latency(virtual=0.2))
    deadlines = Deadlines(quiet=0.01, settle=0.01, place=1.0)
    rm = Rm(keeps, observed, deadlines=deadlines)
    waiting = rm.rm.has_waiting_ask("app")

    late = threading.Timer(0.25, rm.capacity.makes_capacity)
    late.start()
    with pytest.raises(ConformanceFailure):
        rm.rm.stays_quiet(Allocated(waiting))
    late.join()


EVALUATED = """
@requirement("{}")
def test_something(target): {}
"""


def test_optional_unoffered_feature_is_not_applicable(
    conformance: Callable[..., FinishedRun],
) -> None:
    outcome = conformance(
        EVALUATED.format("SI-GANG-019", "raise ConformanceFailure('x')"), "--without", "gang"
    )

    assert outcome.verdict("SI-GANG-019") == "not-applicable"
    assert "does not offer gang" in outcome.reason("SI-GANG-019")
    assert outcome.results["target"]["without"] == ["gang"]


def test_mandatory_unoffered_feature_fails(conformance: Callable[..., FinishedRun]) -> None:
    outcome = conformance(EVALUATED.format("SI-APP-012", "pass"), "--without", "execution-timeout")

    assert outcome.code == 1
    assert outcome.verdict("SI-APP-012") == "fail"
    assert "but the specification demands it" in outcome.reason("SI-APP-012")


def settings(**given: Any) -> Any:
    return settings_from(lambda flag: given.get(flag.removeprefix("--").replace("-", "_")))


def test_target_terms_list_user_options(tmp_path: Path) -> None:
    config = tmp_path / "queues.conf"
    config.write_text("queues of another format", "utf-8")

    terms = settings(
        without="gang, preemption", config=str(config), rm_version="7.1", no_proposals=True
    ).terms

    assert terms == Terms(
        "7.1",
        "queues of another format",
        proposes_timers=False,
        without=frozenset({Feature.GANG, Feature.PREEMPTION}),
    )
    assert terms.queues() == "queues of another format"
    assert not terms.proposal(settings().timers)


def test_longest_timer_follows_patience_option() -> None:
    assert settings(longest_timer="1000").terms.longest_timer == 1000
    assert settings().terms.longest_timer == LONGEST_TIMER


def test_config_none_sends_no_configuration() -> None:
    assert settings(config="none").terms.queues() == ""
    assert settings().terms.queues() != ""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"without": "gangs"}, 'unknown feature "gangs"; did you mean gang. .known: api'),
        ({"config": "there-is-none.yaml"}, "there-is-none.yaml cannot be read"),
    ],
)
def test_contradictory_options_are_rejected(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadOption, match=message):
        settings(**given)
