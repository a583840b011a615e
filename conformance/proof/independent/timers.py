"""What ends because it lasted too long; looked at once a second."""

from siwire.r2023_12 import si_pb2

from proof.independent import gangs, lives
from proof.independent.books import Application, State, World


def tick(world: World) -> None:
    """End what is due."""
    for grant in world.all_grants():
        if grant.expires is not None and world.now >= grant.expires and grant.leaving is None:
            lives.send_away(world, grant, si_pb2.TIMEOUT, "its time is over")
    for application in list(world.applications.values()):
        gangs.check_time(world, application)
        _check_waiting(world, application)
        _check_running(world, application)


def _check_waiting(world: World, application: Application) -> None:
    since = application.waits_since
    if application.state is not State.WAITING or application.ending is not None:
        return
    if world.now - since < world.timers["waiting"]:
        return
    left = [held for held in application.placeholders if held.leaving is None]
    for held in left:
        lives.send_away(world, held, si_pb2.TIMEOUT, "not needed any more")
    if not application.grants:
        application.ending = State.COMPLETED
        lives.settle(world, application)


def _check_running(world: World, application: Application) -> None:
    limit = application.request.executionTimeoutMilliSeconds / 1000
    if limit <= 0 or application.ending is not None or application.runs_since is None:
        return
    if application.ran + world.now - application.runs_since >= limit:
        lives.end(world, application, State.KILLED)
