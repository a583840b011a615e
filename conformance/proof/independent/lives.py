"""How applications live and end, and how allocations are sent away."""

from siwire.r2023_12 import si_pb2

from proof.independent.amounts import covers, plus
from proof.independent.books import Application, Grant, State, World, sum_of

_OWN_NAMES = {
    State.NEW: "Queued",
    State.ACCEPTED: "ADMITTED",
    State.RUNNING: "ACTIVE",
    State.WAITING: "IDLE",
    State.COMPLETED: "COMPLETED",
    State.KILLED: "KILLED",
}
_LAST = (State.COMPLETED, State.KILLED)


def settle(world: World, application: Application) -> None:
    """Bring an application's state in line with what it has; to be called after any change."""
    if not application.name:
        return
    _see_whether_complete(application)
    if application.ending is not None:
        if not application.grants:
            _finish(world, application, application.ending)
        return
    if application.state is State.NEW and (application.pending or application.grants):
        move(world, application, State.ACCEPTED)
    if application.state is State.ACCEPTED and application.real:
        move(world, application, State.RUNNING)
    if application.state is State.WAITING and (application.pending or application.real):
        move(world, application, State.RUNNING)
    if _is_idle(application):
        move(world, application, State.WAITING)


def _is_idle(application: Application) -> bool:
    if application.pending or application.real:
        return False
    running = application.state is State.RUNNING
    return running or (application.state is State.ACCEPTED and not application.placeholders)


def _see_whether_complete(application: Application) -> None:
    if application.complete or any(ask.placeholder for ask in application.pending):
        return
    have = plus(sum_of(application.placeholders), application.replaced)
    goal = {k: q.value for k, q in application.request.placeholderAsk.resources.items()}
    application.complete = bool(have) and covers(have, goal)


def move(world: World, application: Application, state: State) -> None:
    """Put an application into another state and tell the RM."""
    if application.state is State.RUNNING and application.runs_since is not None:
        application.ran += world.now - application.runs_since
        application.runs_since = None
    application.state = state
    if state is State.RUNNING:
        application.runs_since = world.now
    if state is State.WAITING:
        application.waits_since = world.now
    _announce(world, application)


def _announce(world: World, application: Application) -> None:
    if world.has("mute") or (world.has("silent") and application.state not in _LAST):
        return
    name = application.state.value
    if application.state is State.KILLED and world.has("fails"):
        name = "Failed"
    if world.has("other-names"):
        name = _OWN_NAMES[application.state]
    update = si_pb2.UpdatedApplication(
        applicationID=application.name,
        state=name,
        stateTransitionTimestamp=int(world.now * 1000),
    )
    world.outbox.application_updated(update)


def _finish(world: World, application: Application, state: State) -> None:
    move(world, application, state)
    forget(world, application)


def forget(world: World, application: Application) -> None:
    """Take an application and everything it has out of the books."""
    for ask in list(application.asks.values()):
        world.drop(ask)
    for grant in list(application.grants.values()):
        world.strike(grant)
    for queue in application.queue.path():
        queue.running.discard(application.name)
    world.applications.pop(application.name, None)


def end(world: World, application: Application, state: State) -> None:
    """Release everything because of time; the state follows when the RM has confirmed it."""
    application.ending = state
    release_asks(world, application, placeholders_only=False)
    for grant in list(application.grants.values()):
        if grant.leaving is None:
            send_away(world, grant, si_pb2.TIMEOUT, "timed out")
    settle(world, application)


def release_asks(world: World, application: Application, *, placeholders_only: bool) -> None:
    """Drop pending asks because of time, and tell so."""
    asks = [a for a in application.pending if a.placeholder or not placeholders_only]
    keys = [ask.key for ask in asks]
    if keys and world.has("keyless") and not placeholders_only:
        keys = [""]
    for ask in asks:
        world.drop(ask)
    for key in keys:
        release = si_pb2.AllocationAskRelease(
            partitionName=application.partition,
            applicationID=application.name,
            allocationKey=key,
            terminationType=si_pb2.TIMEOUT,
        )
        world.outbox.ask_released(release)


def send_away(
    world: World, grant: Grant, kind: "si_pb2.TerminationType.ValueType", why: str
) -> None:
    """Ask the RM to release an allocation; it holds its room until the RM has confirmed."""
    grant.leaving = kind
    application = grant.ask.application
    one_by_one = world.has("serial") and grant.placeholder
    if one_by_one and any(g.told_to_leave for g in application.placeholders):
        application.backlog.append(grant)
        return
    grant.told_to_leave = True
    world.outbox.released(notice(world, grant, kind, why))


def notice(
    world: World, grant: Grant, kind: "si_pb2.TerminationType.ValueType", why: str
) -> si_pb2.AllocationRelease:
    """A release of this allocation."""
    return si_pb2.AllocationRelease(
        partitionName=grant.ask.application.partition,
        applicationID=grant.ask.application.name,
        terminationType=kind,
        message=why,
        allocationKey="" if world.has("bare") else grant.ask.key,
        allocationID=grant.identity,
    )


def has_ended(world: World, grant: Grant) -> None:
    """Take one allocation out of the books, and send away whatever waited for that."""
    application = grant.ask.application
    world.strike(grant)
    while application.backlog:
        following = application.backlog.pop(0)
        if following.identity in application.grants and following.leaving is not None:
            send_away(world, following, following.leaving, "timed out")
            break
    settle(world, application)
