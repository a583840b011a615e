"""Mutants: releases of the scheduler."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from sirm.core import confirmations, nodes, releases
from sirm.core.cluster import Container
from sirm.core.model import Effect, Release, Termination
from sirm.core.state import State

from mutation.mutant import rm_mutant, rm_variant
from mutation.patching import Patch, instead_of

CarryOut: TypeAlias = Callable[[State, Container, Termination, float], list[Effect]]
LastRelease: TypeAlias = Callable[[State, Container], list[Release]]


@rm_mutant(
    "rm-release-unconfirmed",
    "A release of the scheduler is carried out without a confirmation.",
    breaks=("SI-REL-008",),
)
@instead_of(confirmations.last_release)
def _(patch: Patch, original: LastRelease, state: State, container: Container) -> list[Release]:
    was_begun = container.key in state.knowledge.releases
    sent = original(state, container)
    if was_begun:
        patch.fires()
        return []
    return sent


@rm_mutant(
    "rm-confirms-as-stopped-by-rm",
    "A release of the scheduler is confirmed with the type STOPPED_BY_RM.",
    breaks=("SI-REL-008",),
)
def _(patch: Patch) -> None:
    def confirmation(
        original: Callable[[Container, Termination], Release],
        container: Container,
        began: Termination,
    ) -> Release:
        patch.fires()
        return replace(original(container, began), termination=Termination.STOPPED_BY_RM)

    patch.instead_of(confirmations.confirmation, confirmation)


@rm_mutant(
    "rm-confirms-and-keeps-running",
    "A release of the scheduler is confirmed, and the container keeps running.",
    breaks=("SI-REL-008",),
)
def _(patch: Patch) -> None:
    def carry_out(
        _original: CarryOut, _state: State, container: Container, began: Termination, _now: float
    ) -> list[Effect]:
        patch.fires()
        return [confirmations.confirmation(container, began)]

    patch.instead_of(releases.carry_out, carry_out)


@rm_mutant(
    "rm-confirms-replaced-placeholders-at-once",
    "A release of a placeholder for a real container is confirmed before the placeholder is gone.",
    breaks=("SI-REL-008",),
)
def _(patch: Patch) -> None:
    def carry_out(
        original: CarryOut, state: State, container: Container, began: Termination, now: float
    ) -> list[Effect]:
        effects = original(state, container, began, now)
        if began is not Termination.PLACEHOLDER_REPLACED or not container.is_allocated:
            return effects
        patch.fires()
        return [*effects, *confirmations.last_release(state, container)]

    patch.instead_of(releases.carry_out, carry_out)


@rm_mutant(
    "rm-answers-ask-releases-as-allocations",
    "The release of an ask is answered by a release of an allocation.",
    breaks=("SI-REL-024",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def confirmation(
        original: Callable[[Container, Termination], Release],
        container: Container,
        began: Termination,
    ) -> Release:
        sent = original(container, began)
        if sent.identity:
            return sent
        patch.fires()
        return replace(sent, identity=container.key)

    patch.instead_of(confirmations.confirmation, confirmation)


@rm_mutant(
    "rm-replaced-placeholder-stays",
    "A release of a placeholder for a real container is neither carried out nor confirmed.",
    breaks=("SI-REL-008",),
)
def _(patch: Patch) -> None:
    def carry_out(
        original: CarryOut, state: State, container: Container, began: Termination, now: float
    ) -> list[Effect]:
        if began is Termination.PLACEHOLDER_REPLACED:
            patch.fires()
            return []
        return original(state, container, began, now)

    patch.instead_of(releases.carry_out, carry_out)


def _releases_with_the_node(patch: Patch, termination: Termination) -> None:
    """Release the containers of a removed node, with this type."""

    def remove(original: Callable[..., list[Effect]], state: State, node_id: str) -> list[Effect]:
        lost = state.cluster.on_node(node_id)
        effects = original(state, node_id)
        if lost:
            patch.fires()
        return [*effects, *(confirmations.release(one, termination) for one in lost)]

    patch.instead_of(nodes.remove, remove)


rm_mutant(
    "rm-containers-of-a-lost-node-time-out",
    "What ran on a removed node is released with the type TIMEOUT.",
    breaks=("SI-REL-012",),
)(partial(_releases_with_the_node, termination=Termination.TIMEOUT))
rm_mutant(
    "rm-containers-of-a-lost-node-end-untyped",
    "What ran on a removed node is released without a type.",
    "REL",
    breaks=("SI-WIRE-010",),
)(partial(_releases_with_the_node, termination=Termination.UNSET))
rm_variant(
    "rm-releases-what-a-lost-node-ran",
    "What ran on a removed node is released as well.",
)(partial(_releases_with_the_node, termination=Termination.STOPPED_BY_RM))
