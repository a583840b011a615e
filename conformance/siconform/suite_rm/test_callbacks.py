"""SI-CB: an RM answers the callbacks that it offers."""

import json
from collections.abc import Sequence

from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure, in_short
from siconform.protocol.callbacks import Answered, Assumed, Forgotten, Scheduling
from siconform.protocol.requests import Amounts, AskRequest
from siconform.scheduler.driven_rm import DrivenRM, Group
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler

REPORTS = 100
THREADS = 10


@requirement("SI-CB-006")
def test_an_eviction_check_is_answered_with_the_last_victim_that_has_to_go(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    app = rm.runs(containers=3)
    victims = tuple(one.key for one in scheduler.allocations_of(app, at_least=3))
    node = scheduler.allocation_of(app).node
    rm.adds_node()  # some request only what fits somewhere
    with scheduler.placing_nothing():
        key = waiting_ask(rm, scheduler, {"memory": 3, "vcore": 3})
        never, fitting = waiting_ask(rm, scheduler, {"memory": 4, "vcore": 3}), [2]
        if scheduler.asks_for_eviction(key, node, victims[:2], 1).fits:
            scheduler.records("an eviction check ignores the capacity of the node")
            never, fitting = waiting_ask(rm, scheduler, allowed_nodes=(rm.adds_node(),)), [1, 2]

        answer = scheduler.asks_for_eviction(key, node, victims, 1)
        refused = scheduler.asks_for_eviction(never, node, victims, 1)
        small = waiting_ask(rm, scheduler)
        first = scheduler.asks_for_eviction(small, node, victims, 1)

    if not answer.fits or answer.index not in fitting:
        raise ConformanceFailure(_shown(answer), expected=f"yes, index {fitting[-1]}")
    if not first.fits or first.index != 1:
        raise ConformanceFailure(_shown(first), expected="yes, index 1 of the first attempt")
    does_not_fit(refused)


@requirement("SI-CB-008")
def test_repeated_and_concurrent_container_states_have_no_repeated_effects(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.placing_nothing():
        app = rm.submits()
        key = scheduler.pending_of(app)[0].key
        before = len(scheduler.exchange.entries())

        scheduler.reports_scheduling(
            key, app, Scheduling.FAILED, reason="no node fits", times=REPORTS, threads=THREADS
        )
        scheduler.expects(Sent(AskRequest, application=rm.submits()))

    effects = sent_about(scheduler, app, since=before)
    # an RM may react to a report, or repeat a request for reasons of its own, but not for each one
    if len(effects) > REPORTS // THREADS:
        raise ConformanceFailure(
            f"{len(effects)} requests after {REPORTS} equal reports, such as: {effects[-1]}",
            expected="no effect of a repeated report",
        )
    scheduler.records(f"requests after {REPORTS} equal reports: {len(effects)}")
    scheduler.stays_connected()


@requirement("SI-CB-010")
def test_a_state_dump_is_json_or_an_error(scheduler: SimulatedScheduler) -> None:
    dumped = scheduler.asks_for_state_dump()

    if dumped.ok:
        is_json(dumped.text)


@requirement("SI-CB-011")
def test_allocations_to_assume_and_to_forget_are_taken(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    node = rm.adds_node()
    scheduler.awaits_node(node)
    with scheduler.placing_nothing():
        key = waiting_ask(rm, scheduler)

        for change in (Assumed(key, node), Forgotten(key)):
            answer = scheduler.synchronises_cache(change)
            if not answer.fits:
                raise ConformanceFailure(_shown(answer), expected=f"no error for: {change}")


@requirement("SI-CB-014")
def test_a_predicate_is_answered_by_where_the_container_may_run(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    *allowed, other = (rm.adds_node() for _ in range(3))
    for node in (*allowed, other):
        scheduler.awaits_node(node)
    with scheduler.placing_nothing():
        key = waiting_ask(rm, scheduler, allowed_nodes=allowed)
        waiting_ask(rm, scheduler, allowed_nodes=(other,))

        there = [scheduler.asks_for_placement(key, node) for node in allowed]
        elsewhere = scheduler.asks_for_placement(key, other)
        for what, node in (("allowed", allowed[0]), ("other", other)):
            reserved = scheduler.asks_for_placement(key, node, allocate=False)
            outcome = "no error" if reserved.fits else "an error"
            scheduler.records(f"a reservation of the {what} node: {outcome}")

    for answer in there:
        if not answer.fits:
            raise ConformanceFailure(_shown(answer), expected="no error for an allowed node")
    does_not_fit(elsewhere)


def waiting_ask(
    rm: DrivenRM,
    scheduler: SimulatedScheduler,
    resource: Amounts | None = None,
    allowed_nodes: Sequence[str] = (),
) -> str:
    """Submit one container, which is not placed; return its key."""
    resource = resource or {"memory": 1, "vcore": 1}
    app = rm.submits(Group(resource=resource, allowed_nodes=allowed_nodes))
    return scheduler.pending_of(app)[0].key


def sent_about(scheduler: SimulatedScheduler, application: str, since: int) -> list[object]:
    """Return what the RM sent about an application since then."""
    entries = scheduler.exchange.entries()[since:]
    sent = [entry.content for entry in entries if entry.sent_by_rm]
    about = [(one, getattr(one, "subject", one)) for one in sent]
    return [one for one, subject in about if getattr(subject, "application", "") == application]


def does_not_fit(answer: Answered) -> None:
    """Check that the RM refuses."""
    if answer.fits:
        raise ConformanceFailure(_shown(answer), expected="an error, or no success")


def is_json(text: str) -> None:
    """Check that a text is a JSON document."""
    try:
        json.loads(text)
    except ValueError as error:
        message = f"the state dump is not JSON: {error}"
        raise ConformanceFailure(message, happened=text) from None


def _shown(answer: Answered) -> str:
    if answer.fits:
        return f"answered: yes, index {answer.index}"
    return f"answered: no {in_short(answer.reason)}".rstrip()
