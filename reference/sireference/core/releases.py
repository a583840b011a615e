"""Releases: what the RM ends, what it confirms, and the confirmations it gets."""

from sireference.core import endings, progress
from sireference.core.books.live import LiveAllocation
from sireference.core.books.partition import Partition
from sireference.core.books.resource_manager import ResourceManager
from sireference.core.model import Effect, Release, ReleasedAllocation, partition_name
from sireference.core.states import TerminationType

_BY_THE_RM = (TerminationType.STOPPED_BY_RM, TerminationType.UNSET)


def release(rm: ResourceManager, request: Release, now: float) -> list[Effect]:
    """Carry out a release the RM asks for, or take its confirmation.

    STOPPED_BY_RM, and a type that is not set (C-12), is a release by the RM: it is carried out and
    confirmed with STOPPED_BY_RM. The other types only confirm a release the scheduler asked for
    with the same type; with none open they mean nothing and change nothing (SI-REL-014,
    SI-REL-026). Unknown allocations, applications and partitions are no matter.
    """
    partition = rm.partitions.get(partition_name(request.partition))
    if partition is None:
        return []
    effects: list[Effect] = []
    for live in meant(partition, request):
        if request.termination in _BY_THE_RM:
            effects += _stop(partition, live, request, now)
        elif request.termination is live.open_release:
            effects += _confirmed(partition, live, request.termination, now)
    return effects


def meant(partition: Partition, request: Release) -> list[LiveAllocation]:
    """The allocations a release means: the one it names, or all of the application."""
    application = partition.applications.get(request.application_id)
    if application is None:
        return []
    if not request.identity:
        return list(application.allocations.values())
    named = application.allocations.get(request.identity)
    return [named] if named else []


def _stop(partition: Partition, live: LiveAllocation, request: Release, now: float) -> list[Effect]:
    """The RM ended it: done and confirmed."""
    went_on = endings.end(partition, live, TerminationType.STOPPED_BY_RM, now)
    confirmation = Release(
        partition=partition.name,
        application_id=live.application.application_id,
        identity=live.allocation.identity,
        termination=TerminationType.STOPPED_BY_RM,
        key=(request.key if request.identity else "") or live.allocation.ask.key,
        message="released as the RM asked",
    )
    states = progress.settle(partition, live.application, now)
    releases = [ReleasedAllocation(partition.rm_id, confirmation)]
    return endings.in_order(states, releases, went_on)


def _confirmed(
    partition: Partition, live: LiveAllocation, termination: TerminationType, now: float
) -> list[Effect]:
    """The RM did what it was asked to; a confirmation is not confirmed (SI-REL-009)."""
    went_on = endings.end(partition, live, termination, now)
    return went_on + progress.settle(partition, live.application, now)
