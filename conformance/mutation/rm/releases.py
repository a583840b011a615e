"""Mutants: releases of the scheduler."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from sirm.core import confirmations
from sirm.core.cluster import Container
from sirm.core.model import Release, Termination
from sirm.core.state import State

from mutation.altering import Inside
from mutation.mutant import rm_mutant

LastRelease: TypeAlias = Callable[[State, Container], list[Release]]


@rm_mutant(
    "rm-release-unconfirmed",
    "A release of the scheduler is carried out without a confirmation.",
    breaks=("SI-REL-008",),
)
def _(inside: Inside) -> None:
    def last_release(original: LastRelease, state: State, container: Container) -> list[Release]:
        was_begun = container.key in state.knowledge.releases
        releases = original(state, container)
        if was_begun:
            inside.fires()
            return []
        return releases

    inside.instead_of(confirmations.last_release, last_release)


@rm_mutant(
    "rm-confirms-as-stopped-by-rm",
    "A release of the scheduler is confirmed with the type STOPPED_BY_RM.",
    breaks=("SI-REL-008",),
)
def _(inside: Inside) -> None:
    def confirmation(
        original: Callable[[Container, Termination], Release],
        container: Container,
        began: Termination,
    ) -> Release:
        inside.fires()
        return replace(original(container, began), termination=Termination.STOPPED_BY_RM)

    inside.instead_of(confirmations.confirmation, confirmation)
