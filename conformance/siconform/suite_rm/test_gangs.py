"""SI-GANG: an RM requests its gangs placeholders first, and starts them when they are complete."""

from collections import Counter

import pytest

from siconform.expecting.checks import precondition
from siconform.marks import requirement
from siconform.outcomes import ConformanceFailure
from siconform.protocol.matchers import Including
from siconform.protocol.notifications import Termination
from siconform.protocol.requests import ApplicationRequest, AskRequest
from siconform.scheduler.driven_rm import STARTED, DrivenRM, Group, View
from siconform.scheduler.gang_steps import keys_of, latest, members
from siconform.scheduler.patterns import Sent
from siconform.scheduler.simulated_scheduler import SimulatedScheduler

with_and_without_restart = pytest.mark.parametrize(
    "restarts", [False, True], ids=["in one registration", "in two registrations"]
)
KILLED = "Killed"  # as the design names the state after a placeholder timeout


@requirement("SI-GANG-001")
def test_placeholder_ask_is_the_sum_over_all_task_groups(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    groups = (
        Group(3, {"memory": 2}, name=rm.new_name("group"), real_containers=3),
        Group(2, {"memory": 1, "vcore": 1}, name=rm.new_name("group"), real_containers=2),
    )
    rm.adds_node()

    with scheduler.placing_nothing():
        app = rm.submits(*groups)
        total = scheduler.expects(Sent(ApplicationRequest, application=app)).placeholder_ask
        with precondition("the RM asks for the placeholders of both groups"):
            asks = scheduler.expects_members(app, 5, placeholder=True)

    # an RM may give each member an amount of a further type, as one of pods
    expected = {**_sum_of(asks), "memory": 8, "vcore": 2}
    if {name: amount for name, amount in (total or {}).items() if amount} != expected:
        raise ConformanceFailure(
            f"placeholderAsk is {dict(total or {})}", expected=f"placeholderAsk {expected}"
        )


@requirement("SI-GANG-013")
def test_every_member_gets_a_placeholder_before_any_real_ask(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.placing_nothing():
        app = rm.submits_gang(members=3)
        scheduler.expects_members(app, 3, placeholder=True)

    asks = scheduler.requests_of(app)
    before = next((i for i, ask in enumerate(asks) if not ask.placeholder), len(asks))
    if len(keys_of(latest(asks[:before]))) < 3:
        raise ConformanceFailure(
            f"a real ask came before the placeholders: {asks[before]}",
            expected="3 placeholder asks before any real one",
        )


@requirement("SI-GANG-014")
@with_and_without_restart
def test_real_members_are_requested_when_all_placeholders_are_allocated(
    rm: DrivenRM, scheduler: SimulatedScheduler, *, restarts: bool
) -> None:
    node = rm.adds_node()
    scheduler.awaits_node(node)
    with scheduler.placing_nothing():
        app = rm.submits(
            Group(2, name=rm.new_name("group"), real_containers=2),
            Group(1, name=rm.new_name("group"), real_containers=1),
        )
        with precondition("the RM asks for a placeholder for each member"):
            placeholders = scheduler.expects_members(app, 3, placeholder=True)
        *others, last = keys_of(placeholders)

        for key in others:
            scheduler.allocates(key)
        if restarts:
            rm.awaits_running(*others)
            scheduler.lets_register(rm.restarts)
            scheduler.awaits_node(node)
            with precondition("the RM reports the rest of the gang again"):
                scheduler.expects_existing(*others)
                (last,) = keys_of(scheduler.expects_members(app, 1, placeholder=True))
        scheduler.expects_none(Sent(AskRequest, application=app, placeholder=False))

        scheduler.allocates(last)
        with precondition("the RM asks for real members of a complete gang"):
            scheduler.expects_members(app, 1, placeholder=False)


@requirement("SI-GANG-029")
def test_each_member_of_a_task_group_has_its_own_ask(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    rm.adds_node()
    with scheduler.placing_nothing():
        app = rm.submits_gang(members=3)
        scheduler.expects_members(app, 3, placeholder=True)
        scheduler.raises_barrier()

    asks = latest(scheduler.observed(Sent(AskRequest, application=app, placeholder=True)))
    if len(asks) != 3 or len(keys_of(asks)) != 3:
        raise ConformanceFailure(
            f"{len(asks)} placeholder asks for {len(keys_of(asks))} allocations",
            expected="one ask for one allocation for each of 3 members",
        )


@requirement("SI-GANG-040")
def test_released_asks_and_allocations_of_a_gang_are_confirmed_before_it_is_over(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    scheduler.awaits_node(rm.adds_node())
    with scheduler.placing_nothing():
        app = rm.submits_gang(members=3)
        with precondition("the RM asks for a placeholder for each member"):
            first, *pending = keys_of(scheduler.expects_members(app, 3, placeholder=True))
        allocation = scheduler.allocates(first)

        scheduler.times_out(app, state=KILLED if scheduler.has_one_stream else "")

        of_allocation = scheduler.expects_confirmation(allocation, Termination.TIMEOUT)
        of_asks = [scheduler.expects_confirmation_of_ask(app, key) for key in set(pending)]
        scheduler.changes_state(app, KILLED)
    first_of_asks = min(entry.at for entry in of_asks)
    came_first = "the asks" if first_of_asks <= of_allocation.at else "the allocation"
    scheduler.records(f"order of the confirmations: first {came_first}")


@requirement("SI-GANG-049")
@with_and_without_restart
def test_asks_of_a_gang_name_their_group_and_whether_they_are_placeholders(
    rm: DrivenRM, scheduler: SimulatedScheduler, *, restarts: bool
) -> None:
    small, large = rm.new_name("small"), rm.new_name("large")
    rm.adds_node(memory=20)

    with scheduler.placing_nothing():
        app = rm.submits(
            Group(2, {"memory": 1, "vcore": 1}, name=small, real_containers=2),
            Group(1, {"memory": 3, "vcore": 1}, name=large, real_containers=1),
        )
        with precondition("the RM asks for each placeholder"):
            scheduler.expects_members(app, 3)
        if restarts:
            scheduler.lets_register(rm.restarts)
    with precondition("the RM asks for each placeholder and each real member"):
        scheduler.expects_members(app, 6)

    for group, count, memory in ((small, 2, 1), (large, 1, 3)):
        for is_placeholder in (True, False):
            scheduler.expects_members(
                app,
                count,
                task_group=group,
                placeholder=is_placeholder,
                resource=Including({"memory": memory}),
            )


@requirement("SI-GANG-050")
def test_no_real_container_starts_before_its_own_allocation(
    rm: DrivenRM, scheduler: SimulatedScheduler
) -> None:
    scheduler.awaits_node(rm.adds_node())
    with scheduler.placing_nothing():
        app = rm.submits_gang(members=3)
        with precondition("the RM asks for a placeholder for each member"):
            placeholders = scheduler.expects_members(app, 3, placeholder=True)

        for key in keys_of(placeholders):
            scheduler.allocates(key)
        with precondition("the RM asks for real members of a complete gang"):
            scheduler.expects_members(app, 1, placeholder=False)

        rm.stays(lambda view: not _real_ones(view, app), "no real container runs")
    rm.waits_until(lambda view: bool(_real_ones(view, app)), "a real container runs")


def _sum_of(asks: list[AskRequest]) -> Counter[str]:
    total: Counter[str] = Counter()
    for ask in asks:
        for name, amount in (ask.resource or {}).items():
            total[name] += amount * members(ask)
    return total


def _real_ones(view: View, application: str) -> list[str]:
    """Return the keys of the real containers that run."""
    started = [one for one in view.of(application) if one.phase == STARTED]
    return [one.key for one in started if not one.placeholder]
