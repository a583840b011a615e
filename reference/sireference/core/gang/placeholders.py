"""Placeholders: when a gang may begin to gather them, and who waits until it has them all."""

from sireference.core import progress
from sireference.core.books.application import Application
from sireference.core.books.live import LiveAllocation
from sireference.core.books.partition import Partition
from sireference.core.books.pending import Line
from sireference.core.books.sleepers import Sleepers
from sireference.core.gang import timeout
from sireference.core.model import Effect
from sireference.core.states import ApplicationState


def bed(line: Line) -> Sleepers | None:
    """Where ``line`` has to wait because of a gang, None if it does not have to."""
    application = line.application
    gang = application.gang
    if gang is None:
        return None
    if application.state is ApplicationState.RESUMING:
        return gang.patient  # until its placeholders are gone it is neither gang nor normal
    if not application.is_gathering:
        return None
    if not line.key.is_placeholder:
        return gang.patient  # it came early; kept until the last placeholder is there (C-26)
    return None if application.allocations else _before_the_first(application)


def _before_the_first(application: Application) -> Sleepers | None:
    """Where a gang waits that has nothing yet, so that none is left with half of its members.

    In a leaf one gang gathers at a time, the oldest first (SI-GANG-052), as long as it does not
    hold up the younger ones in vain (see `turns`); and it begins once there is room for all it
    announced in each of its quotas (SI-GANG-009). Neither holds up others: asks of applications
    that have no placeholders to gather are served as ever (SI-GANG-010).
    """
    leaf = application.leaf
    if application.keeps_its_turn and leaf.gathering.first() is not application:
        return leaf.gathering.younger
    total = application.submitted.placeholder_ask
    if total is not None:
        for quota in application.quotas:
            if not quota.has_room(total):
                return quota.gates
    return None


def allocated(partition: Partition, live: LiveAllocation, now: float) -> list[Effect]:
    """What a new placeholder means to its application.

    It does not make the application active, so the state does not move on (SI-GANG-015); but with
    its ask one ask less is pending. The real asks of its group have something to replace now.
    """
    application = live.application
    timeout.watch(partition, application, now)
    for line in list(application.lines.values()):
        if line.key.replaces == live.allocation.ask.task_group:
            application.wake(line)
    return progress.settle(partition, application, now)


def are_given_up(application: Application) -> bool:
    """Whether the application only waits for the end of the placeholders it has."""
    gang = application.gang
    is_resuming = application.state is ApplicationState.RESUMING
    return is_resuming or (gang is not None and gang.is_clearing_up)
