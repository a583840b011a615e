"""Completion with placeholders nobody needed: they do not keep an application from waiting."""

from sireference.core.model import Effect, ReleasedAllocation
from sireference.core.state.application import Application
from sireference.core.state.partition import Partition
from sireference.core.states import TerminationType

_REASON = "the application completes without this placeholder"


def keeps_from_waiting(application: Application) -> bool:
    """Whether placeholders are enough to keep the application from waiting.

    They are no active allocations (SI-GANG-042). But an application that has not begun yet, with
    all of its placeholders, is about to begin: it stays Accepted (C-40).
    """
    return application.placeholders_held > 0 and not application.has_begun


def clear_up(partition: Partition, application: Application) -> list[Effect] | None:
    """The waiting is over: have the leftover placeholders released (SI-GANG-044).

    None if there are none, so that the application is completed at once. Else it completes when the
    last of them is gone (SI-GANG-045, SI-GANG-069, `is_cleared_up`).
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
    """Whether the last leftover placeholder of an application that waited long enough is gone."""
    gang = partition.gangs.get(application)
    return gang is not None and gang.is_clearing_up and not application.placeholders_held
