"""Placeholders: when a gang may gather them, and which asks wait until it has all of them."""

from typing import Any

from sireference.core import application_lifecycle
from sireference.core.gang import timeout
from sireference.core.model import Effect
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, AskGroup
from sireference.core.state.partition import Partition
from sireference.core.state.wait_queue import WaitQueue
from sireference.core.states import ApplicationState


def closed_gate(partition: Partition, ask_group: AskGroup) -> WaitQueue[Any] | None:
    """Return the queue in which ``ask_group`` waits because of a gang, None if it need not."""
    application = ask_group.application
    gang = partition.gangs.get(application)
    if gang is None:
        return None
    if application.state is ApplicationState.RESUMING:
        return gang.unsettled  # until its placeholders are gone it is neither gang nor normal
    if not application.is_gathering:
        return None
    if not ask_group.key.is_placeholder:
        return gang.unsettled  # it came early and waits for the last placeholder (C-26)
    return None if application.held else _before_the_first(application)


def _before_the_first(application: Application) -> WaitQueue[Any] | None:
    """Return where a gang waits that has nothing yet, so that no gang gets half of its members.

    In a leaf one gang gathers at a time, the oldest first (SI-GANG-052), unless it blocks the
    younger ones in vain (see `turns`); and it begins once each of its quotas has capacity for all
    it announced (SI-GANG-009). Neither rule delays other asks: applications without placeholders to
    gather are served as usual (SI-GANG-010).
    """
    leaf = application.leaf
    if application.keeps_its_turn and leaf.gathering.first() is not application:
        return leaf.gathering.younger
    total = application.submitted.placeholder_ask
    if total is not None:
        for quota in application.quotas:
            if not quota.has_capacity(total):
                return quota.too_small
    return None


def allocated(partition: Partition, allocation: Allocation, now: float) -> list[Effect]:
    """Update the application after a placeholder allocation.

    It does not make the application active, so the state does not change (SI-GANG-015); but one ask
    less is pending, and the real asks of its group have something to replace now.
    """
    application = allocation.application
    timeout.watch(partition, application, now)
    for ask_group in list(application.ask_groups.values()):
        if ask_group.key.replaces == allocation.record.ask.task_group:
            ask_group.wake()
    return application_lifecycle.settle(partition, application, now)


def are_given_up(partition: Partition, application: Application) -> bool:
    """Return whether the application only waits for the end of its placeholders."""
    gang = partition.gangs.get(application)
    is_resuming = application.state is ApplicationState.RESUMING
    return is_resuming or (gang is not None and gang.is_clearing_up)
