"""Queues: applications enter and leave, and unused queues are removed.

A queue made by a placement rule is removed after it was empty for a while. A queue that is no
longer configured is drained: it accepts no applications, and is removed with its last one.
"""

from functools import partial

from sireference.core import limits
from sireference.core.model import ChangeDetail, ChangeType, Effect, NewApplication
from sireference.core.state import user_group_log
from sireference.core.state.application import Application
from sireference.core.state.event_log import EventLog
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.quota import Quotas


def enter(leaf: Queue, new: NewApplication) -> Quotas:
    """Add an application; return the quotas it counts against."""
    leaf.applications += 1
    leaf.stop_timer()
    return limits.join(leaf, new.user, new.member_of)


def leave(partition: Partition, application: Application, now: float) -> None:
    """Remove the application from its queue."""
    partition.gangs.pop(application, None)
    partition.slots_lacked.pop(application, None)
    user_group_log.unlinked(partition.event_log, application)
    limits.leave(application.quotas)
    application.leaf.applications -= 1
    application.leaf.forget(application)
    tidy(partition, application.leaf, now)


def tidy(partition: Partition, queue: Queue, now: float) -> None:
    """Remove ``queue`` if empty: at once if drained, after a delay if dynamic."""
    above = queue.parent
    if above is None or not queue.is_empty:
        return
    if queue.is_draining:
        _remove(partition, queue, above, now)
    elif queue.is_dynamic and queue.timer is None:
        timeout = partition.settings.empty_queue_timeout
        queue.timer = partition.timers.set(now + timeout, partial(_expire, partition, queue))


def _expire(partition: Partition, queue: Queue, now: float) -> list[Effect]:
    """Remove a queue that was empty for long enough, unless it is needed again."""
    queue.timer = None
    if queue.parent is not None and queue.is_empty:
        _remove(partition, queue, queue.parent, now)
    return []


def _remove(partition: Partition, queue: Queue, above: Queue, now: float) -> None:
    partition.enforcements.end(queue)
    above.remove(queue)
    removed(partition.event_log, queue, "empty and unused")
    tidy(partition, above, now)


def came(event_log: EventLog, queue: Queue) -> None:
    """Log that ``queue`` is configured, with its limits."""
    event_log.queue(queue, ChangeType.ADD, ChangeDetail.QUEUE_CONFIG, "configured")
    user_group_log.limits_changed(event_log, queue, (), queue.config.limits)


def removed(event_log: EventLog, queue: Queue, message: str) -> None:
    """Log that ``queue`` was removed with its limits, and why."""
    user_group_log.limits_changed(event_log, queue, queue.config.limits, ())
    detail = ChangeDetail.QUEUE_DYNAMIC if queue.is_dynamic else ChangeDetail.QUEUE_CONFIG
    event_log.queue(queue, ChangeType.REMOVE, detail, message)
