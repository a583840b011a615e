"""A scheduling round: place pending entries that fit, and end what has timed out."""

import time
from collections.abc import Iterator

from siwire.r2024_10 import si_pb2

from mutation.by_key import lifecycle, rhythm
from mutation.by_key.queues import upwards
from mutation.by_key.table import Application, Entry, Node, State, Table, amounts
from mutation.by_key.totals import Totals


def go(table: Table) -> None:
    """Run one round over all pending entries."""
    totals = Totals(table)
    done_with: set[Application | tuple[str, str]] = set()  # and queues, for this round
    now = time.time()
    for entry in rhythm.served_now(table, _in_order(table)):
        application = entry.application
        if application is None or entry.not_before > now:
            continue
        queue = (application.partition, application.queue)
        if application in done_with or queue in done_with:
            continue
        if not _may_run(table, application) or not _has_its_turn(application, entry, totals):
            continue
        if _replaces(table, entry) or place(table, entry, totals):
            if table.has("one-a-round"):
                return
            if table.has("one-placement-each"):
                done_with.add(application)
            continue
        done_with.update(_held_up(table, application))
        if table.has("tries-seldom"):
            entry.tried += 1
            entry.not_before = now + min(2, entry.tried)


def _held_up(table: Table, application: Application) -> Iterator[Application | tuple[str, str]]:
    """Yield the application and queue that wait as long as a request of theirs does not fit."""
    if table.has("in-order"):
        yield application
    of_queue = table.partitions[application.partition].queues[application.queue]
    if table.has("head-stays") and of_queue.policy != "fair":
        yield application.partition, application.queue


def _in_order(table: Table) -> list[Entry]:
    waiting = [
        entry
        for entry in table.entries.values()
        if not entry.node
        and not entry.held
        and entry.application is not None
        and entry.application.ends_as is None
    ]

    def rank(entry: Entry) -> tuple[int, int, int]:
        priority = 0 if table.has("no-priority") else -entry.sent.priority
        number = -1 if entry.application is None else entry.application.number
        if table.has("last-first"):
            return priority, -number, -entry.number
        return priority, number, entry.number

    return sorted(waiting, key=rank)


def _may_run(table: Table, application: Application) -> bool:
    if application.runs:
        return True
    queues = table.partitions[application.partition].queues
    for name in upwards(application.queue):
        running = [
            other
            for other in table.applications.values()
            if other.runs
            and other.partition == application.partition
            and name in upwards(other.queue)
        ]
        if 0 < queues[name].running <= len(running):
            return False
    application.runs = True
    return True


def _has_its_turn(application: Application, entry: Entry, totals: Totals) -> bool:
    """Return whether placeholders fit as a whole; real requests wait for them."""
    gang = amounts(application.request.placeholderAsk)
    if application.gang_over or not gang:
        return True
    if not entry.is_placeholder:
        return False
    if application.gang_since is not None:
        return True
    return totals.queue_holds(application.partition, application.queue, gang)


def _replaces(table: Table, entry: Entry) -> bool:
    """Begin to replace a placeholder; return false if there is none to replace."""
    application = entry.application
    if application is None or entry.is_placeholder or not entry.group:
        return False
    placeholders = [held for held in table.of(application) if held.is_placeholder and held.node]
    found = [h for h in placeholders if h.group == entry.group and h.leaving is None]
    if not found:
        return False
    if table.has("one-replacement") and any(held.leaving is not None for held in placeholders):
        return True
    if table.has("largest-first"):
        found.sort(key=lambda held: -sum(held.size.values()))
    found[0].successor, entry.held = entry, True
    lifecycle.request_release(
        table, found[0], si_pb2.PLACEHOLDER_REPLACED, f"replaced by {entry.key}"
    )
    return True


def place(
    table: Table, entry: Entry, totals: Totals | None = None, first: Node | None = None
) -> bool:
    """Assign a node to an entry, ``first`` if possible, and report it."""
    application = entry.application
    totals = totals or Totals(table)
    if application is None or application.ends_as is not None:
        return False
    if not totals.queue_holds(application.partition, application.queue, entry.size):
        return False
    wanted = {v for k, v in entry.sent.allocationTags.items() if k.endswith("requiredNode")}
    nodes = [
        node
        for node in table.nodes.values()
        if node.partition == application.partition
        and not node.draining
        and (node is first or node.usable_from <= time.time())
        and (not wanted or node.name in wanted)
        and totals.node_holds(node, entry.size)
    ]
    if not nodes:
        return False
    nodes.sort(key=lambda node: sum(totals.free(node).values()))
    chosen = nodes[-1 if table.has("emptiest") else 0]
    entry.node = first.name if first in nodes and first is not None else chosen.name
    totals.add(entry)
    application.note_placeholder(entry)
    table.news.placed(shown(entry))
    lifecycle.settle(table, application)
    return True


def shown(entry: Entry) -> si_pb2.Allocation:
    """Return an entry as the RM sees it."""
    allocation = si_pb2.Allocation()
    allocation.CopyFrom(entry.sent)
    allocation.nodeID = entry.node
    allocation.partitionName = entry.sent.partitionName or "default"
    return allocation


def look_at_the_clock(table: Table) -> None:
    """End what has timed out."""
    now = time.time()
    for application in list(table.applications.values()):
        if application.ends_as is not None:
            continue
        limit = application.request.executionTimeoutMilliSeconds / 1000
        runs = application.state is State.RUNNING
        ran = application.ran + (now - application.since if runs else 0)
        if runs and 0 < limit <= ran:
            lifecycle.end(table, application, State.KILLED)
        elif application.state is State.WAITING:
            if now - application.since >= table.timers["waiting"]:
                lifecycle.end(table, application, State.COMPLETED)
        elif _gang_is_late(table, application, now):
            _gang_failed(table, application)


def _gang_is_late(table: Table, application: Application, now: float) -> bool:
    if application.gang_over or application.gang_since is None:
        return False
    pending = any(not entry.node for entry in table.of(application))
    return pending and now - application.gang_since >= table.timers["placeholder"]


def _gang_failed(table: Table, application: Application) -> None:
    if application.is_hard:
        lifecycle.end(table, application, State.KILLED)
        return
    application.gang_over = True
    for entry in table.of(application):
        if entry.is_placeholder:
            lifecycle.request_release(
                table, entry, si_pb2.TIMEOUT, "its gang is not complete in time"
            )
    lifecycle.settle(table, application)
