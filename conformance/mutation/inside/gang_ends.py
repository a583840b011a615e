"""Mutants of the ends of gangs, by timeout, without use or with their nodes."""

from collections.abc import Callable, Iterator
from typing import Any

from sireference.core import application_lifecycle, asks, nodes, recovery
from sireference.core.gang import completion, timeout
from sireference.core.model import Effect
from sireference.core.state.application import Application
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState

from mutation.inside import Original, Patch
from mutation.mutant import mutant
from mutation.patching import instead_of


@mutant(
    "unused-placeholders-time-out",
    "At the timeout unused placeholders are released even if the gang is complete.",
    breaks=("SI-GANG-063",),
)
def _(patch: Patch) -> None:
    def expire(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        if application.is_gathering:
            return original(partition, application, now)
        held = partition.allocations.of(application).values()
        unused = [one for one in held if one.is_placeholder and one.open_release is None]
        if unused:
            patch.fires()
        return application_lifecycle.withdraw(partition, [], unused, "it was not used in time")

    patch.instead_of(timeout.expire, expire)


@mutant(
    "unused-placeholders-fall-silent",
    "At the timeout unused placeholders stay, and are never replaced.",
    breaks=("SI-GANG-063",),
)
def _(patch: Patch) -> None:
    def expire(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        effects = original(partition, application, now)
        gang = partition.gangs.get(application)
        if application.has_begun and gang is not None and gang.replaceable:
            patch.fires()
            gang.replaceable.clear()
        return effects

    patch.instead_of(timeout.expire, expire)


@mutant(
    "completed-with-the-first-confirmation",
    "An application completes when the first of its leftover placeholders is gone.",
    breaks=("SI-GANG-069",),
)
@instead_of(completion.is_cleared_up)
def _(patch: Patch, original: Callable[..., bool], partition: Any, application: Any) -> bool:
    gang = partition.gangs.get(application)
    if gang is None or not gang.is_clearing_up or original(partition, application):
        return original(partition, application)
    patch.fires()
    return True


@mutant(
    "one-gang-timer-for-all",
    "The timer of a gang stops those of the others.",
    breaks=("SI-GANG-032",),
)
def _(patch: Patch) -> None:
    def watch(original: Callable[..., None], partition: Any, application: Any, now: float) -> None:
        gang = partition.gangs.get(application)
        before = None if gang is None else gang.timer
        original(partition, application, now)
        if gang is None or gang.timer is None or gang.timer is before:
            return
        for other in partition.gangs.values():
            if other is not gang and other.timer is not None:
                patch.fires()
                other.stop_timer()

    patch.instead_of(timeout.watch, watch)


@mutant(
    "gang-timer-ends-with-its-placeholders",
    "Once a gang has lost all its placeholders, it never times out.",
    breaks=("SI-GANG-032", "SI-GANG-033"),
)
def _(patch: Patch) -> None:
    stopped: set[Any] = set()

    def ended(original: Callable[..., None], partition: Any, placeholder: Any) -> None:
        application = placeholder.application
        if application.placeholders_held == 1 and not application.has_begun:
            stopped.add(application)
        original(partition, placeholder)

    def watch(original: Callable[..., None], partition: Any, application: Any, now: float) -> None:
        if application not in stopped:
            original(partition, application, now)
        elif application.placeholders_held:
            patch.fires()

    patch.instead_of(Partition.placeholder_ended, ended)
    patch.instead_of(timeout.watch, watch)


@mutant(
    "real-asks-lost-while-resuming",
    "A real ask of a soft gang is dropped while its placeholders are released at the timeout.",
    breaks=("SI-GANG-035",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    for partition in rm.partitions.values():
        application = partition.applications.get(ask.application_id)
        if application is not None and application.state is ApplicationState.RESUMING:
            patch.fires()
            return []
    return original(rm, ask, now)


@mutant(
    "failing-gang-waits-for-lost-placeholders",
    "A failing gang stays Failing if its last placeholder ends with its node.",
    breaks=("SI-APP-037",),
)
def _(patch: Patch) -> None:
    removing: list[Any] = []

    def decommission(original: Original, partition: Any, node: Any, now: float) -> list[Effect]:
        removing.append(node)
        try:
            return original(partition, node, now)
        finally:
            removing.pop()

    def settle(original: Original, partition: Any, application: Any, now: float) -> list[Effect]:
        if not removing or application.state is not ApplicationState.FAILING:
            return original(partition, application, now)
        patch.fires()
        return []

    patch.instead_of(nodes.decommission, decommission)
    patch.instead_of(application_lifecycle.settle, settle)


def _fails_instead(patch: Patch, is_meant: Callable[[Partition, Application], bool]) -> None:
    """Let gangs of this kind fail at their timeout, whichever style they have."""

    def expire(
        original: Original, partition: Partition, application: Application, now: float
    ) -> list[Effect]:
        is_hard = application.submitted.gang_style.casefold() == "hard"
        if is_hard or not application.is_gathering or not is_meant(partition, application):
            return original(partition, application, now)
        patch.fires()
        partition.gangs[application].timer = None
        return application_lifecycle.fail(partition, application, now, "placeholder timeout")

    patch.instead_of(timeout.expire, expire)


@mutant(
    "soft-gang-with-a-real-ask-fails",
    "A gang of style soft fails at its timeout if a real ask of it is pending.",
    breaks=("SI-GANG-035",),
)
def _(patch: Patch) -> None:
    def is_meant(_: Partition, application: Application) -> bool:
        return any(not pending.ask.is_placeholder for pending in application.pending.values())

    _fails_instead(patch, is_meant)


@mutant(
    "recovered-soft-gang-fails",
    "A gang of style soft fails at its timeout if it recovered a placeholder.",
    breaks=("SI-REC-020",),
)
def _(patch: Patch) -> None:
    recovered: set[str] = set()

    def recover(original: Original, partition: Partition, record: Any, now: float) -> list[Effect]:
        recovered.add(record.identity)
        return original(partition, record, now)

    def is_meant(partition: Partition, application: Application) -> bool:
        return bool(recovered & partition.allocations.of(application).keys())

    patch.quietly().instead_of(recovery.recover, recover)
    _fails_instead(patch, is_meant)


@mutant(
    "late-placeholder-asks-vanish",
    "After its timeout further placeholder asks of a gang of style soft are ignored.",
    breaks=("SI-GANG-035",),
)
def _(patch: Patch) -> None:
    resumed: set[Application] = set()

    def expire(
        original: Original, partition: Partition, application: Application, now: float
    ) -> list[Effect]:
        effects = original(partition, application, now)
        if application.state is ApplicationState.RESUMING:
            resumed.add(application)
        return effects

    def add(original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
        there = (one.applications.get(ask.application_id) for one in rm.partitions.values())
        if ask.is_placeholder and any(one in resumed for one in there):
            patch.fires()
            return []
        return original(rm, ask, now)

    patch.quietly().instead_of(timeout.expire, expire)
    patch.instead_of(asks.add, add)


@mutant(
    "real-asks-lost-while-clearing-up",
    "A real ask is dropped while the leftover placeholders of its application are released.",
    breaks=("SI-ASK-011",),
)
@instead_of(asks.add)
def _(patch: Patch, original: Original, rm: Any, ask: Any, now: float) -> list[Effect]:
    for partition in rm.partitions.values():
        gang = partition.gangs.get(partition.applications.get(ask.application_id))
        if gang is not None and gang.is_clearing_up:
            patch.fires()
            return []
    return original(rm, ask, now)


@mutant(
    "asks-keep-a-gang-failing",
    "A failing gang that is asked for more stays Failing.",
    breaks=("SI-GANG-038",),
)
@instead_of(asks.objections)
def _(
    patch: Patch,
    original: Callable[..., Iterator[str]],
    partition: Any,
    application: Application | None,
    ask: Any,
) -> Iterator[str]:
    reasons = list(original(partition, application, ask))
    if application is None or application.state is not ApplicationState.FAILING:
        return iter(reasons)
    patch.fires()
    return (reason for reason in reasons if not reason.endswith("is failing"))


@mutant(
    "parked-asks-of-running-gangs-time-out",
    "At the timeout the real asks that await a confirmation are dropped if the gang runs.",
    breaks=("SI-GANG-066",),
)
@instead_of(timeout.expire)
def _(
    patch: Patch, original: Original, partition: Any, application: Any, now: float
) -> list[Effect]:
    effects = original(partition, application, now)
    held = partition.allocations.of(application).values()
    if any(not one.is_placeholder for one in held):
        for pending in [one for one in application.pending.values() if one.awaiting]:
            patch.fires()
            partition.asks.drop(pending)
    return effects
