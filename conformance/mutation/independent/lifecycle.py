"""The lifecycle of applications, and how allocations are released."""

from siwire.r2023_12 import si_pb2

from mutation.independent.amounts import covers, plus
from mutation.independent.state import Application, ApplicationState, Grant, RMState, sum_of

_OWN_NAMES = {
    ApplicationState.NEW: "Queued",
    ApplicationState.ACCEPTED: "ADMITTED",
    ApplicationState.RUNNING: "ACTIVE",
    ApplicationState.WAITING: "IDLE",
    ApplicationState.COMPLETED: "COMPLETED",
    ApplicationState.KILLED: "KILLED",
}
_LAST = (ApplicationState.COMPLETED, ApplicationState.KILLED)


def settle(rm: RMState, application: Application) -> None:
    """Update an application's state to match what it has; call this after any change."""
    if not application.name:
        return
    _see_whether_complete(application)
    if application.ending is not None:
        if not application.grants:
            _finish(rm, application, application.ending)
        return
    if application.state is ApplicationState.NEW and (application.pending or application.grants):
        move(rm, application, ApplicationState.ACCEPTED)
    if application.state is ApplicationState.ACCEPTED and application.real:
        move(rm, application, ApplicationState.RUNNING)
    if application.state is ApplicationState.WAITING and (application.pending or application.real):
        move(rm, application, ApplicationState.RUNNING)
    if _is_idle(application):
        move(rm, application, ApplicationState.WAITING)


def _is_idle(application: Application) -> bool:
    if application.pending or application.real:
        return False
    running = application.state is ApplicationState.RUNNING
    return running or (
        application.state is ApplicationState.ACCEPTED and not application.placeholders
    )


def _see_whether_complete(application: Application) -> None:
    if application.complete or any(ask.placeholder for ask in application.pending):
        return
    have = plus(sum_of(application.placeholders), application.replaced)
    goal = {k: q.value for k, q in application.request.placeholderAsk.resources.items()}
    application.complete = bool(have) and covers(have, goal)


def move(rm: RMState, application: Application, state: ApplicationState) -> None:
    """Change the state of an application and report it."""
    if application.state is ApplicationState.RUNNING and application.runs_since is not None:
        application.ran += rm.now - application.runs_since
        application.runs_since = None
    application.state = state
    if state is ApplicationState.RUNNING:
        application.runs_since = rm.now
    if state is ApplicationState.WAITING:
        application.waits_since = rm.now
    _announce(rm, application)


def _announce(rm: RMState, application: Application) -> None:
    if rm.has("mute") or (rm.has("silent") and application.state not in _LAST):
        return
    name = application.state.value
    if application.state is ApplicationState.KILLED and rm.has("fails"):
        name = "Failed"
    if rm.has("other-names"):
        name = _OWN_NAMES[application.state]
    update = si_pb2.UpdatedApplication(
        applicationID=application.name,
        state=name,
        stateTransitionTimestamp=int(rm.now * 1000),
    )
    rm.outbox.application_updated(update)


def _finish(rm: RMState, application: Application, state: ApplicationState) -> None:
    move(rm, application, state)
    forget(rm, application)


def forget(rm: RMState, application: Application) -> None:
    """Remove an application and everything it has from the state."""
    for ask in list(application.asks.values()):
        rm.drop(ask)
    for grant in list(application.grants.values()):
        rm.strike(grant)
    for queue in application.queue.path():
        queue.running.discard(application.name)
    rm.applications.pop(application.name, None)


def end(rm: RMState, application: Application, state: ApplicationState) -> None:
    """Release everything at a timeout; the state follows when the RM has confirmed."""
    application.ending = state
    release_asks(rm, application, placeholders_only=False)
    for grant in list(application.grants.values()):
        if grant.leaving is None:
            request_release(rm, grant, si_pb2.TIMEOUT, "timed out")
    settle(rm, application)


def release_asks(rm: RMState, application: Application, *, placeholders_only: bool) -> None:
    """Drop pending asks at a timeout, and report that."""
    asks = [a for a in application.pending if a.placeholder or not placeholders_only]
    keys = [ask.key for ask in asks]
    if keys and rm.has("keyless") and not placeholders_only:
        keys = [""]
    for ask in asks:
        rm.drop(ask)
    for key in keys:
        release = si_pb2.AllocationAskRelease(
            partitionName=application.partition,
            applicationID=application.name,
            allocationKey=key,
            terminationType=si_pb2.TIMEOUT,
        )
        rm.outbox.ask_released(release)


def request_release(
    rm: RMState, grant: Grant, kind: "si_pb2.TerminationType.ValueType", why: str
) -> None:
    """Ask the RM to release an allocation; it keeps its capacity until confirmed."""
    grant.leaving = kind
    application = grant.ask.application
    one_by_one = rm.has("serial") and grant.placeholder
    if one_by_one and any(g.asked_to_leave for g in application.placeholders):
        application.backlog.append(grant)
        return
    grant.asked_to_leave = True
    rm.outbox.released(notice(rm, grant, kind, why))


def notice(
    rm: RMState, grant: Grant, kind: "si_pb2.TerminationType.ValueType", why: str
) -> si_pb2.AllocationRelease:
    """Return a release of this allocation."""
    return si_pb2.AllocationRelease(
        partitionName=grant.ask.application.partition,
        applicationID=grant.ask.application.name,
        terminationType=kind,
        message=why,
        allocationKey="" if rm.has("bare") else grant.ask.key,
        allocationID=grant.identity,
    )


def has_ended(rm: RMState, grant: Grant) -> None:
    """Remove an allocation that has ended, and release what waited for that."""
    application = grant.ask.application
    rm.strike(grant)
    while application.backlog:
        following = application.backlog.pop(0)
        if following.identity in application.grants and following.leaving is not None:
            request_release(rm, following, following.leaving, "timed out")
            break
    settle(rm, application)
