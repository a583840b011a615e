"""Restarts: what a scheduler knows again once the RM has said everything again (SI-REC)."""

from collections.abc import Callable

from siconform.marks import disruptive, registering_again_is_a_race, requirement, waits
from siconform.protocol.notifications import Allocated
from siconform.rm.unregistered_rm import Newcomer
from siconform.rm.verbs.gangs import replaced


@waits
@requirement("SI-REC-016")
def test_a_restarted_scheduler_is_as_before_once_everything_is_said_again(
    newcomer: Newcomer, restart_scheduler: Callable[[Newcomer], None]
) -> None:
    newcomer.has_registered()

    newcomer.is_as_before_once_replayed(lambda: _restart_and_register(newcomer, restart_scheduler))


@waits
@requirement("SI-REC-016")
def test_a_restarted_scheduler_replaces_the_placeholders_it_is_told_of(
    newcomer: Newcomer, restart_scheduler: Callable[[Newcomer], None]
) -> None:
    newcomer.has_registered()
    newcomer.does_gang_scheduling()
    node = newcomer.has_node()
    gang = newcomer.has_gang()
    placeholder = newcomer.has_placeholder(gang)

    restart_scheduler(newcomer)
    newcomer.is_registered()
    newcomer.submits_gang_again(gang)
    newcomer.registers_node(node, existing=(placeholder,))

    real = newcomer.asks_member(gang)
    newcomer.is_told(replaced(placeholder))
    newcomer.is_told(Allocated(real, node=node))


@waits
@requirement("SI-REC-021")
def test_a_restarted_scheduler_takes_over_what_is_said_by_itself(
    newcomer: Newcomer, restart_scheduler: Callable[[Newcomer], None]
) -> None:
    newcomer.has_registered()
    newcomer.does_gang_scheduling()
    node = newcomer.has_node(memory=10)
    gang = newcomer.has_gang(memory=4)
    placeholder, app = newcomer.has_placeholder(gang), newcomer.has_application()
    regular = newcomer.has_allocation(app, memory=5)

    restart_scheduler(newcomer)
    newcomer.is_registered()
    newcomer.submits_gang_again(gang)
    newcomer.submits_application(app)
    newcomer.registers_node(node, memory=10)
    newcomer.adds_existing(placeholder)
    newcomer.adds_existing(regular)

    newcomer.is_told(Allocated(newcomer.asks(app, memory=1), node=node))
    one_more = newcomer.asks(app, memory=1)
    newcomer.is_not_told(Allocated(one_more))
    newcomer.withdraws(one_more)
    real = newcomer.asks_member(gang)
    newcomer.is_told(replaced(placeholder))
    newcomer.is_told(Allocated(real, node=node))
    newcomer.still_holds(regular)


@waits
@requirement("SI-REC-016")
@disruptive
@registering_again_is_a_race
def test_registering_and_saying_everything_again_restores_the_state(newcomer: Newcomer) -> None:
    newcomer.has_registered()

    newcomer.is_as_before_once_replayed(newcomer.is_registered_again)


def _restart_and_register(newcomer: Newcomer, restart: Callable[[Newcomer], None]) -> None:
    restart(newcomer)
    newcomer.is_registered()
