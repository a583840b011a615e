"""Handles releases by the RM: its own, and confirmations."""

from siwire.r2023_12 import si_pb2

from mutation.independent import gangs, lifecycle
from mutation.independent.state import USUAL_PARTITION, Grant, RMState


def take(rm: RMState, release: si_pb2.AllocationRelease) -> None:
    """End allocations and confirm it, or take the RM's confirmation."""
    kind = release.terminationType
    if kind == si_pb2.UNKNOWN_TERMINATION_TYPE and rm.has("proper-confirmations"):
        return
    if kind in {si_pb2.STOPPED_BY_RM, si_pb2.UNKNOWN_TERMINATION_TYPE}:
        _stop(rm, release)
        return
    for grant in _named(rm, release):
        if grant.leaving == kind and grant.asked_to_leave:
            _confirmed(rm, grant)


def _stop(rm: RMState, release: si_pb2.AllocationRelease) -> None:
    ended = _named(rm, release)
    answers = [release]
    if not rm.has("plain-echo"):
        answers = [lifecycle.notice(rm, g, release.terminationType, "") for g in ended]
        for answer, grant in zip(answers, ended, strict=True):
            if release.allocationKey == grant.ask.key:  # a bare message repeats what the RM named
                answer.allocationKey = grant.ask.key
    for grant in ended:
        gangs.abandon_swap(grant)
        lifecycle.has_ended(rm, grant)
    for answer in answers:
        rm.outbox.released(answer)


def _confirmed(rm: RMState, grant: Grant) -> None:
    if grant.leaving == si_pb2.PLACEHOLDER_REPLACED:
        gangs.confirm_swap(rm, grant)
    else:
        lifecycle.has_ended(rm, grant)


def _named(rm: RMState, release: si_pb2.AllocationRelease) -> list[Grant]:
    """Return the allocations a release is about; none if its fields contradict each other."""
    partition = release.partitionName or USUAL_PARTITION
    if not release.allocationID and not release.applicationID:
        return []
    return [
        grant
        for grant in rm.all_grants()
        if grant.ask.application.partition == partition
        and release.applicationID in {"", grant.ask.application.name}
        and release.allocationID in {"", grant.identity}
    ]
