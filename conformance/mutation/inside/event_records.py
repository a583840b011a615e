"""Mutants of event records that state another cause than the one an end had."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sireference.core import applications
from sireference.core.model import Effect
from sireference.core.state.allocation import Allocation
from sireference.core.state.event_log import EventLog
from sireference.core.states import AskTrigger, TerminationType

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of


def _reports_removals(patch: Patch, method: Callable[..., None], cause: Any) -> None:
    """Let this method record another cause while an application is removed."""
    removals = 0

    def remove(original: Original, *arguments: Any) -> list[Effect]:
        nonlocal removals
        removals += 1
        try:
            return original(*arguments)
        finally:
            removals -= 1

    def record(
        original: Callable[..., None], event_log: EventLog, subject: Any, given: Any
    ) -> None:
        if removals and event_log.is_read:
            patch.fires()
        original(event_log, subject, cause if removals else given)

    patch.instead_of(applications.remove, remove)
    patch.instead_of(method, record)


mutant(
    "asks-of-a-removed-application-reported-as-timed-out",
    "What a removed application asked for is reported as cancelled due to a timeout.",
    breaks=("SI-EVT-008",),
)(partial(_reports_removals, method=EventLog.over, cause=AskTrigger.TIMED_OUT))
mutant(
    "allocations-of-a-removed-application-reported-as-preempted",
    "What a removed application held is reported as preempted.",
    breaks=("SI-EVT-008",),
)(
    partial(
        _reports_removals,
        method=EventLog.allocation_removed,
        cause=TerminationType.PREEMPTED_BY_SCHEDULER,
    )
)


@mutant(
    "timed-out-allocations-reported-as-cancelled",
    "An allocation that ends with its execution timeout is reported as cancelled by the RM.",
    breaks=("SI-EVT-008",),
)
@instead_of(EventLog.allocation_removed)
def _(
    patch: Patch,
    original: Callable[..., None],
    event_log: EventLog,
    allocation: Allocation,
    termination: TerminationType,
) -> None:
    if termination is TerminationType.TIMEOUT and not allocation.is_placeholder:
        if event_log.is_read:
            patch.fires()
        termination = TerminationType.STOPPED_BY_RM
    original(event_log, allocation, termination)
