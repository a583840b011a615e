"""Mutants of application state changes."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sireference.core import application_lifecycle, nodes, recovery, releases
from sireference.core.gang import placeholders
from sireference.core.model import Effect, UpdatedApplication
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.states import (
    ApplicationState,
    ApplicationTrigger,
    NodeState,
    TerminationType,
)

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of

_RUNNING = (ApplicationState.STARTING, ApplicationState.RUNNING)
_LATER = 2.5  # seconds


@mutant(
    "first-ask-moves-nothing",
    "An application stays New at its first ask.",
    breaks=("SI-APP-024",),
)
def _(patch: Patch) -> None:
    def has_ask(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        if application.state is not ApplicationState.NEW:
            return original(partition, application, now)
        patch.fires()
        return []

    patch.instead_of(application_lifecycle.has_ask, has_ask)


@mutant(
    "first-ask-begins",
    "An application is Running at its first ask.",
    breaks=("SI-APP-024",),
)
def _(patch: Patch) -> None:
    def has_ask(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        effects = original(partition, application, now)
        if application.state is not ApplicationState.ACCEPTED or not effects:
            return effects
        patch.fires()
        run = ApplicationTrigger.RUN
        return effects + application_lifecycle.move(
            partition, application, run, now, "an ask is enough"
        )

    patch.instead_of(application_lifecycle.has_ask, has_ask)


@mutant(
    "allocation-moves-nothing",
    "An application with real allocations stays Accepted.",
    breaks=("SI-APP-025",),
)
@instead_of(application_lifecycle.has_allocation)
def _(patch: Patch, *_: Any) -> list[Effect]:
    patch.fires()
    return []


@mutant(
    "never-waiting",
    "An application with nothing left stays Running.",
    breaks=("SI-APP-026",),
)
@instead_of(application_lifecycle.end)
def _(patch: Patch, original: Callable[..., Any], partition: Any, application: Any) -> Any:
    trigger, message = original(partition, application)
    if trigger is not ApplicationTrigger.COMPLETE:
        return trigger, message
    patch.fires()
    return None, ""


@mutant(
    "ends-on-draining-nodes-pass-unnoticed",
    "An application whose last allocation ended on a draining node stays Running.",
    breaks=("SI-APP-026",),
)
def _(patch: Patch) -> None:
    last: dict[Application, Node] = {}

    def unbook(
        original: Callable[..., None], partition: Any, allocation: Allocation, *rest: Any
    ) -> None:
        last[allocation.application] = allocation.node
        original(partition, allocation, *rest)

    def end(original: Callable[..., Any], partition: Any, application: Application) -> Any:
        trigger, message = original(partition, application)
        node = last.get(application)
        is_draining = node is not None and node.state is NodeState.DRAINING
        if trigger is not ApplicationTrigger.COMPLETE or not is_draining:
            return trigger, message
        patch.fires()
        return None, ""

    patch.instead_of(Partition.unbook, unbook)
    patch.instead_of(application_lifecycle.end, end)


@mutant(
    "completed-still-counts",
    "Completing and Completed applications count as running.",
    breaks=("SI-APP-030",),
)
@instead_of(application_lifecycle.count)
def _(patch: Patch, original: Callable[..., None], partition: Any, application: Any) -> None:
    if application.state in (ApplicationState.COMPLETING, ApplicationState.COMPLETED):
        patch.fires()
    else:
        original(partition, application)


def _waits(patch: Patch, when: Callable[[Any], bool]) -> None:
    """Set an application to Completing whenever something of it ends and the condition holds."""

    def settle(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        effects = original(partition, application, now)
        if effects or application.state not in _RUNNING or not when(application):
            return effects
        patch.fires()
        message = "nothing is left"
        return application_lifecycle.move(
            partition, application, ApplicationTrigger.COMPLETE, now, message
        )

    patch.instead_of(application_lifecycle.settle, settle)


mutant("waits-with-asks", "Pending asks do not keep it from waiting.", breaks=("SI-APP-027",))(
    partial(_waits, when=lambda application: application.pending and not application.is_active)
)
mutant(
    "waits-with-an-allocation",
    "A single live allocation does not keep it from waiting.",
    breaks=("SI-APP-027",),
)(partial(_waits, when=lambda application: application.held == 1))


@mutant(
    "waits-with-placeholder-asks",
    "Pending placeholder asks do not keep it from waiting.",
    breaks=("SI-GANG-043",),
)
def _(patch: Patch) -> None:
    def only_placeholders(application: Any) -> bool:
        asks = [pending.ask for pending in application.pending.values()]
        return not application.is_active and all(ask.is_placeholder for ask in asks)

    _waits(patch, only_placeholders)


@mutant(
    "recovered-is-not-active",
    "Recovered allocations do not keep an application from completing.",
    breaks=("SI-REC-014",),
)
def _(patch: Patch) -> None:
    recovered: set[str] = set()
    partitions: dict[Application, Any] = {}  # of applications that have recovered

    def recover(original: Original, partition: Any, allocation: Any, now: float) -> list[Effect]:
        application = partition.applications[allocation.ask.application_id]
        partitions[application] = partition
        recovered.add(allocation.identity)
        effects = original(partition, allocation, now)
        return effects + application_lifecycle.settle(partition, application, now)

    def is_active(original: Callable[[Any], bool], application: Application) -> bool:
        if not original(application):
            return False
        if application not in partitions:
            return True
        held = partitions[application].allocations.of(application).values()
        real = [live for live in held if not live.is_placeholder]
        if any(live.record.identity not in recovered for live in real):
            return True
        patch.fires()
        return False

    patch.instead_of(recovery.recover, recover)
    patch.instead_of(Application.is_active, is_active)


@mutant(
    "placeholders-begin",
    "With its first placeholder an application is Running.",
    breaks=("SI-GANG-015",),
)
def _(patch: Patch) -> None:
    def allocated(original: Original, partition: Any, live: Allocation, now: float) -> list[Effect]:
        effects = original(partition, live, now)
        moved = application_lifecycle.has_allocation(partition, live.application, now)
        if moved:
            patch.fires()
        return effects + moved

    patch.instead_of(placeholders.allocated, allocated)


@mutant(
    "never-waits-before-an-allocation",
    "An application whose only ask was withdrawn before any allocation stays accepted.",
    breaks=("SI-APP-026",),
)
@instead_of(application_lifecycle.end)
def _(patch: Patch, original: Callable[..., Any], partition: Any, application: Any) -> Any:
    if application.state is ApplicationState.ACCEPTED and not application.is_gang:
        patch.fires()
        return None, ""
    return original(partition, application)


@mutant(
    "failed-still-counts",
    "Failed applications count as running in their queues.",
    breaks=("SI-GANG-038",),
)
@instead_of(application_lifecycle.enter)
def _(
    patch: Patch, original: Callable[..., None], partition: Any, application: Any, now: float
) -> None:
    was_counted = application.is_counted
    original(partition, application, now)
    for quota in application.quotas if application.state is ApplicationState.FAILED else ():
        if was_counted and quota.most_applications is not None:
            patch.fires()
            quota.running += 1


def _stays_running(
    patch: Patch, function: Original, is_meant: Callable[..., bool] = lambda *_: True
) -> None:
    """Keep applications running that lose their last allocation in such calls of a function."""
    is_inside = [False]

    def calls(original: Original, *args: Any) -> list[Effect]:
        is_inside[0] = is_meant(*args)
        try:
            return original(*args)
        finally:
            is_inside[0] = False

    def end(original: Callable[..., Any], *args: Any) -> Any:
        trigger, message = original(*args)
        if not is_inside[0] or trigger is not ApplicationTrigger.COMPLETE:
            return trigger, message
        patch.fires()
        return None, ""

    patch.instead_of(function, calls)
    patch.instead_of(application_lifecycle.end, end)


@mutant(
    "decommissioned-and-still-running",
    "An application whose last allocation ends with its node stays Running.",
    breaks=("SI-APP-026",),
)
def _(patch: Patch) -> None:
    _stays_running(patch, nodes.decommission)


@mutant(
    "preempted-and-still-running",
    "An application whose last allocation is preempted stays Running.",
    breaks=("SI-APP-026",),
)
def _(patch: Patch) -> None:
    def is_preemption(_partition: Any, _live: Any, termination: Any, _now: float) -> bool:
        return termination is TerminationType.PREEMPTED_BY_SCHEDULER

    _stays_running(patch, releases.confirmed, is_preemption)


@mutant(
    "accepted-again-after-a-while",
    "Some time after an application began to run, it is reported as accepted.",
    breaks=("SI-APP-025",),
)
@instead_of(application_lifecycle.enter)
def _(
    patch: Patch,
    original: Callable[..., None],
    partition: Partition,
    application: Application,
    now: float,
) -> None:
    def due(now: float) -> list[Effect]:
        if application.state is not ApplicationState.RUNNING:
            return []
        patch.fires()
        accepted, message = ApplicationState.ACCEPTED, "it was accepted long ago"
        name = application.application_id
        return [UpdatedApplication(partition.rm_id, name, accepted, now, message)]

    original(partition, application, now)
    if application.state is ApplicationState.RUNNING:
        partition.timers.set(now + _LATER, due)
