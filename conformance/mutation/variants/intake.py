"""Permitted variants of request handling: rejections need not wait."""

from typing import Any, Final

from siconform.doctor.change import Wire, keep
from siconform.doctor.revision import NAME, si

from mutation.mutant import variant

_CYCLE: Final = 0.05  # seconds
_PARTITION: Final = "si/node-partition"


@variant(
    "rejections-do-not-wait",
    "Requests are processed in a loop; what is of an unknown partition or application is rejected "
    "before that.",
    once_failed_by=("SI-NODE-018", "SI-NODE-026", "SI-APP-018", "SI-ASK-018", "SI-REL-015"),
    revision=NAME,
)
def rejections_do_not_wait(request: si.NodeRequest, wire: Wire) -> None:
    """Hold back nodes for a while."""
    taken = keep(request.nodes, lambda node: not _is_here(node.attributes.get(_PARTITION, "")))
    if taken:
        wire.later(si.NodeRequest(rmID=request.rmID, nodes=taken), _CYCLE)
        wire.is_dropped = not request.nodes


@rejections_do_not_wait.also
def _(request: si.ApplicationRequest, wire: Wire) -> None:
    """Hold back applications, and their removals."""
    wire.memory["applications"].update(one.applicationID for one in request.new)
    new = keep(request.new, lambda one: not _is_here(one.partitionName))
    removed: list[Any] = keep(request.remove, lambda one: not _is_here(one.partitionName))
    if new or removed:
        held = si.ApplicationRequest(rmID=request.rmID, new=new, remove=removed)
        wire.later(held, _CYCLE)
        wire.is_dropped = not (request.new or request.remove)


@rejections_do_not_wait.also
def _(request: si.AllocationRequest, wire: Wire) -> None:
    """Hold back allocations, asks of known applications, and releases."""
    known = wire.memory["applications"]
    held: list[Any] = keep(
        request.allocations, lambda one: not one.nodeID and one.applicationID not in known
    )
    if held or request.HasField("releases"):
        later = si.AllocationRequest(rmID=request.rmID, allocations=held)
        if request.HasField("releases"):
            later.releases.CopyFrom(request.releases)
            request.ClearField("releases")
        wire.later(later, _CYCLE)
        wire.is_dropped = not request.allocations


def _is_here(partition: str) -> bool:
    return partition in ("", "default")


@variant(
    "queues-have-to-be-named",
    "An application that names no queue is rejected.",
    once_failed_by=("SI-CONST-005", "SI-CONST-011"),
    revision=NAME,
)
def _(request: si.ApplicationRequest) -> None:
    for application in request.new:
        application.queueName = application.queueName or "root.there.is.none"
