"""Mutants: how releases are answered, and which types and names they have."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from sirm.codec import r2021_02
from sirm.codec.codec import Codec
from sirm.core import confirmations, releases
from sirm.core.cluster import Container
from sirm.core.model import Effect, FromScheduler, Release, Released, Termination
from sirm.core.state import State
from sirm.core.states import ContainerState

from mutation.mutant import rm_mutant
from mutation.patching import Patch, instead_of

CarryOut: TypeAlias = Callable[[State, Container, Termination, float], list[Effect]]
Covered: TypeAlias = Callable[[State, Released], list[Container]]
Confirmed: TypeAlias = Callable[[State, Released, float], list[Effect]]


@rm_mutant(
    "rm-confirms-before-the-end",
    "A release of the scheduler is confirmed when the container begins to stop.",
    breaks=("SI-REL-008",),
)
def _(patch: Patch) -> None:
    def carry_out(
        original: CarryOut, state: State, container: Container, kind: Termination, now: float
    ) -> list[Effect]:
        effects = original(state, container, kind, now)
        if container.state is not ContainerState.STOPPING:
            return effects
        patch.fires()
        return [*effects, *confirmations.last_release(state, container)]

    patch.instead_of(releases.carry_out, carry_out)


@rm_mutant(
    "rm-takes-the-first-release-of-a-message",
    "Of several releases in one message only the first is carried out.",
    breaks=("SI-REL-008",),
)
def _(patch: Patch) -> None:
    def events(
        original: Callable[[Codec, str, Any], list[FromScheduler]],
        self: Codec,
        method: str,
        response: Any,
    ) -> list[FromScheduler]:
        read = original(self, method, response)
        further = [one for one in read if isinstance(one, Released)][1:]
        if further:
            patch.fires()
        return [one for one in read if one not in further]

    patch.instead_of(Codec.events, events)


@rm_mutant(
    "rm-answers-confirmations",
    "The confirmation of a release of the RM is answered by the same message.",
    breaks=("SI-REL-010",),
)
def _(patch: Patch) -> None:
    def confirmed(original: Confirmed, state: State, event: Released, now: float) -> list[Effect]:
        patch.fires()
        answer = Release(event.application_id, event.key, event.identity, event.termination)
        return [*original(state, event, now), answer]

    patch.instead_of(releases.confirmed, confirmed)


@rm_mutant(
    "rm-begins-timeouts",
    "A release that the RM begins has the type TIMEOUT.",
    breaks=("SI-REL-012",),
)
@instead_of(confirmations.origination)
def _(patch: Patch, original: Callable[[Container], Release], container: Container) -> Release:
    patch.fires()
    return replace(original(container), termination=Termination.TIMEOUT)


@rm_mutant(
    "rm-releases-asks-without-partition",
    "The release of an ask names no partition.",
    breaks=("SI-REL-020",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def release(
        original: Callable[[Container, Termination], Release],
        container: Container,
        kind: Termination,
    ) -> Release:
        made = original(container, kind)
        if made.identity:
            return made
        patch.fires()
        return replace(made, partition="")

    patch.instead_of(confirmations.release, release)


@rm_mutant(
    "rm-ends-one-of-an-application",
    "A release without identity ends only the first container of the application.",
    breaks=("SI-REL-022",),
)
@instead_of(releases.covered)
def _(patch: Patch, original: Covered, state: State, event: Released) -> list[Container]:
    subjects = original(state, event)
    if len(subjects) > 1:
        patch.fires()
    return subjects[:1]


@rm_mutant(
    "rm-ends-all-applications",
    "A release without identity ends the containers of every application.",
    breaks=("SI-REL-022",),
)
@instead_of(releases.covered)
def _(patch: Patch, original: Covered, state: State, event: Released) -> list[Container]:
    if event.key or event.identity:
        return original(state, event)
    patch.fires()
    return list(state.cluster.containers.values())


def _instead_of_ending(
    patch: Patch, answer: Callable[[Container, Termination], list[Effect]]
) -> None:
    """Answer the release of an ask in this way; its container waits on."""

    def carry_out(
        original: CarryOut, state: State, container: Container, kind: Termination, now: float
    ) -> list[Effect]:
        if container.state is not ContainerState.WAITING:
            return original(state, container, kind, now)
        patch.fires()
        return answer(container, kind)

    patch.instead_of(releases.carry_out, carry_out)


rm_mutant(
    "rm-ignores-released-asks",
    "The release of an ask by the scheduler is ignored.",
    breaks=("SI-REL-024",),
)(partial(_instead_of_ending, answer=lambda _container, _kind: []))
rm_mutant(
    "rm-keeps-released-asks",
    "The release of an ask is answered, and its container waits on.",
    breaks=("SI-REL-024",),
)(partial(_instead_of_ending, answer=lambda *release: [confirmations.confirmation(*release)]))


@rm_mutant(
    "rm-takes-no-type-for-preemption",
    "A release without type is read as a preemption.",
    breaks=("SI-WIRE-009",),
    revision="2021-02",
)
@instead_of(r2021_02.termination)
def _(patch: Patch, original: Callable[[int], Termination], number: int) -> Termination:
    if number:
        return original(number)
    patch.fires()
    return Termination.PREEMPTED_BY_SCHEDULER
