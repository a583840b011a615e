"""Mutants in which an application inherits something of an ended one with its id."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sireference.core import application_lifecycle, applications
from sireference.core.model import Effect, NewApplication
from sireference.core.state.application import Application
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState, ApplicationTrigger

from mutation.inside import Original, Patch
from mutation.mutant import mutant

_Inherit = Callable[[NewApplication, NewApplication], NewApplication]


def _inherits(patch: Patch, inherit: _Inherit, state: ApplicationState) -> None:
    """Let an application inherit from the last one of its id that ended in this state."""
    ended: dict[str, NewApplication] = {}

    def enter(
        original: Callable[..., None], partition: Partition, application: Application, now: float
    ) -> None:
        original(partition, application, now)
        if application.state is state:
            ended[application.application_id] = application.submitted

    def submit(original: Original, rm: Any, new: NewApplication, now: float) -> list[Effect]:
        earlier = ended.get(new.application_id)
        inheriting = new if earlier is None else inherit(new, earlier)
        if inheriting != new:
            patch.fires()
        return original(rm, inheriting, now)

    patch.quietly().instead_of(application_lifecycle.enter, enter)
    patch.instead_of(applications.submit, submit)


def _style(new: NewApplication, earlier: NewApplication) -> NewApplication:
    return replace(new, gang_style=earlier.gang_style)


def _timeout(new: NewApplication, earlier: NewApplication) -> NewApplication:
    return replace(new, execution_timeout=earlier.execution_timeout)


mutant(
    "style-of-a-completed-gang-stays",
    "A gang has the style of the completed application that had its id.",
    breaks=("SI-GANG-035",),
)(partial(_inherits, inherit=_style, state=ApplicationState.COMPLETED))
mutant(
    "style-of-a-failed-gang-stays",
    "A gang has the style of the failed application that had its id.",
    breaks=("SI-GANG-035",),
)(partial(_inherits, inherit=_style, state=ApplicationState.FAILED))
mutant(
    "timeout-of-a-completed-application-stays",
    "An application has the execution timeout of the completed one that had its id.",
    breaks=("SI-APP-013",),
)(partial(_inherits, inherit=_timeout, state=ApplicationState.COMPLETED))


@mutant(
    "waiting-time-survives-the-id",
    "The waiting time of a removed application ends that of the next one of its id.",
    breaks=("SI-APP-029",),
)
def _(patch: Patch) -> None:
    def remove(original: Original, rm: Any, request: Any, now: float) -> list[Effect]:
        name = request.application_id
        timers = [
            (partition, application.state_timer.deadline)
            for partition in rm.partitions.values()
            if (application := partition.applications.get(name)) is not None
            and application.state is ApplicationState.COMPLETING
            and application.state_timer is not None
        ]
        effects = original(rm, request, now)
        for partition, deadline in timers:
            partition.timers.set(deadline, partial(_complete, patch, partition, name))
        return effects

    patch.quietly().instead_of(applications.remove, remove)


def _complete(patch: Patch, partition: Partition, name: str, now: float) -> list[Effect]:
    application = partition.applications.get(name)
    if application is None or application.state is not ApplicationState.COMPLETING:
        return []
    patch.fires()
    trigger, message = ApplicationTrigger.COMPLETE, "nothing was asked for while it was waiting"
    return application_lifecycle.move(partition, application, trigger, now, message)
