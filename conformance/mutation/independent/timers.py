"""Timeouts, checked once a second."""

from siwire.r2023_12 import si_pb2

from mutation.independent import gangs, lifecycle
from mutation.independent.state import Application, ApplicationState, RMState


def tick(rm: RMState) -> None:
    """End what has timed out."""
    for grant in rm.all_grants():
        if grant.expires is not None and rm.now >= grant.expires and grant.leaving is None:
            lifecycle.request_release(rm, grant, si_pb2.TIMEOUT, "it timed out")
    for application in list(rm.applications.values()):
        gangs.check_time(rm, application)
        _check_waiting(rm, application)
        _check_running(rm, application)


def _check_waiting(rm: RMState, application: Application) -> None:
    since = application.waits_since
    if application.state is not ApplicationState.WAITING or application.ending is not None:
        return
    if rm.now - since < rm.timers["waiting"]:
        return
    left = [held for held in application.placeholders if held.leaving is None]
    for held in left:
        lifecycle.request_release(rm, held, si_pb2.TIMEOUT, "not needed any more")
    if not application.grants:
        application.ending = ApplicationState.COMPLETED
        lifecycle.settle(rm, application)


def _check_running(rm: RMState, application: Application) -> None:
    limit = application.request.executionTimeoutMilliSeconds / 1000
    if limit <= 0 or application.ending is not None or application.runs_since is None:
        return
    if application.ran + rm.now - application.runs_since >= limit:
        lifecycle.end(rm, application, ApplicationState.KILLED)
