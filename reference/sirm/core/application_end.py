"""The end of an application: once the last of its containers is over."""

from sirm.core.cluster import Application
from sirm.core.model import Effect, Notice, RemoveApplication
from sirm.core.state import State
from sirm.core.states import ApplicationTrigger, Verdict


def settle(state: State, application: Application) -> list[Effect]:
    """End an application that has nothing left to do, and remove it from the scheduler."""
    if application.is_over or not is_done(application):
        return []
    known = state.knowledge.applications.get(application.application_id)
    is_held = known in (Verdict.AWAITED, Verdict.ACCEPTED)
    removal = [RemoveApplication(application.application_id)] if is_held else []
    return [*removal, *ended(state, application, application.outcome or "completed")]


def is_done(application: Application) -> bool:
    """Return whether all containers are over, placeholders included."""
    return not application.containers


def ended(state: State, application: Application, outcome: str) -> list[Effect]:
    """Take the application as over: nothing more is sent for it, and its id is free again."""
    application.move(ApplicationTrigger.ENDED)
    application.outcome = outcome
    state.knowledge.applications.pop(application.application_id, None)
    state.knowledge.new_applications.pop(application.application_id, None)
    return [Notice(f"application {application.application_id} {outcome}")]
