"""Mutants of the ends of gangs, by timeout or without use."""

from collections.abc import Callable
from typing import Any

from sireference.core import application_lifecycle
from sireference.core.gang import completion, timeout
from sireference.core.model import Effect

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
