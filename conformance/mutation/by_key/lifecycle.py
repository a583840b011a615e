"""How entries and applications end, and the application states before that."""

import time

from siwire.r2024_10 import si_pb2

from mutation.by_key.table import Application, Entry, State, Table, amounts


def release_of(
    entry: Entry, kind: "si_pb2.TerminationType.ValueType", why: str
) -> si_pb2.AllocationRelease:
    """Return the release of one entry."""
    return si_pb2.AllocationRelease(
        partitionName=entry.sent.partitionName or "default",
        applicationID=entry.sent.applicationID,
        allocationKey=entry.key,
        terminationType=kind,
        message=why,
    )


def request_release(
    table: Table, entry: Entry, kind: "si_pb2.TerminationType.ValueType", why: str
) -> None:
    """Release an entry to the RM; an allocated one keeps its capacity until confirmed."""
    if entry.leaving is not None:
        return
    table.news.released(release_of(entry, kind, why))
    if entry.node:
        entry.leaving = kind
    else:
        table.strike(entry)


def end(table: Table, application: Application, state: State) -> None:
    """Release all an application has; once confirmed, it changes to this state."""
    application.ends_as = state
    for entry in table.of(application):
        entry.held = False
        request_release(table, entry, si_pb2.TIMEOUT, "the time of its application is over")
    settle(table, application)


def forget(table: Table, application: Application) -> None:
    """Remove an application and all it has from the table."""
    for entry in table.of(application):
        table.strike(entry)
    table.applications.pop(application.name, None)


def settle(table: Table, application: Application) -> None:
    """Update the state of an application to match what it has now."""
    entries = table.of(application)
    if application.ends_as is not None:
        if not entries:
            _move(table, application, application.ends_as)
            forget(table, application)
        return
    placeholders = [entry for entry in entries if entry.is_placeholder]
    pending = any(not entry.node for entry in entries)
    real = any(entry.node and not entry.is_placeholder for entry in entries)
    gang = amounts(application.request.placeholderAsk)
    assembled = placeholders and all(entry.node for entry in placeholders)
    if real or (assembled and all(application.gang_had[k] >= v for k, v in gang.items())):
        application.gang_over = True
    if application.state is State.NEW and entries:
        _move(table, application, State.ACCEPTED)
    if application.state in {State.ACCEPTED, State.WAITING} and real:
        _move(table, application, State.RUNNING)
    if application.state is State.WAITING and pending:
        _move(table, application, State.RUNNING)
    was_busy = application.state is State.RUNNING or (
        application.state is State.ACCEPTED and (not placeholders or table.has("waits-assembled"))
    )
    if was_busy and not pending and not real:
        _move(table, application, State.WAITING)


def _move(table: Table, application: Application, state: State) -> None:
    now = time.time()
    if application.state is State.RUNNING:
        application.ran += now - application.since
    application.state, application.since = state, now
    if table.has("unreported-states"):
        return
    update = si_pb2.UpdatedApplication(
        applicationID=application.name,
        state=state.value,
        stateTransitionTimestamp=int(now * 1e9),
        message="" if table.has("wordless") else "its state changed",
    )
    table.news.report(si_pb2.ApplicationResponse(updated=[update]))
