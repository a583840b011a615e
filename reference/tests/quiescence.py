"""Quiescence: the RM has answered and confirmed everything, and all timeouts have passed."""

from typing import Final

from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState
from tests.histories import Player
from tests.history_moves import Answer, Confirmation

_PAUSE: Final = 61.0  # seconds: longer than any timeout, and than any node stays excluded
_MOST: Final = 20  # rounds: one confirmation may lead to another
_OPEN: Final = (ApplicationState.FAILING, ApplicationState.RESUMING)
_OVER: Final = (ApplicationState.COMPLETED, ApplicationState.FAILED)


def settle(player: Player) -> None:
    """Answer and confirm until the scheduler waits for nothing from the RM."""
    player.play(frozenset())  # no more questions
    for _ in range(_MOST):
        while player.open_questions:
            player.play(Answer(suits=True, index=-1, is_observed=True))
        for choice in range(len(player.asked_for)):
            player.play(Confirmation(choice, None))
        player.play(_PAUSE)
        if not any(map(_waits_for_the_rm, player.partitions)):
            break
    for partition in player.partitions:
        assert not _waits_for_the_rm(partition)
        finished_applications_hold_nothing(partition)


def _waits_for_the_rm(partition: Partition) -> bool:
    """Return whether the scheduler waits for an answer or a confirmation.

    A failing application fails with its last confirmation, a resuming one continues (SI-GANG-035,
    SI-GANG-037).
    """
    return (
        bool(partition.proposals)
        or any(live.open_release is not None for live in partition.allocations.all.values())
        or any(application.state in _OPEN for application in partition.applications.values())
    )


def finished_applications_hold_nothing(partition: Partition) -> None:
    """Assert that completed, failed and removed applications have no live allocation."""
    for live in partition.allocations.all.values():
        application = live.application
        assert application.state not in _OVER
        assert partition.applications.get(application.application_id) is application
