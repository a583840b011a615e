"""Applications: submitted, accepted or rejected, ended."""

from typing import Final

from sirm.core import application_end, containers, gangs
from sirm.core.cluster import Application
from sirm.core.model import (
    AcceptedApplication,
    AddApplication,
    Effect,
    Notice,
    RefusedError,
    RejectedApplication,
    UpdatedApplication,
    Workload,
)
from sirm.core.state import State
from sirm.core.states import ApplicationState, ApplicationTrigger, Verdict

# No state is specified by name: these are those of the design and of yunikorn-core (C-22)
_COMPLETED: Final = frozenset({"completed", "expired"})
_FAILED: Final = frozenset({"failed", "killed", "rejected"})
_RESUMING: Final = "resuming"


def submit(state: State, workload: Workload) -> list[Effect]:
    """Create an application and its containers. Raises RefusedError for an id that is in use.

    Within one registration no id is added again while its application exists (SI-APP-034).
    """
    application_id = workload.application_id
    if not application_id:
        raise RefusedError("an application needs an id")
    existing = state.cluster.applications.get(application_id)
    if existing is not None and not existing.is_over:
        raise RefusedError(f'application "{application_id}" exists; choose another id')
    application = Application(workload)
    state.cluster.applications[application_id] = application
    gangs.create_members(state.cluster, application)
    state.knowledge.new_applications[application_id] = application
    for container in application.containers.values():
        state.knowledge.report(container)
    return []


def addition(application: Application) -> AddApplication:
    """Return the application as it is added to the scheduler."""
    workload = application.workload
    placeholder_ask = gangs.placeholder_sum(workload.groups)
    return AddApplication(
        application_id=application.application_id,
        queue=workload.queue,
        user=workload.user,
        placeholder_ask=placeholder_ask,
        execution_timeout=workload.placeholder_timeout,
        gang_style=workload.gang_style,
    )


def accepted(state: State, event: AcceptedApplication) -> list[Effect]:
    """Note the verdict; one about an unknown application changes nothing (SI-APP-033)."""
    if event.application_id not in state.knowledge.applications:
        return []
    state.knowledge.applications[event.application_id] = Verdict.ACCEPTED
    return [Notice(f"application {event.application_id} accepted")]


def rejected(state: State, event: RejectedApplication, now: float) -> list[Effect]:
    """Take a rejected application as over: nothing is requested for it (SI-APP-033)."""
    if event.application_id not in state.knowledge.applications:
        return []
    notice = Notice(f"application {event.application_id} rejected: {event.reason}")
    return [notice, *_over(state, event.application_id, "rejected", now)]


def updated(state: State, event: UpdatedApplication, now: float) -> list[Effect]:
    """Follow a final state (SI-APP-038); a gang that resumes is scheduled like any other.

    Other states are for information only.
    """
    application = state.cluster.applications.get(event.application_id)
    if application is None or application.is_over:
        return []
    name = event.state.casefold()
    notice = Notice(f"application {event.application_id} is {event.state}")
    if name == _RESUMING:
        application.is_resumed = True
    if name in _FAILED:
        return [notice, *_over(state, event.application_id, "failed", now)]
    if name in _COMPLETED:
        return [notice, *_over(state, event.application_id, "completed", now)]
    return [notice]


def end_by_user(state: State, application_id: str, now: float) -> list[Effect]:
    """End an application for its user. Raises RefusedError if there is none."""
    application = state.cluster.applications.get(application_id)
    if application is None or application.is_over:
        raise RefusedError(f'there is no application "{application_id}"')
    application.outcome = application.outcome or "ended"
    return end(state, application, now)


def end(state: State, application: Application, now: float) -> list[Effect]:
    """Stop all containers; the application is removed when the last one is gone."""
    if application.state is not ApplicationState.LIVE:
        return []
    application.move(ApplicationTrigger.END)
    return _stop_all(state, application, now) + application_end.settle(state, application)


def _over(state: State, application_id: str, outcome: str, now: float) -> list[Effect]:
    """End an application that the scheduler no longer has; only releases it began are answered."""
    application = state.cluster.applications[application_id]
    effects = application_end.ended(state, application, outcome)
    for container in application.containers.values():
        containers.forget(state, container)
    return effects + _stop_all(state, application, now)


def _stop_all(state: State, application: Application, now: float) -> list[Effect]:
    effects: list[Effect] = []
    for container in list(application.containers.values()):
        effects += containers.stop(state, container, now)
    return effects
