"""Handles the RM's requests and allocations: entries, releases and confirmations."""

from siwire.r2024_10 import si_pb2

from mutation.by_key import lifecycle, rounds
from mutation.by_key.table import USUAL_PARTITION, Application, Entry, Table, amounts

_OF_THE_RM = (si_pb2.STOPPED_BY_RM, si_pb2.UNKNOWN_TERMINATION_TYPE)


def take(table: Table, sent: si_pb2.Allocation) -> None:
    """Enter a request or an allocation, or update an existing entry."""
    entry = table.entries.get(table.address(sent.applicationID, sent.allocationKey))
    application = table.applications.get(sent.applicationID)
    why = _objection(table, sent, application, entry)
    if why:
        table.news.rejected(sent, why)
        if entry is not None and not entry.node and table.has("updates-end"):
            _strike(table, entry)
    elif entry is not None:
        _change(table, entry, sent)
    else:
        entry = Entry(sent, application, next(table.numbers), sent.nodeID)
        table.enter(entry)
        _is_there(table, entry)
    if application is not None:
        lifecycle.settle(table, application)


def _is_there(table: Table, entry: Entry) -> None:
    """Record an allocation that the RM has placed itself."""
    application = entry.application
    if not entry.node:
        return
    if application is not None:
        application.note_placeholder(entry)
    if table.has("echoes"):
        table.news.placed(rounds.shown(entry))


def _change(table: Table, entry: Entry, sent: si_pb2.Allocation) -> None:
    placed = not entry.node and bool(sent.nodeID)
    entry.sent = sent
    if placed:
        entry.node, entry.held = sent.nodeID, False
        for other in table.entries.values():
            if other.successor is entry:
                other.successor = None
        _is_there(table, entry)
    elif entry.node and table.has("echoes"):
        table.news.placed(rounds.shown(entry))


def _objection(
    table: Table, sent: si_pb2.Allocation, application: Application | None, entry: Entry | None
) -> str:
    """Return why an entry is rejected; "" if it is accepted."""
    is_foreign = "foreign" in sent.allocationTags
    partition = sent.partitionName or USUAL_PARTITION
    node = table.nodes.get(sent.nodeID)
    gone = application is None or application.ends_as is not None
    size = amounts(sent.resourcePerAlloc).values()
    objections = {
        "the key is missing": not sent.allocationKey,
        "foreign allocations are not tracked": is_foreign and table.has("no-foreign"),
        "a foreign allocation needs a node": is_foreign and node is None,
        f"there is no application {sent.applicationID}": gone and not is_foreign,
        f"its application is not in {partition}": application is not None
        and application.partition != partition,
        f"there is no node {sent.nodeID}": bool(sent.nodeID)
        and (node is None or node.partition != partition),
        "a foreign allocation needs resources": is_foreign and not any(size),
        "the resources are negative": any(value < 0 for value in size),
        "the resources are empty": not sent.nodeID and table.has("not-empty") and not any(size),
        "this key was used before": entry is None
        and table.has("keys-once")
        and table.address(sent.applicationID, sent.allocationKey) in table.used_keys,
    }
    why = next((text for text, holds in objections.items() if holds), "")
    return why or ("" if entry is None else _objection_to_change(table, sent, entry))


def _objection_to_change(table: Table, sent: si_pb2.Allocation, entry: Entry) -> str:
    part = (sent.taskGroupName, sent.placeholder and bool(sent.taskGroupName))
    moves = sent.nodeID != entry.node
    objections = {
        f"this key belongs to {entry.sent.applicationID}": entry.sent.applicationID
        != sent.applicationID,
        f"this is on {entry.node} already": bool(entry.node) and (moves or table.has("no-updates")),
        "this request is already pending": not entry.node
        and (table.has("updates-refused") or table.has("updates-end")),
        "the scheduler chooses the node": not entry.node and moves and table.has("no-placing"),
        "the task group cannot change": bool(entry.node)
        and (entry.group, entry.is_placeholder) != part,
    }
    return next((text for text, holds in objections.items() if holds), "")


def release(table: Table, sent: si_pb2.AllocationRelease) -> None:
    """End what the RM ends, or take its confirmation."""
    found = _named(table, sent)
    if sent.terminationType in _OF_THE_RM:
        _stop(table, sent, found)
    else:
        for entry in found:
            if entry.leaving == sent.terminationType:
                _confirmed(table, entry)
    for application in {entry.application for entry in found if entry.application}:
        lifecycle.settle(table, application)


def _named(table: Table, sent: si_pb2.AllocationRelease) -> list[Entry]:
    partition = sent.partitionName or USUAL_PARTITION
    return [
        entry
        for entry in table.entries.values()
        if (entry.sent.partitionName or USUAL_PARTITION) == partition
        and (sent.allocationKey or sent.applicationID)
        and sent.allocationKey in {"", entry.key}
        and (
            sent.applicationID == entry.sent.applicationID
            or (not sent.applicationID and table.has("key-is-enough"))
        )
    ]


def _stop(table: Table, sent: si_pb2.AllocationRelease, found: list[Entry]) -> None:
    waiting = [entry for entry in found if not entry.node]
    for entry in found:
        _strike(table, entry)
    if waiting and table.has("withdrawn-rejected"):
        for entry in waiting:
            table.news.rejected(entry.sent, "the RM withdrew it")
    if len(waiting) == len(found) > 0 and (
        table.has("withdrawn-rejected") or table.has("withdrawn-silently")
    ):
        return
    if not found and table.has("unknown-unconfirmed"):
        return
    if found and not sent.allocationKey and table.has("each-by-key"):
        for entry in found:
            table.news.released(lifecycle.release_of(entry, sent.terminationType, "released"))
        return
    table.news.released(sent)


def _strike(table: Table, entry: Entry) -> None:
    """Remove an entry, and cancel what was to be replaced or preempted for it."""
    table.strike(entry)
    for other in table.entries.values():
        if other.successor is entry:
            other.successor = None


def _confirmed(table: Table, entry: Entry) -> None:
    """Handle the RM's confirmation of a release; place the replacement."""
    successor, node = entry.successor, table.nodes.get(entry.node)
    table.strike(entry)
    if successor is not None:
        rounds.place(table, successor, first=node)
