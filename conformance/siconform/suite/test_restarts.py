"""Restarts: the scheduler's state after the RM has replayed everything (SI-REC)."""

from collections.abc import Callable

from siconform.marks import disruptive, registering_again_is_a_race, requirement, waits
from siconform.protocol.notifications import Allocated
from siconform.rm.steps.gangs import replaced
from siconform.rm.unregistered_rm import UnregisteredRM


@waits
@requirement("SI-REC-016")
def test_a_restarted_scheduler_is_as_before_once_everything_is_sent_again(
    unregistered_rm: UnregisteredRM, restart_scheduler: Callable[[UnregisteredRM], None]
) -> None:
    unregistered_rm.has_registered()

    unregistered_rm.is_as_before_once_replayed(
        lambda: _restart_and_register(unregistered_rm, restart_scheduler)
    )


@waits
@requirement("SI-REC-016")
def test_a_restarted_scheduler_replaces_the_placeholders_it_is_reported_of(
    unregistered_rm: UnregisteredRM, restart_scheduler: Callable[[UnregisteredRM], None]
) -> None:
    unregistered_rm.has_registered()
    node = unregistered_rm.has_node()
    unregistered_rm.does_gang_scheduling()
    gang = unregistered_rm.has_gang()
    placeholder = unregistered_rm.has_placeholder(gang)

    restart_scheduler(unregistered_rm)
    unregistered_rm.is_registered()
    unregistered_rm.submits_gang_again(gang)
    unregistered_rm.registers_node(node, existing=(placeholder,))

    real = unregistered_rm.asks_member(gang)
    unregistered_rm.expect(replaced(placeholder))
    unregistered_rm.expect(Allocated(real, node=node))


@waits
@requirement("SI-REC-021")
def test_a_restarted_scheduler_takes_over_what_is_sent_by_itself(
    unregistered_rm: UnregisteredRM, restart_scheduler: Callable[[UnregisteredRM], None]
) -> None:
    unregistered_rm.has_registered()
    node = unregistered_rm.has_node(memory=10)
    unregistered_rm.does_gang_scheduling()
    gang = unregistered_rm.has_gang(memory=4)
    placeholder, app = unregistered_rm.has_placeholder(gang), unregistered_rm.has_application()
    regular = unregistered_rm.has_allocation(app, memory=5)

    restart_scheduler(unregistered_rm)
    unregistered_rm.is_registered()
    since = unregistered_rm.now()
    unregistered_rm.submits_gang_again(gang)
    unregistered_rm.submits_application(app)
    unregistered_rm.registers_node(node, memory=10)
    unregistered_rm.adds_existing(placeholder)
    unregistered_rm.adds_existing(regular)

    unregistered_rm.expect(Allocated(unregistered_rm.asks(app, memory=1), node=node))
    one_more = unregistered_rm.asks(app, memory=1)
    unregistered_rm.expect_none_before_end(gang, since, Allocated(one_more))
    unregistered_rm.withdraws(one_more)
    real = unregistered_rm.asks_member(gang)
    unregistered_rm.expect_before_end(gang, since, replaced(placeholder))
    unregistered_rm.expect(Allocated(real, node=node))
    unregistered_rm.still_holds(regular)


@waits
@requirement("SI-REC-016")
@disruptive
@registering_again_is_a_race
def test_registration_and_replay_restore_the_state(
    unregistered_rm: UnregisteredRM,
) -> None:
    unregistered_rm.has_registered()

    unregistered_rm.is_as_before_once_replayed(unregistered_rm.is_registered_again)


def _restart_and_register(
    unregistered_rm: UnregisteredRM, restart: Callable[[UnregisteredRM], None]
) -> None:
    restart(unregistered_rm)
    unregistered_rm.is_registered()
