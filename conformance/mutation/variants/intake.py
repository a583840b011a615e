"""Permitted variants of request handling: rejections need not wait."""

from typing import Any, Final

from siconform.doctor.change import Wire, keep
from siconform.doctor.revision import NAME, si

from mutation.mutant import variant

_CYCLE: Final = 0.05  # seconds
_PARTITION: Final = "si/node-partition"


@variant(
    "rejections-do-not-wait",
    "Requests are processed in a loop; those with an unknown partition are rejected before that.",
    once_failed_by=("SI-NODE-018", "SI-NODE-026", "SI-APP-018"),
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
    new = keep(request.new, lambda one: not _is_here(one.partitionName))
    removed: list[Any] = keep(request.remove, lambda one: not _is_here(one.partitionName))
    if new or removed:
        held = si.ApplicationRequest(rmID=request.rmID, new=new, remove=removed)
        wire.later(held, _CYCLE)
        wire.is_dropped = not (request.new or request.remove)


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
