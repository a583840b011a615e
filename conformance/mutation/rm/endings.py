"""Permitted variants: how an RM ends, confirms and resizes what it runs."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from google.protobuf.message import Message
from sirm.codec.codec import Codec
from sirm.core import applications, releases, updates
from sirm.core.cluster import Application, Container
from sirm.core.model import Effect, Release, Released, Resource, Update
from sirm.core.state import State
from sirm.core.states import ContainerState

from mutation.mutant import rm_variant
from mutation.patching import Patch, instead_of

Requests: TypeAlias = Callable[[Codec, Iterable[Update], str], Iterator[tuple[str, Message]]]


@rm_variant("rm-repeats-releases", "Every release is sent twice.")
@instead_of(Codec.requests)
def _(
    patch: Patch, original: Requests, self: Codec, sent: Iterable[Update], rm_id: str
) -> Iterator[tuple[str, Message]]:
    sent = list(sent)
    yield from original(self, sent, rm_id)
    if again := [one for one in sent if isinstance(one, Release)]:
        patch.fires()
        yield from original(self, again, rm_id)


@rm_variant(
    "rm-confirms-by-the-same-message",
    "A release without identity is confirmed by one message without identity.",
)
def _(patch: Patch) -> None:
    def release(
        original: Callable[[State, Released, float], list[Effect]],
        state: State,
        event: Released,
        now: float,
    ) -> list[Effect]:
        effects = original(state, event, now)
        if event.key or event.identity:
            return effects
        patch.fires()
        confirmed = [one for one in effects if isinstance(one, Release)]
        others = [one for one in effects if one not in confirmed]
        everything = Release(event.application_id, "", "", event.termination)
        return [everything, *others] if confirmed else effects

    patch.instead_of(releases.release, release)


@rm_variant(
    "rm-withdraws-no-asks",
    "When an application ends, its asks end with it and have no release of their own.",
    revision="2023-12",
)
def _(patch: Patch) -> None:
    def end(
        original: Callable[[State, Application, float], list[Effect]],
        state: State,
        application: Application,
        now: float,
    ) -> list[Effect]:
        patch.fires()
        waiting = {
            key
            for key, one in application.containers.items()
            if one.state is ContainerState.WAITING and key not in state.knowledge.releases
        }
        effects = original(state, application, now)
        return [one for one in effects if not (isinstance(one, Release) and one.key in waiting)]

    patch.instead_of(applications.end, end)


@rm_variant("rm-reports-no-new-sizes", "A container that is resized is not reported.")
def _(patch: Patch) -> None:
    def update(
        _original: Callable[[State, Container, Resource], list[Effect]],
        _state: State,
        _container: Container,
        _before: Resource,
    ) -> list[Effect]:
        patch.fires()
        return []

    patch.instead_of(updates.update, update)
