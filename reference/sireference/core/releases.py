"""Releases: what the RM ends, what it confirms, and the confirmations it gets."""

from sireference.core import allocation_end, application_lifecycle
from sireference.core.model import Effect, Release, ReleasedAllocation, partition_name
from sireference.core.state.allocation import Allocation
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager
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
    for allocation in meant(partition, request):
        if request.termination in _BY_THE_RM:
            effects += _stop(partition, allocation, request, now)
        elif request.termination is allocation.open_release:
            effects += _confirmed(partition, allocation, request.termination, now)
    return effects


def meant(partition: Partition, request: Release) -> list[Allocation]:
    """The allocations a release means: the one it names, or all of the application."""
    application = partition.applications.get(request.application_id)
    if application is None:
        return []
    if not request.identity:
        return list(partition.allocations.of(application).values())
    named = partition.allocations.of(application).get(request.identity)
    return [named] if named else []


def _stop(
    partition: Partition, allocation: Allocation, request: Release, now: float
) -> list[Effect]:
    """The RM ended it: done and confirmed."""
    went_on = allocation_end.end(partition, allocation, TerminationType.STOPPED_BY_RM, now)
    confirmation = Release(
        partition=partition.name,
        application_id=allocation.application.application_id,
        identity=allocation.record.identity,
        termination=TerminationType.STOPPED_BY_RM,
        key=(request.key if request.identity else "") or allocation.record.ask.key,
        message="released as the RM asked",
    )
    states = application_lifecycle.settle(partition, allocation.application, now)
    releases = [ReleasedAllocation(partition.rm_id, confirmation)]
    return allocation_end.in_order(states, releases, went_on)


def _confirmed(
    partition: Partition, allocation: Allocation, termination: TerminationType, now: float
) -> list[Effect]:
    """The RM did what it was asked to; a confirmation is not confirmed (SI-REL-009)."""
    went_on = allocation_end.end(partition, allocation, termination, now)
    return went_on + application_lifecycle.settle(partition, allocation.application, now)
