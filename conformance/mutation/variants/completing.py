"""Permitted variants of how applications end, and of names."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any, Final

from sireference.core import application_lifecycle, applications, asks, releases
from sireference.core.model import (
    AcceptedApplication,
    Ask,
    Effect,
    ReleasedAllocation,
    RemoveApplication,
    UpdatedApplication,
    partition_name,
)
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState
from siwire.r2023_12 import si_pb2 as si_before

from mutation.inside import Original, Patch
from mutation.main_revision import NAME, si
from mutation.mutant import CHANGES, keep, variant
from mutation.patching import instead_of

_BEFORE: Final = "2023-12"  # identity and key differ
_COMPLETED: Final = ApplicationState.COMPLETED
_LATE: Final = 0.9  # seconds
_on_the_wire: Final = partial(variant, revision=NAME)


@variant(
    "completed-before-the-leftovers-are-gone",
    "Completed is reported together with the releases of leftover placeholders.",
    once_failed_by=("SI-GANG-044", "SI-GANG-045"),
    departs_from=("SI-GANG-069",),
)
def _(patch: Patch) -> None:
    received: dict[int, Any] = {}

    def waited(original: Callable[..., Any], partition: Any, application: Any, now: float) -> Any:
        effects: list[Effect] = original(partition, application, now)
        if not any(isinstance(one, ReleasedAllocation) for one in effects):
            return effects
        patch.fires()
        received[id(application)] = application
        name, why = application.application_id, "it waited for long enough"
        return [*effects, UpdatedApplication(partition.rm_id, name, _COMPLETED, now, why)]

    def move(
        original: Callable[..., Any], partition: Any, application: Any, *rest: Any
    ) -> list[Effect]:
        effects: list[Effect] = original(partition, application, *rest)
        if id(application) in received and application.state is _COMPLETED:
            del received[id(application)]
            return []
        return effects

    def object_to(
        original: Callable[..., Any], partition: Any, application: Any, ask: Any
    ) -> Iterator[str]:
        if id(application) in received:
            yield f"application {application.application_id} is completed"
        yield from original(partition, application, ask)

    patch.instead_of(application_lifecycle.completing_timeout, waited)
    patch.instead_of(application_lifecycle.move, move)
    patch.instead_of(asks.objections, object_to)


@variant(
    "new-applications-wait",
    "A new application is reported as waiting until its first ask.",
    once_failed_by=("SI-APP-027", "SI-GANG-015", "SI-REC-012", "SI-REC-014", "SI-REC-019"),
    areas=("APP", "GANG", "REC"),
)
def _(patch: Patch) -> None:
    reports_accepted_ones(patch, ApplicationState.COMPLETING)


def reports_accepted_ones(patch: Patch, state: ApplicationState) -> None:
    """Report each application that is accepted in this state at once."""

    def submit(original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
        effects = original(rm, new, now)
        if any(isinstance(effect, AcceptedApplication) for effect in effects):
            patch.fires()
            name, why = new.application_id, "nothing was asked for yet"
            effects.append(UpdatedApplication(rm.rm_id, name, state, now, why))
        return effects

    patch.instead_of(applications.submit, submit)


@variant(
    "unused-applications-complete",
    "An application that asks for nothing is completed after the waiting time.",
    once_failed_by=("SI-GANG-037",),
    areas=("APP", "GANG"),
)
@instead_of(applications.submit)
def _(patch: Patch, original: Original, rm: Any, new: Any, now: float) -> list[Effect]:
    effects = original(rm, new, now)
    if not any(isinstance(effect, AcceptedApplication) for effect in effects):
        return effects
    partition = rm.partitions[partition_name(new.partition)]
    application = partition.applications[new.application_id]

    def end(at: float) -> list[Effect]:
        is_there = partition.applications.get(new.application_id) is application
        if not is_there or application.state is not ApplicationState.NEW or application.held:
            return []
        patch.fires()
        application.state = _COMPLETED
        application_lifecycle.enter(partition, application, at)
        why = "nothing was asked for"
        return [UpdatedApplication(rm.rm_id, new.application_id, _COMPLETED, at, why)]

    partition.timers.set(now + partition.settings.completing_timeout, end)
    return effects


@variant(
    "confirmations-repeat-the-state",
    "The state of an application is reported again when a release of its is confirmed.",
    once_failed_by=("SI-GANG-045",),
    areas=("APP", "GANG", "PRE"),
)
@instead_of(releases.confirmed)
def _(
    patch: Patch, original: Original, partition: Any, allocation: Any, *rest: Any
) -> list[Effect]:
    application, before = allocation.application, allocation.application.state
    effects = original(partition, allocation, *rest)
    if application.state is not before or application.application_id not in partition.applications:
        return effects
    patch.fires()
    *_, now = rest
    name, why = application.application_id, "as before"
    return [*effects, UpdatedApplication(partition.rm_id, name, before, now, why)]


def _reports_killed(response: si.ApplicationResponse) -> None:
    keep(response.updated, lambda update: update.state != "Failing")
    for update in response.updated:
        if update.state == "Failed":
            update.state = "KILLED"


@_on_the_wire(
    "failed-is-called-killed",
    "A failed application is reported as KILLED, and never as failing.",
    once_failed_by=("SI-GANG-034", "SI-GANG-038"),
)
def _(response: si.ApplicationResponse) -> None:
    _reports_killed(response)


@_on_the_wire(
    "what-the-rm-ends-is-killed",
    "A removed application is reported as Killed, like one that failed.",
    once_failed_by=("SI-GANG-034", "SI-GANG-037", "SI-GANG-038"),
    areas=("APP", "GANG"),
)
def _(response: si.ApplicationResponse) -> None:
    _reports_killed(response)


@CHANGES["what-the-rm-ends-is-killed"].also
def _(patch: Patch) -> None:
    def remove(original: Original, rm: Any, request: RemoveApplication, now: float) -> Any:
        partition = rm.partitions.get(partition_name(request.partition))
        applications = partition.applications if partition is not None else {}
        was_there = request.application_id in applications
        effects = original(rm, request, now)
        if was_there and request.application_id not in applications:
            patch.fires()
            end = (rm.rm_id, request.application_id, ApplicationState.FAILED, now, "removed")
            effects = [*effects, UpdatedApplication(*end)]
        return effects

    patch.instead_of(applications.remove, remove)


@variant(
    "identities-of-odd-characters",
    "Identities contain spaces, umlauts and punctuation.",
    once_failed_by=("SI-ALLOC-008",),
    revision=_BEFORE,
)
@instead_of(Partition.new_identity)
def _(patch: Patch, original: Callable[..., str], partition: Partition, ask: Ask) -> str:
    patch.fires()
    return f" größe/№ {original(partition, ask)}: «%s\\» "


@variant(
    "releases-without-key",
    "Releases by the scheduler name the identity and the application, not the key.",
    once_failed_by=("SI-REL-023",),
    revision=_BEFORE,
)
def _(response: si_before.AllocationResponse) -> None:
    for release in response.released:
        if release.terminationType != si_before.STOPPED_BY_RM:  # a confirmation repeats the release
            release.allocationKey = ""


@variant(
    "each-completes-in-its-turn",
    "Every other application that has waited long enough is completed 0.9 s later.",
    once_failed_by=("SI-APP-003",),
    areas=("APP",),
)
def _(patch: Patch) -> None:
    turns = cycle((_LATE, 0.0))

    def enter(
        original: Callable[..., None], partition: Partition, application: Any, now: float
    ) -> None:
        original(partition, application, now)
        late = next(turns) if application.state is ApplicationState.COMPLETING else 0.0
        if late:
            patch.fires()
            application.stop_state_timer()
            due = now + partition.settings.completing_timeout + late
            complete = partial(application_lifecycle.completing_timeout, partition, application)
            application.state_timer = partition.timers.set(due, complete)

    patch.instead_of(application_lifecycle.enter, enter)
