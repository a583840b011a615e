"""Releases: requests and confirmations by the RM."""

from collections.abc import Collection

from sireference.core import allocation_end, application_lifecycle, foreign_allocations
from sireference.core.model import (
    AllocationSubject,
    AllOfApplication,
    AskedAndHeld,
    Effect,
    OneAllocation,
    OneOfKey,
    Release,
    ReleasedAllocation,
    ReleaseRequest,
    partition_name,
)
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.resource_manager import ResourceManager
from sireference.core.states import TerminationType
from sireference.core.withdrawal import BY_THE_RM, withdraw


def release(rm: ResourceManager, request: ReleaseRequest, now: float) -> list[Effect]:
    """Carry out a release by the RM, or handle its confirmation.

    STOPPED_BY_RM and an unset type (C-12) are releases by the RM: they are carried out and
    confirmed with STOPPED_BY_RM. The other types only confirm a release that the scheduler
    requested with the same type; without one they change nothing (SI-REL-014, SI-REL-026). Unknown
    allocations, applications and partitions are ignored. A key without application names a foreign
    allocation.
    """
    partition = rm.partitions.get(partition_name(request.partition))
    if partition is None:
        return []
    subject = request.subject
    if isinstance(subject, OneOfKey) and not subject.application_id:
        return foreign_allocations.release(partition, subject.key, request.termination, now)
    application = partition.applications.get(subject.application_id)
    if application is None:
        return []
    effects: list[Effect] = []
    is_by_the_rm = request.termination in BY_THE_RM
    if is_by_the_rm:
        for pending in pending_meant(application, subject):
            effects += withdraw(partition, pending, now)
    for allocation in meant(partition, application, subject):
        if is_by_the_rm:
            effects += stop(partition, allocation, request, now)
        elif request.termination is allocation.open_release:
            effects += confirmed(partition, allocation, request.termination, now)
    return effects


def meant(
    partition: Partition, application: Application, subject: AllocationSubject
) -> Collection[Allocation]:
    """Return the allocations of ``application`` that ``subject`` matches."""
    held = partition.allocations.of(application)
    match subject:
        case OneAllocation(identity=identity) | OneOfKey(key=identity):
            named = held.get(identity)
            return () if named is None else (named,)
        case AllOfApplication() | AskedAndHeld():
            return tuple(held.values())


def pending_meant(application: Application, subject: AllocationSubject) -> Collection[PendingAsk]:
    """Return the pending asks of ``application`` that ``subject`` matches."""
    match subject:
        case OneOfKey(key=key):
            named = application.pending.get(key)
            return () if named is None else (named,)
        case AskedAndHeld():
            return tuple(application.pending.values())
        case OneAllocation() | AllOfApplication():
            return ()


def stop(
    partition: Partition, allocation: Allocation, request: ReleaseRequest, now: float
) -> list[Effect]:
    """End it for the RM and confirm, with the key that the RM sent, if any."""
    went_on = allocation_end.end(partition, allocation, TerminationType.STOPPED_BY_RM, now)
    given = request.subject.key if isinstance(request.subject, OneAllocation) else None
    confirmation = Release(
        partition=partition.name,
        application_id=allocation.application.application_id,
        identity=allocation.record.identity,
        termination=TerminationType.STOPPED_BY_RM,
        key=allocation.record.ask.key if given is None else given,
        message="released by the RM",
    )
    states = application_lifecycle.settle(partition, allocation.application, now)
    releases = [ReleasedAllocation(partition.rm_id, confirmation)]
    return allocation_end.in_order(states, releases, went_on)


def confirmed(
    partition: Partition, allocation: Allocation, termination: TerminationType, now: float
) -> list[Effect]:
    """Handle a confirmation by the RM, which is not confirmed in turn (SI-REL-009)."""
    went_on = allocation_end.end(partition, allocation, termination, now)
    return went_on + application_lifecycle.settle(partition, allocation.application, now)
