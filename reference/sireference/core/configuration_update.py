"""Configuration updates: the running queues take the new configuration completely or not at all.

Nodes, applications, asks and allocations stay (SI-CFG-002), even above their new limits. What the
new limits allow is allocated at once, and nothing beyond them (SI-CFG-005). A queue or partition
that is no longer configured is drained: it accepts nothing new and is removed when it is empty. It
becomes active again if it is configured again before that.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from sireference.configuration.model import PartitionConfig, QueueConfig
from sireference.core import limits, queues
from sireference.core.model import (
    ChangeDetail,
    ChangeType,
    Configured,
    Effect,
    Refused,
    UpdateConfiguration,
    quoted,
)
from sireference.core.preemption import quota_enforcement
from sireference.core.resources import NOTHING, Resource
from sireference.core.state import user_group_log
from sireference.core.state.event_log import EventLog
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.resource_manager import ResourceManager

_MOST_TO_WAKE: Final = 1_000


def update(rm: ResourceManager, event: UpdateConfiguration, now: float) -> list[Effect]:
    """Apply the whole new configuration, or return every reason against it and change nothing."""
    objections = list(_objections(rm, event))
    if objections:
        return [Refused(rm.rm_id, "; ".join(objections))]
    rm.register = replace(
        rm.register, configuration=event.configuration, extra_config=event.extra_config
    )
    configs = {config.name: config for config in event.configuration.partitions}
    for name, config in configs.items():
        if name in rm.partitions:
            _renew(rm.partitions[name], config, now)
        else:
            rm.add(config)
            for queue in rm.partitions[name].root.all():
                report_created(rm.callbacks.event_log, queue)
    for name, partition in rm.partitions.items():
        partition.is_draining = name not in configs
    return [Configured(rm.rm_id)]


def wake(partition: Partition, now: float) -> bool:
    """Wake the waiting ask groups that may be placed now; return whether all are awake.

    If there are very many, other work is handled in between. No group is served before all are
    awake.
    """
    if not partition.to_wake:
        return True
    for _ in range(min(_MOST_TO_WAKE, len(partition.to_wake))):
        ask_group = partition.to_wake.popleft()
        if ask_group.application.ask_groups.get(ask_group.key) is ask_group:
            ask_group.wake()
    partition.root.first_served()  # sort the woken groups in now instead of all with the last
    if partition.to_wake:
        partition.timers.request_pass(now)
    return not partition.to_wake


def clear_up(rm: ResourceManager) -> None:
    """Remove drained partitions without nodes and applications."""
    for partition in list(rm.partitions.values()):
        if partition.is_draining and not partition.nodes and not partition.applications:
            for queue in reversed(list(partition.root.all())):  # children first
                queues.removed(partition.event_log, queue, "its partition is gone")
            rm.drop(partition)


def _objections(rm: ResourceManager, event: UpdateConfiguration) -> Iterator[str]:
    """Return why the configuration cannot be applied; empty if it can.

    Errors within the text were found when it was read; this compares it with the running state.
    """
    own_group = rm.register.policy_group
    if event.policy_group not in ("", own_group):
        group = quoted(event.policy_group)
        yield f"{quoted(rm.rm_id)} is not registered with policy group {group}"
    for config in event.configuration.partitions:
        if config.name in rm.partitions:
            yield from _kept_apart(rm.partitions[config.name].root, config.root)


def _kept_apart(queue: Queue, config: QueueConfig) -> Iterator[str]:
    """Reject a change between leaf and parent for a queue with applications."""
    if config.is_parent and queue.applications:
        yield f"queue {quoted(queue.name)} has applications and cannot become a parent"
    if not config.is_parent and any(below.applications for below in queue.all() if below != queue):
        yield f"queue {quoted(queue.name)} has applications below it and cannot become a leaf"
    for child in config.queues:
        if child.name in queue.children:
            yield from _kept_apart(queue.children[child.name], child)


def _renew(partition: Partition, config: PartitionConfig, now: float) -> None:
    maxima = {queue: queue.maximum for queue in partition.root.all()}
    partition.config = config
    partition.node_index.sort_by(config.node_sort_policy)
    _renew_queue(partition.event_log, partition.root, config.root)
    for queue in [queue for queue in partition.root.all() if not queue.children]:
        queues.tidy(partition, queue, now)  # and its parents
    limits.renew(partition)
    for queue, maximum in maxima.items():
        quota_enforcement.watch(partition, queue, maximum, now)
    groups = (one.ask_groups.values() for one in partition.applications.values())
    partition.to_wake = deque(chain.from_iterable(groups))


def _renew_queue(event_log: EventLog, queue: Queue, config: QueueConfig) -> None:
    """Apply ``config`` to ``queue`` and everything below it; mark it active and configured."""
    old, before = queue.config, (queue.config.is_parent, queue.maximum, queue.guaranteed)
    queue.configure(config)
    _changed(event_log, queue, *before)
    user_group_log.limits_changed(event_log, queue, old.limits, config.limits)
    queue.is_draining = queue.is_dynamic = False
    queue.stop_timer()
    for child in config.queues:
        if child.name in queue.children:
            _renew_queue(event_log, queue.children[child.name], child)
        else:
            for new in queue.add(child).all():
                report_created(event_log, new)
    named = [child.name for child in config.queues]
    for name, other in queue.children.items():
        if name not in named:
            goes = not (other.is_dynamic and config.is_parent)
            other.drain(keeps_dynamic=not goes)
    queue.sort_children(named)


def report_created(event_log: EventLog, queue: Queue) -> None:
    """Record the event of a new queue."""
    queues.came(event_log, queue)


def _changed(
    event_log: EventLog,
    queue: Queue,
    was_parent: bool,  # noqa: FBT001  # one of the previous values
    maximum: Resource | None,
    guaranteed: Resource | None,
) -> None:
    if queue.is_dynamic:
        event_log.queue(queue, ChangeType.SET, ChangeDetail.QUEUE_CONFIG, "configured")
    if queue.config.is_parent is not was_parent:
        kind = "parent" if queue.config.is_parent else "leaf"
        event_log.queue(queue, ChangeType.SET, ChangeDetail.QUEUE_TYPE, f"now a {kind}")
    for detail, old, new in (
        (ChangeDetail.QUEUE_MAX, maximum, queue.maximum),
        (ChangeDetail.QUEUE_GUARANTEED, guaranteed, queue.guaranteed),
    ):
        if old != new:
            event_log.queue(queue, ChangeType.SET, detail, "configured again", new or NOTHING)
