"""Random histories of several RMs that come, are lost and come again."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from hypothesis_profiles import examples
from sireference.configuration.model import Configuration
from sireference.core.model import (
    ConnectionLost,
    Effect,
    NewAllocation,
    Refused,
    Register,
    RejectedAllocation,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    ReleasedAllocation,
    ReleasedAsk,
    ShutDown,
    UpdatedApplication,
)
from sireference.core.scheduler import Scheduler
from sireference.core.snapshot import Snapshot
from sireference.core.states import ApplicationState, RMState, TerminationType
from tests.driving import of
from tests.example_settings import is_quick
from tests.histories import SETTINGS, Player
from tests.history_moves import Together, histories
from tests.history_queues import QUEUES

Effects = list[list[Effect]]


def in_own_words(effects: Effects) -> Effects:
    """Return the effects with identities of allocations numbered in order of appearance."""
    own: dict[str, str] = {}

    def word(identity: str) -> str:
        return own.setdefault(identity, f"#{len(own)}") if identity.isdigit() else identity

    def translated(effect: Effect) -> Effect:
        if isinstance(effect, NewAllocation):
            identity = word(effect.allocation.identity)
            return replace(effect, allocation=replace(effect.allocation, identity=identity))
        if isinstance(effect, ReleasedAllocation):
            identity = word(effect.release.identity)
            return replace(effect, release=replace(effect.release, identity=identity))
        return effect

    return [[translated(effect) for effect in step] for step in effects]


@given(histories, histories, st.lists(st.booleans(), min_size=20, max_size=60))
@settings(max_examples=examples(40))
def test_resource_managers_do_not_see_each_other(
    history: list[object], others: list[object], turns: list[bool]
) -> None:
    alone = Player().plays(history)
    scheduler = Scheduler(SETTINGS)
    first, second = Player(scheduler), Player(scheduler, "other")
    rest = list(others)

    for move, is_others_turn in zip(history, turns * len(history), strict=False):
        if is_others_turn and rest and not isinstance(rest[0], float):
            second.now = first.now
            second.play(rest.pop(0))
        first.play(move)

    assert in_own_words(first.effects) == in_own_words(alone.effects)


@given(histories, histories)
@settings(max_examples=examples(40))
def test_registering_again_starts_from_nothing(before: list[object], history: list[object]) -> None:
    earlier = Player().plays(before)

    again = Player(earlier.scheduler, now=earlier.now).plays(history)

    fresh = Player(now=earlier.now).plays(history)
    assert in_own_words(again.effects) == in_own_words(fresh.effects)
    assert without_identities(again) == without_identities(fresh)


def without_identities(player: Player) -> Any:
    held = player.scheduler.snapshot(player.rm_id)
    applications = [
        (one.application_id, one.state, one.queue, one.pending_keys, one.allocated_real)
        for one in held.applications
    ]
    return held.nodes, held.queues, applications


@given(histories, histories, st.sampled_from([ConnectionLost, ShutDown]))
@settings(max_examples=examples(40))
def test_lost_rm_is_not_served_and_leaves_nothing(
    history: list[object], more: list[object], end: type[ConnectionLost | ShutDown]
) -> None:
    player = Player().plays(history)
    player.receives(player.scheduler.handle(end("rm"), player.now))
    sent = len(player.effects)

    for move in more:
        if isinstance(move, float):
            player.play(move)
        elif not isinstance(move, Configuration):  # accepted while the RM is paused
            event = player.event(move)
            assert of(player.scheduler.handle(event, player.now), Refused)
    player.play(100.0)

    assert not any(player.effects[sent:])
    (rm,) = player.scheduler.rms.all()
    assert rm.state is RMState.STOPPED
    assert not rm.partitions
    player.play(rm.settings.stopped_retention)
    assert not any(player.effects[sent:])
    assert player.scheduler.rms.all() == []
    assert player.scheduler.next_deadline() is None
    assert player.scheduler.handle(Register("rm", QUEUES), player.now)


def held(player: Player) -> Snapshot:
    return player.scheduler.snapshot(player.rm_id)


@given(histories)
@settings(max_examples=examples(60))
def test_rejection_changes_nothing(history: list[object]) -> None:
    player = Player()
    for move in history:
        before = held(player)
        player.play(move)
        effects = player.effects[-1]
        if isinstance(move, Together):
            continue  # other items of the message may have been accepted silently
        if effects and all(isinstance(effect, REJECTIONS) for effect in effects):
            assert held(player) == before


REJECTIONS = (RejectedNode, RejectedApplication, RejectedAsk, RejectedAllocation, Refused)


def test_histories_cover_every_kind_of_effect() -> None:
    missing = {*EVERYTHING}

    def is_enough(history: list[object]) -> bool:
        seen = {
            what for step in Player().plays(history).effects for one in step for what in about(one)
        }
        assert seen <= EVERYTHING
        missing.difference_update(seen)
        return is_quick() and not missing  # ci covers the rest as well

    always_the_same = settings(
        max_examples=150, derandomize=True, database=None, phases=[Phase.generate]
    )
    with suppress(NoSuchExample):
        find(histories, is_enough, settings=always_the_same)

    assert missing == set()


def about(effect: Effect) -> Iterator[type | TerminationType | ApplicationState]:
    """Return the visible part of an effect: its kind, an allocation's end, a state."""
    if type(effect) in KINDS:
        yield type(effect)
    if isinstance(effect, ReleasedAllocation):
        yield effect.release.termination
    if isinstance(effect, UpdatedApplication):
        yield effect.state


KINDS: Final = (*REJECTIONS, NewAllocation, ReleasedAsk)
EVERYTHING: Final = {
    *KINDS,
    TerminationType.STOPPED_BY_RM,
    TerminationType.TIMEOUT,
    TerminationType.PREEMPTED_BY_SCHEDULER,
    TerminationType.PLACEHOLDER_REPLACED,
    # the answer to a new one differs, and an expired one takes days
    *set(ApplicationState) - {ApplicationState.NEW, ApplicationState.EXPIRED},
}
