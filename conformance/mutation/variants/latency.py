"""Permitted variants of latency: the specification sets no deadline for decisions."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import floor
from typing import Any, Final

from sireference.core import application_lifecycle, scheduler, scheduling_pass
from sireference.core.gang import placeholders, replacement, timeout
from sireference.core.model import ProposedTimers

from mutation.inside import Patch
from mutation.mutant import CHANGES, variant
from mutation.patching import instead_of
from mutation.variants import lifecycles  # noqa: F401  # a variant here alters like one there
from mutation.variants.traffic import reports

_CYCLE: Final = 0.5  # seconds
_SLOW_CYCLE: Final = 0.8
_SWAP: Final = 1.2
_LATE: Final = 0.6


@variant(
    "pass-each-half-second",
    "There is a scheduling pass every half second, and none between.",
    once_failed_by=("SI-NODE-026", "SI-GANG-017", "SI-REL-009"),
    is_slow=True,  # each test waits for a pass after each step
)
def _(patch: Patch) -> None:
    passes_each(patch, _CYCLE)


def passes_each(patch: Patch, seconds: float) -> None:
    """Delay scheduling passes to the next whole number of cycles."""
    due: dict[int, tuple[Any, float]] = {}  # the next pass of each RM

    def seldom(original: Callable[..., Any], rm: Any, now: float) -> Any:
        known = due.get(id(rm))
        if known is None:
            tick = (floor(now / seconds) + 1) * seconds
            due[id(rm)] = (rm, tick)
            rm.timers.set(tick, lambda _: [])  # at each expired deadline there is a pass
            patch.fires()
            return []
        if now < known[1]:
            return []
        del due[id(rm)]
        return original(rm, now)

    patch.instead_of(scheduler.run_pass, seldom)


@variant(
    "pass-each-0.8-seconds",
    "There is a scheduling pass every 0.8 s, and none between.",
    once_failed_by=("SI-GANG-017", "SI-GANG-044", "SI-REL-009"),
    is_slow=True,  # each test waits for a pass after each step
)
def _(patch: Patch) -> None:
    passes_each(patch, _SLOW_CYCLE)


@variant(
    "unused-gangs-are-given-up",
    "A complete but unused gang loses its placeholders at the timeout.",
    once_failed_by=("SI-GANG-039",),
    departs_from=("SI-GANG-063",),
)
@instead_of(timeout.expire)
def _(
    patch: Patch, original: Callable[..., Any], partition: Any, application: Any, now: float
) -> list[Any]:
    effects: list[Any] = original(partition, application, now)
    held = partition.allocations.of(application).values()
    unused = [one for one in held if one.is_placeholder and one.open_release is None]
    if effects or not unused or application.is_gathering:
        return effects
    patch.fires()
    return application_lifecycle.withdraw(partition, [], unused, "it was not used")


@variant(
    "replacement-after-1.2-seconds",
    "A placeholder is released 1.2 s after the real ask it is for.",
    once_failed_by=("SI-REL-009", "SI-REL-011", "SI-REC-011", "SI-REC-012", "SI-REC-019"),
)
def _(patch: Patch) -> None:
    due: dict[int, tuple[Any, float]] = {}  # when its placeholder may be released

    def wake(ask_group: Any, _now: float) -> list[Any]:
        if ask_group.application.ask_groups.get(ask_group.key) is ask_group:
            ask_group.wake()
        return []

    def step(original: Callable[..., Any], partition: Any, ask_group: Any, now: float) -> Any:
        pending = ask_group.first()
        if (
            pending is None
            or placeholders.closed_gate(partition, ask_group)
            or replacement.choose(partition, pending) is None
        ):
            return original(partition, ask_group, now)
        if id(pending) not in due:
            due[id(pending)] = (pending, now + _SWAP)
            partition.timers.set(now + _SWAP, partial(wake, ask_group))
        if now >= due[id(pending)][1]:
            return original(partition, ask_group, now)
        patch.fires()
        gang = partition.gangs[ask_group.application]
        return scheduling_pass.block(partition, ask_group, gang.unsettled)

    patch.instead_of(scheduling_pass.step, step)


@variant(
    "hopeless-rejected-late-answers",
    "Asks bigger than every node are rejected; reports take 0.6 s; gang timeouts are 2 s.",
    once_failed_by=("SI-GANG-031", "SI-GANG-043"),
    received=("--placeholder-timeout", "2", "--waiting-timeout", "4", "--no-proposals"),
    is_slow=True,  # every barrier waits this long for its answer
)
def _(patch: Patch) -> None:
    patch.serves_with("--placeholder-timeout", "2", "--completing-timeout", "4")
    CHANGES["rejects-hopeless"].alter(patch)
    reports(patch, lambda _, now: now + _LATE)


@variant(
    "placeholder-timeout-of-5-seconds",
    "The placeholder timeout is 5 s, regardless of what an RM proposes.",
    once_failed_by=("SI-GANG-034", "SI-GANG-035", "SI-GANG-036"),
    received=("--placeholder-timeout", "5"),
)
def _(patch: Patch) -> None:
    _has_placeholder_timeout(patch, 5.0)


@variant(
    "placeholder-timeout-of-15-minutes",
    "The placeholder timeout is 15 minutes.",
    once_failed_by=("SI-GANG-064",),
    received=("--placeholder-timeout", "900", "--longest-timer", "2000"),
)
def _(patch: Patch) -> None:
    _has_placeholder_timeout(patch, 900.0)


@variant(
    "gangs-time-out-after-two-passes",
    "There is a scheduling pass every half second, and the placeholder timeout is 1 s.",
    once_failed_by=("SI-GANG-016",),
    areas=("GANG",),
    received=("--placeholder-timeout", "1"),
    is_slow=True,
)
def _(patch: Patch) -> None:
    passes_each(patch, _CYCLE)
    _has_placeholder_timeout(patch, 1.0)


def _has_placeholder_timeout(patch: Patch, seconds: float) -> None:
    def in_place_of(original: Callable[..., Any], proposed: Any, settings: Any) -> Any:
        patch.fires()
        return replace(original(proposed, settings), placeholder_timeout=seconds)

    patch.instead_of(ProposedTimers.in_place_of, in_place_of)


@variant(
    "proposals-not-taken",
    "Timeouts are those of the operator, regardless of what an RM proposes.",
    once_failed_by=("SI-REG-016",),
    received=(
        "--placeholder-timeout",
        "4",
        "--waiting-timeout",
        "2.5",
        "--connection-loss-timeout",
        "3",
        "--no-proposals",
    ),
)
def _(patch: Patch) -> None:
    patch.serves_with("--placeholder-timeout", "4", "--completing-timeout", "2.5")
    patch.serves_with("--connection-loss-timeout", "3")

    def in_place_of(_original: Callable[..., Any], _proposed: Any, settings: Any) -> Any:
        patch.fires()
        return settings

    patch.instead_of(ProposedTimers.in_place_of, in_place_of)
