"""Permitted variants of timing: no answer is tied to a moment or a message."""

from collections.abc import Callable
from functools import partial
from math import floor
from typing import Any, Final

from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    Call,
    Configured,
    Effect,
    NewAllocation,
    Refused,
    Registered,
    RejectedAllocation,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    ReleasedAllocation,
    ReleasedAsk,
    UpdatedApplication,
)
from sireference.core.scheduler import Scheduler
from sireference.core.states import TerminationType

from mutation.inside import Patch
from mutation.mutant import variant

Delay = Callable[[Effect, float], float]
"""The time at which an effect of this moment is reported."""
_AT_ONCE: Final = (Registered, Configured, Refused, Call)
_A_WHILE: Final = 0.1  # seconds
_A_SECOND: Final = 1.0
NODES: Final = (AcceptedNode, RejectedNode)
APPLICATIONS: Final = (AcceptedApplication, RejectedApplication, UpdatedApplication)
_ALLOCATIONS: Final = (
    NewAllocation,
    ReleasedAllocation,
    RejectedAllocation,
    ReleasedAsk,
    RejectedAsk,
)


def reports(patch: Patch, moment: Delay) -> None:
    """Report effects at another time than that at which they happen."""
    ready: dict[int, Effect] = {}

    def give(held: list[Effect], _now: float) -> list[Effect]:
        ready.update((id(effect), effect) for effect in held)
        return held

    def postponed(scheduler: Scheduler, effects: list[Effect], now: float) -> list[Effect]:
        received: list[Effect] = []
        for effect in effects:
            at = now if isinstance(effect, _AT_ONCE) else moment(effect, now)
            rm = scheduler.rms.known(effect.rm_id)
            if ready.pop(id(effect), None) is not None or at <= now or rm is None:
                received.append(effect)
            else:
                patch.fires()
                rm.timers.set(at, partial(give, [effect]))
        return received

    _alters_effects(patch, postponed)


def _alters_effects(
    patch: Patch, altered: Callable[[Scheduler, list[Effect], float], list[Effect]]
) -> None:
    """Let the scheduler report ``altered`` effects, after events and timeouts alike."""

    def handle(original: Callable[..., Any], self: Scheduler, event: Any, now: float) -> Any:
        return altered(self, original(self, event, now), now)

    def handle_timeout(original: Callable[..., Any], self: Scheduler, now: float) -> Any:
        return altered(self, original(self, now), now)

    patch.instead_of(Scheduler.handle, handle)
    patch.instead_of(Scheduler.handle_timeout, handle_timeout)


variant("answers-after-a-while", "Every report is sent 0.1 s late.")(
    partial(reports, moment=lambda _, now: now + _A_WHILE)
)
variant("answers-in-batches", "Reports are collected and sent every 0.1 s, in few messages.")(
    partial(reports, moment=lambda _, now: (floor(now / _A_WHILE) + 1) * _A_WHILE)
)


@variant(
    "streams-of-different-pace",
    "Reports of applications come after those of nodes, and those after allocations.",
)
def _(patch: Patch) -> None:
    def moment(effect: Effect, now: float) -> float:
        if isinstance(effect, APPLICATIONS):
            return now + _A_WHILE
        return now + _A_WHILE / 2 if isinstance(effect, NODES) else now

    reports(patch, moment)


@variant(
    "allocations-reported-last",
    "Reports of allocations and asks come after those of nodes and applications.",
)
def _(patch: Patch) -> None:
    def moment(effect: Effect, now: float) -> float:
        return now + _A_WHILE if isinstance(effect, _ALLOCATIONS) else now

    reports(patch, moment)


@variant("late-confirmations", "A release by the RM is confirmed after 0.1 s.")
def _(patch: Patch) -> None:
    confirms_after(patch, _A_WHILE)


@variant(
    "confirmations-after-a-second",
    "An allocation stopped by the RM frees its capacity at once, and is confirmed after 1 s.",
    once_failed_by=("SI-GANG-047",),
    received=("--time-scale", "1"),
)
def _(patch: Patch) -> None:
    confirms_after(patch, _A_SECOND)


@variant(
    "states-after-a-second",
    "States of applications are reported 1 s late.",
    received=("--time-scale", "1"),
)
def _(patch: Patch) -> None:
    def moment(effect: Effect, now: float) -> float:
        return now + _A_SECOND if isinstance(effect, UpdatedApplication) else now

    reports(patch, moment)


@variant(
    "states-reported-twice",
    "The state of an application is reported again after 0.1 s if it is still the same.",
)
def _(patch: Patch) -> None:
    latest: dict[tuple[str, str], UpdatedApplication] = {}

    def repeated(scheduler: Scheduler, effects: list[Effect], now: float) -> list[Effect]:
        for effect in effects:
            rm = scheduler.rms.known(effect.rm_id)
            if rm is not None and isinstance(effect, UpdatedApplication):
                name = effect.rm_id, effect.application_id
                if latest.get(name) is not effect:
                    latest[name] = effect
                    rm.timers.set(now + _A_WHILE, partial(again, rm, effect))
        return effects

    def again(rm: Any, effect: UpdatedApplication, _now: float) -> list[Effect]:
        applications = (
            one.applications.get(effect.application_id) for one in rm.partitions.values()
        )
        if latest[effect.rm_id, effect.application_id] is not effect or not any(
            one is not None and one.state is effect.state for one in applications
        ):
            return []
        patch.fires()
        return [effect]

    _alters_effects(patch, repeated)


def confirms_after(patch: Patch, seconds: float) -> None:
    """End what the RM releases at once, and report it this many seconds later."""

    def moment(effect: Effect, now: float) -> float:
        is_late = (
            isinstance(effect, ReleasedAllocation | ReleasedAsk)
            and effect.release.termination is TerminationType.STOPPED_BY_RM
        )
        return now + seconds if is_late else now

    reports(patch, moment)
