"""Handles requests about applications."""

from siwire.r2023_12 import si_pb2

from mutation.independent import lifecycle
from mutation.independent.amounts import read
from mutation.independent.queues import Queue
from mutation.independent.state import USUAL_PARTITION, Application, RMState

_STYLES = {"", "hard", "soft"}


class ApplicationError(Exception):
    """An application that is rejected."""


def take(rm: RMState, request: si_pb2.ApplicationRequest) -> None:
    """Add and remove applications."""
    for added in request.new:
        try:
            _add(rm, added)
        except ApplicationError as error:
            rm.outbox.application_rejected(added.applicationID, str(error))
        else:
            rm.outbox.application_accepted(added.applicationID)
    for removed in request.remove:
        _remove(rm, removed)


def _add(rm: RMState, request: si_pb2.AddApplicationRequest) -> None:
    partition = rm.partitions.get(request.partitionName or USUAL_PARTITION)
    if not request.applicationID:
        raise ApplicationError("an application needs an id")
    if request.applicationID in rm.applications:
        raise ApplicationError(f"{request.applicationID} exists already")
    if partition is None:
        raise ApplicationError(f"there is no partition {request.partitionName}")
    queue = partition.place(request.queueName, request.tags)
    if queue is None:
        raise ApplicationError(f"there is no queue for it: {request.queueName}")
    _check_gang(rm, request, queue)
    rm.applications[request.applicationID] = Application(
        name=request.applicationID,
        partition=partition.name,
        queue=queue,
        request=request,
        number=next(rm.numbers),
        complete=not request.placeholderAsk.resources,
    )


def _check_gang(rm: RMState, request: si_pb2.AddApplicationRequest, queue: Queue) -> None:
    total = read(request.placeholderAsk)
    if total and not queue.could_hold(total):
        raise ApplicationError(f"its placeholders exceed the limits of {queue.name}")
    if total and queue.policy == "fair":
        raise ApplicationError(f"{queue.name} is FAIR and takes no gangs")
    style = request.gangSchedulingStyle
    if (style if rm.has("exact-style") else style.lower()) not in _STYLES:
        raise ApplicationError(f"{style} is neither hard nor soft")


def _remove(rm: RMState, request: si_pb2.RemoveApplicationRequest) -> None:
    application = rm.applications.get(request.applicationID)
    partition = request.partitionName or USUAL_PARTITION
    if application is None or not application.name or application.partition != partition:
        return
    grants = list(application.grants.values())
    kind = si_pb2.STOPPED_BY_RM
    if grants and rm.has("one-for-all"):
        release = si_pb2.AllocationRelease(
            partitionName=application.partition,
            applicationID=application.name,
            terminationType=kind,
            message="the application was removed",
        )
        rm.outbox.released(release)
    else:
        for grant in grants:
            rm.outbox.released(lifecycle.notice(rm, grant, kind, "the application was removed"))
    lifecycle.forget(rm, application)
