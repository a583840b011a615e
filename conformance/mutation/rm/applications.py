"""Mutants and permitted variants: additions of applications, and their ends."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from google.protobuf.message import Message
from sirm.core import applications, gangs, registration, reporting, requests
from sirm.core.cluster import Application
from sirm.core.model import (
    AddApplication,
    Effect,
    RejectedApplication,
    Update,
    UpdatedApplication,
    Workload,
)
from sirm.core.state import State
from sirm.core.states import ApplicationState, Verdict
from sirm.shell.connection import Connection

from mutation.mutant import rm_mutant, rm_variant
from mutation.patching import Patch, instead_of

_Follows = Callable[[State, UpdatedApplication, float], list[Effect]]
_Sends = Callable[[Connection, str, Message], None]
_Submits = Callable[[State, Workload], list[Effect]]
_LATE: Final = 0.5  # seconds


def _asks_before_the_verdict(patch: Patch) -> None:
    def may_request(
        _original: Any, state: State, application_id: str, *, placeholders: bool
    ) -> bool:
        patch.fires()
        application = state.cluster.applications[application_id]
        return gangs.may_request(application, placeholders=placeholders)

    patch.instead_of(reporting.may_request, may_request)


@rm_variant(
    "rm-asks-before-the-verdict",
    "Requests follow their application at once, without its verdict.",
    areas=("APP", "ASK"),
)
def _(patch: Patch) -> None:
    _asks_before_the_verdict(patch)


@rm_mutant(
    "rm-adds-applications-late",
    "An application is added a while after what is requested for it.",
    breaks=("SI-APP-016",),
)
def _(patch: Patch) -> None:
    def send(original: _Sends, connection: Connection, method: str, message: Message) -> None:
        delay = _LATE if method == "UpdateApplication" else 0.0
        asyncio.get_running_loop().call_later(delay, original, connection, method, message)

    _asks_before_the_verdict(patch)
    patch.instead_of(Connection.send, send)


@rm_mutant(
    "rm-adds-applications-after-their-asks",
    "An application is added in the message after the one with its asks.",
    breaks=("SI-APP-016",),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    def due(original: Callable[[State], list[Update]], state: State) -> list[Update]:
        return sorted(original(state), key=lambda update: isinstance(update, AddApplication))

    _asks_before_the_verdict(patch)
    patch.instead_of(reporting.due, due)


@rm_mutant(
    "rm-asks-for-rejected-applications",
    "A rejection of an application is taken as an acceptance.",
    breaks=("SI-APP-033",),
)
@instead_of(applications.rejected)
def _(
    patch: Patch, _original: Any, state: State, event: RejectedApplication, _now: float
) -> list[Effect]:
    patch.fires()
    state.knowledge.applications[event.application_id] = Verdict.ACCEPTED
    return []


@rm_mutant(
    "rm-registers-again-for-an-unknown-application",
    "The state of an unknown application makes the RM register again.",
    breaks=("SI-APP-033",),
)
@instead_of(applications.updated)
def _(
    patch: Patch, original: _Follows, state: State, event: UpdatedApplication, now: float
) -> list[Effect]:
    if event.application_id not in state.cluster.applications:
        patch.fires()
        return registration.lost(state, "an unknown application", now)
    return original(state, event, now)


def _frees(patch: Patch, is_free: Callable[[Application], bool]) -> None:
    """Let another application have the id of one that is free by this rule."""

    def submit(original: _Submits, state: State, workload: Workload) -> list[Effect]:
        existing = state.cluster.applications.get(workload.application_id)
        if existing is not None and not existing.is_over and is_free(existing):
            patch.fires()
            del state.cluster.applications[workload.application_id]
        return original(state, workload)

    patch.instead_of(applications.submit, submit)


rm_mutant(
    "rm-equal-names-share-an-id",
    "Another application of the same name is added under the id of the first.",
    breaks=("SI-APP-034",),
)(partial(_frees, is_free=lambda _existing: True))
rm_mutant(
    "rm-frees-ids-too-early",
    "The id of an application is used again while its containers stop.",
    breaks=("SI-APP-034",),
)(partial(_frees, is_free=lambda existing: existing.state is ApplicationState.ENDING))


@rm_variant(
    "rm-repeats-additions",
    "Every application is added twice.",
    areas=("APP",),
)
def _(patch: Patch) -> None:
    def new_applications(
        original: Callable[[State], Iterator[Update]], state: State
    ) -> Iterator[Update]:
        for addition in original(state):
            patch.fires()
            yield addition
            yield addition

    def rejected(
        original: Callable[[State, RejectedApplication, float], list[Effect]],
        state: State,
        event: RejectedApplication,
        now: float,
    ) -> list[Effect]:
        is_accepted = state.accepts_application(event.application_id)
        return [] if is_accepted else original(state, event, now)  # only the repetition

    patch.instead_of(reporting.new_applications, new_applications)
    patch.instead_of(applications.rejected, rejected)


@rm_mutant(
    "rm-ignores-final-states",
    "An application that has failed goes on waiting.",
    breaks=("SI-APP-038",),
)
@instead_of(applications.updated)
def _(
    patch: Patch, _original: Any, _state: State, _event: UpdatedApplication, _now: float
) -> list[Effect]:
    patch.fires()
    return []


@rm_mutant(
    "rm-asks-again-after-a-failure",
    "An application that has failed asks for what it still lacks.",
    breaks=("SI-APP-038",),
)
@instead_of(applications.updated)
def _(
    patch: Patch, original: _Follows, state: State, event: UpdatedApplication, now: float
) -> list[Effect]:
    application = state.cluster.applications.get(event.application_id)
    if application is None or event.state != "Failed":
        return original(state, event, now)
    patch.fires()
    asks: list[Effect] = [requests.request(one) for one in application.containers.values()]
    return [*asks, *original(state, event, now)]
