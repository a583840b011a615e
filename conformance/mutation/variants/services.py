"""Permitted variants of registration, configuration, reflection and events."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from siconform.protocol.queue_configurations import conformance_queues
from sireference.configuration.model import QueueConfig
from sireference.core import configuration_update
from sireference.core.model import Effect, Refused, ReleasedAllocation
from sireference.core.preemption.victims import may_be_preempted
from sireference.core.resources import NOTHING
from sireference.core.scheduler import Scheduler
from sireference.core.state.quota import Quota
from sireference.core.states import TerminationType
from siwire.ext import extension_pb2 as ext
from siwire.r2021_02 import si_pb2 as si_2021_02

from mutation.event_batches import keep_records
from mutation.inside import Original, Patch
from mutation.inside.descriptions import describes
from mutation.main_revision import NAME, si
from mutation.mutant import CHANGES, Wire, keep, variant
from mutation.patching import instead_of

_A_WHILE: Final = 3.0  # seconds
_OFTEN: Final = 0.5  # seconds
_COLLECTED: Final[dict[str, tuple[list[Any], float]]] = {}  # by RM, with the time
_OF_CALLBACKS: Final = ("EventRecord", "UpdateContainerSchedulingStateRequest")
_on_the_wire: Final = partial(variant, revision=NAME)


@_on_the_wire(
    "registers-after-a-while",
    "A registration is answered after 3 s.",
    once_failed_by=("SI-WIRE-001", "SI-REG-004"),
    areas=("WIRE", "REG"),
)
def _(_request: si.RegisterResourceManagerRequest, wire: Wire) -> None:
    wire.pause = _A_WHILE


@_on_the_wire(
    "insists-on-its-version",
    "A registration with another client version than 1.5.2 is rejected.",
    once_failed_by=("SI-REG-001", "SI-REG-019"),
    received=("--rm-version", "1.5.2"),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    if request.version != "1.5.2":
        request.config = "this version is not supported"


@_on_the_wire(
    "any-partition",
    "The partition attribute of a node is ignored.",
    once_failed_by=("SI-CONST-001",),
    departs_from=("SI-NODE-009",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        node.attributes.pop("si/node-partition", None)


@_on_the_wire(
    "queues-are-its-own-affair",
    "Every application is accepted, into a queue the scheduler chooses.",
    once_failed_by=("SI-APP-023",),
    received=("--without", "queues"),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.queueName = "root.plain"


def _ignores_maximum(patch: Patch) -> None:
    def has_capacity(_original: Callable[..., Any], _self: Quota, _need: Any) -> bool:
        patch.fires()
        return True

    def can_take(_original: Callable[..., Any], _self: Quota, _need: Any, *_: Any) -> bool:
        return True

    patch.instead_of(Quota.has_capacity, has_capacity)
    patch.instead_of(Quota.can_take, can_take)


variant(
    "ignores-queue-maximum",
    "Queue maxima are ignored; gangs too big for their queue are rejected.",
    once_failed_by=("SI-CONST-001", "SI-CFG-005"),
    departs_from=("SI-ASK-011",),
)(_ignores_maximum)

variant(
    "ignores-queue-maximum-of-memory",
    "Queue maxima are ignored, in a revision without a constant for memory.",
    once_failed_by=("SI-CONST-001",),
    departs_from=("SI-ASK-011",),
    revision="2021-02",
)(_ignores_maximum)


@variant(
    "describes-a-method-more",
    "Reflection shows an additional method, and no callback messages.",
    once_failed_by=("SI-WIRE-003", "SI-WIRE-015"),
    areas=("WIRE",),
)
def _(patch: Patch) -> None:
    def change(file: FileDescriptorProto) -> None:
        method = file.service[0].method.add()
        method.CopyFrom(file.service[0].method[0])
        method.name = "DumpState"
        keep(file.message_type, lambda message: message.name not in _OF_CALLBACKS)

    describes(patch, change)


@variant(
    "names-queues-by-their-leaf",
    "An allocation names its queue without the path (2021-02).",
    once_failed_by=("SI-ALLOC-006",),
    revision="2021-02",
)
def _(response: si_2021_02.UpdateResponse) -> None:
    for allocation in response.newAllocations:
        allocation.queueName = allocation.queueName.rpartition(".")[2]


@variant(
    "knows-no-priority-class",
    "An ask with an unknown priority class is rejected (2021-02).",
    once_failed_by=("SI-WIRE-012",),
    areas=("WIRE",),
    revision="2021-02",
)
def _(request: si_2021_02.UpdateRequest, wire: Wire) -> None:
    unknown = keep(request.asks, lambda ask: not ask.priority.priorityClassName)
    for ask in unknown:
        rejected = si_2021_02.RejectedAllocationAsk(
            allocationKey=ask.allocationKey,
            applicationID=ask.applicationID,
            reason="unknown priority class",
        )
        wire.to_rm(si_2021_02.UpdateResponse(rejectedAllocations=[rejected]))


@_on_the_wire(
    "tells-of-queues-only",
    "Events are sent about queues only.",
    once_failed_by=("SI-EVT-001",),
    areas=("EVT",),
    departs_from=("SI-EVT-013",),
)
def _(received: ext.ToRm, wire: Wire) -> None:
    keep_records(received, wire, lambda record: record.type == si.EventRecord.QUEUE)


@_on_the_wire(
    "tells-the-end-of-requests-late",
    "The end of a request is reported when its allocation ends.",
    once_failed_by=("SI-EVT-012",),
    areas=("EVT",),
)
def _(received: ext.ToRm) -> None:
    if received.kind != ext.EVENT_BATCH:
        return
    for payload in list(received.payloads):
        record = si.EventRecord.FromString(payload.data)
        is_of_allocation = record.eventChangeDetail == si.EventRecord.APP_ALLOC
        if is_of_allocation and record.eventChangeType == si.EventRecord.REMOVE:
            record.eventChangeDetail = si.EventRecord.APP_REQUEST
            received.payloads.add().CopyFrom(payload)
            received.payloads[-1].data = record.SerializeToString()


@_on_the_wire(
    "limits-no-applications",
    "A queue lets any number of applications run.",
    once_failed_by=("SI-APP-030",),
    areas=("APP", "GANG"),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    lines = request.config.splitlines()
    request.config = "\n".join(line for line in lines if "maxapplications" not in line)


@_on_the_wire(
    "is-configured-elsewhere",
    "A registration with a configuration is rejected; the queues are configured elsewhere.",
    once_failed_by=("SI-REG-001", "SI-REG-014"),
    received=("--config", "none"),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    request.config = (
        "configurations are not accepted" if request.config else str(conformance_queues())
    )


@_on_the_wire(
    "knows-no-limits-of-users",
    "A configuration with limits of users or groups is refused.",
    once_failed_by=("SI-ALLOC-010", "SI-ALLOC-012", "SI-EVT-014", "SI-REC-007", "SI-REG-007"),
    areas=("ALLOC", "APP", "EVT", "GANG", "REC", "REG"),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    request.config = _without_limits(request.config)


@CHANGES["knows-no-limits-of-users"].also
def _(change: ext.ConfigurationChange) -> None:
    change.config = _without_limits(change.config)


def _without_limits(config: str) -> str:
    return "unknown key: limits" if "limits:" in config else config


@variant(
    "keeps-queues-in-use",
    "A configuration without a queue that has applications is refused.",
    once_failed_by=("SI-CFG-001",),
    areas=("CFG",),
)
def _(patch: Patch) -> None:
    def update(original: Original, rm: Any, event: Any, now: float) -> Any:
        there = [queue for one in event.configuration.partitions for queue in _paths(one.root)]
        for partition in rm.partitions.values():
            for application in partition.applications.values():
                if application.leaf.name not in there:
                    patch.fires()
                    return [Refused(rm.rm_id, f"queue {application.leaf.name} is in use")]
        return original(rm, event, now)

    patch.instead_of(configuration_update.update, update)


def _paths(queue: QueueConfig, above: str = "") -> Iterator[str]:
    yield (path := f"{above}{queue.name}")
    for child in queue.queues:
        yield from _paths(child, f"{path}.")


@variant(
    "collects-metrics-now-and-then",
    "Auto-scaling metrics are collected every 0.5 s (2021-02).",
    once_failed_by=("SI-AUTO-001",),
    revision="2021-02",
)
@instead_of(Scheduler.outstanding)
def _(patch: Patch, original: Original, scheduler: Scheduler, rm_id: str) -> Any:
    listed, since = _COLLECTED.get(rm_id, ([], -_OFTEN))
    if time.monotonic() - since > _OFTEN:
        listed, since = _COLLECTED[rm_id] = original(scheduler, rm_id), time.monotonic()
    elif listed != original(scheduler, rm_id):
        patch.fires()
    return listed


@variant(
    "preempts-down-to-a-quota",
    "Allocations of a queue above a reduced quota are preempted.",
    once_failed_by=("SI-CFG-005",),
    areas=("CFG", "CONN"),
)
def _(patch: Patch) -> None:
    def update(original: Callable[..., Any], rm: Any, event: Any, now: float) -> list[Effect]:
        effects: list[Effect] = original(rm, event, now)
        for partition in rm.partitions.values():
            over = dict.fromkeys(queue for queue in partition.root.all() if _is_over(queue))
            live = sorted(partition.allocations.all.values(), key=lambda one: -one.number)
            for one in live:
                is_over = any(queue in over for queue in one.application.quotas)
                if is_over and may_be_preempted(one):
                    patch.fires()
                    why = (TerminationType.PREEMPTED_BY_SCHEDULER, "its queue exceeds its quota")
                    effects.append(
                        ReleasedAllocation(rm.rm_id, partition.ask_for_release(one, *why))
                    )
                    break
        return effects

    patch.instead_of(configuration_update.update, update)


def _is_over(queue: Quota) -> bool:
    return queue.maximum is not None and not queue.used.stays_within(NOTHING, queue.maximum)


@_on_the_wire(
    "ends-reported-without-resources",
    "Records of the end of an allocation have no resources: nothing is left of it.",
    once_failed_by=("SI-EVT-011",),
    areas=("EVT",),
)
def _(received: ext.ToRm) -> None:
    if received.kind == ext.EVENT_BATCH:
        for payload in received.payloads:
            record = si.EventRecord.FromString(payload.data)
            if record.eventChangeType == si.EventRecord.REMOVE:
                record.ClearField("resource")
                payload.data = record.SerializeToString()
