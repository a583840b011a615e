"""Quiescence: the RM has answered and confirmed everything, and all timeouts have passed."""

from typing import Final

from sireference.core.model import NodeInfo, RemoveApplication
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState, NodeAction
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
        answer_everything(player)
        for choice in range(len(player.asked_for)):
            player.play(Confirmation(choice, None))
        player.play(_PAUSE)
        if not any(map(_waits_for_the_rm, player.partitions)):
            break
    for partition in player.partitions:
        assert not _waits_for_the_rm(partition)
        finished_applications_hold_nothing(partition)


def answer_everything(player: Player) -> None:
    """Agree to every question, and to those that follow."""
    while player.open_questions:
        player.play(Answer(suits=True, index=-1, is_observed=True))


def remove_everything(player: Player) -> None:
    """Remove all applications and nodes, answer what is asked, and let all timeouts pass."""
    for partition in player.partitions:
        for application_id in list(partition.applications):
            player.play(RemoveApplication(application_id, partition.name))
        for node_id in list(partition.nodes):
            player.play(NodeInfo(node_id, NodeAction.DECOMMISSION))
    answer_everything(player)
    player.play(1e7)


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
