"""Completion with unused placeholders: they do not keep an application active."""

from sireference.core.model import Effect, ReleasedAllocation
from sireference.core.state.application import Application
from sireference.core.state.partition import Partition
from sireference.core.states import TerminationType

_REASON = "the application completes without this placeholder"


def keeps_from_waiting(application: Application) -> bool:
    """Return whether placeholders are enough to keep the application from waiting.

    They are not active allocations (SI-GANG-042). But an application that has all of its
    placeholders and has not begun yet is about to begin: it stays Accepted (C-40).
    """
    return application.placeholders_held > 0 and not application.has_begun


def clear_up(partition: Partition, application: Application) -> list[Effect] | None:
    """Request the release of the leftover placeholders after the waiting time (SI-GANG-044).

    Return None if there are none, so that the application completes at once. Otherwise it completes
    when the last one is gone (SI-GANG-045, SI-GANG-069, `is_cleared_up`).
    """
    gang = partition.gangs.get(application)
    if gang is None or not application.placeholders_held:
        return None
    gang.is_clearing_up = True
    return [
        ReleasedAllocation(
            partition.rm_id, partition.ask_for_release(allocation, TerminationType.TIMEOUT, _REASON)
        )
        for allocation in partition.allocations.of(application).values()
        if allocation.open_release is None
    ]


def is_cleared_up(partition: Partition, application: Application) -> bool:
    """Return whether the last leftover placeholder of a completing application is gone."""
    gang = partition.gangs.get(application)
    return gang is not None and gang.is_clearing_up and not application.placeholders_held
