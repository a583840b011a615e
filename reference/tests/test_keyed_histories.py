"""Random histories in which the key is the identity."""

from dataclasses import replace
from typing import Final

from hypothesis import given
from sireference.core.model import (
    AllocationRecord,
    AskedAndHeld,
    Callback,
    ReleaseRequest,
)
from sireference.core.state.partition import Partition
from sireference.core.states import ApplicationState, TerminationType
from tests.example_settings import example_settings
from tests.history_moves import Answer, Together
from tests.keyed_histories import KeyedPlayer
from tests.keyed_moves import asked_histories, histories
from tests.quiescence import answer_everything, remove_everything
from tests.serving import nothing_fits
from tests.test_histories import (
    CHECKS,
    INVARIANTS,
    accounting_balances,
    assert_within_limits,
    nothing_is_left,
)

_SOME: Final = example_settings("SIREFERENCE_KEYED_HISTORIES", 60)


def keys_identify(partition: Partition) -> None:
    """Check that each key has one meaning: live, asked for, or foreign."""
    asked_for = [
        key for application in partition.applications.values() for key in application.pending
    ]
    assert len(asked_for) == len(set(asked_for))
    assert not set(asked_for) & set(partition.allocations.all)
    assert not any(key in partition.foreign for key in (*asked_for, *partition.allocations.all))
    for key, live in partition.allocations.all.items():
        assert key == live.record.identity == live.record.ask.key


# requirement: SI-ASK-027
@given(histories)
@_SOME
def test_keys_and_accounting_are_consistent_and_nothing_else_fits(history: list[object]) -> None:
    KeyedPlayer().plays(history, keys_identify, *CHECKS)


class Overcommit(KeyedPlayer):
    """Checks that the scheduler places nothing without capacity."""

    is_simple = True  # a message with several entries may have other causes

    def watch_served(self, allocation: AllocationRecord) -> None:
        if self.is_simple:
            assert_within_limits(self, allocation)


@given(histories)
@_SOME
def test_new_allocations_stay_within_all_limits(history: list[object]) -> None:
    player = Overcommit()
    for move in history:
        player.is_simple = not isinstance(move, Together)
        player.play(move)


@given(histories)
@_SOME
def test_same_history_has_the_same_effects(history: list[object]) -> None:
    once, again = (KeyedPlayer().plays(history) for _ in range(2))

    assert once.effects == again.effects


@given(histories)
@_SOME
def test_nothing_is_left_when_everything_is_removed(history: list[object]) -> None:
    player = KeyedPlayer().plays(history)

    remove_everything(player)

    nothing_is_left(player)


@given(histories)
@_SOME
def test_nothing_is_left_when_everything_is_released(history: list[object]) -> None:
    player = KeyedPlayer().plays(history)

    for partition in player.partitions:
        for application_id in list(partition.applications):
            everything = AskedAndHeld(application_id)
            stopped = TerminationType.STOPPED_BY_RM
            player.play(ReleaseRequest(partition.name, everything, stopped))
    player.play(1000.0)

    for partition in player.partitions:
        accounting_balances(partition)
        for application in partition.applications.values():
            assert application.state is ApplicationState.NEW


@given(asked_histories)
@_SOME
def test_accounting_balances_while_questions_are_open(history: list[object]) -> None:
    player = KeyedPlayer(callbacks=frozenset(Callback))

    player.plays(history, keys_identify, *INVARIANTS)

    remove_everything(player)
    nothing_is_left(player)


@given(asked_histories)
@_SOME
def test_agreeing_rm_gets_every_possible_allocation(history: list[object]) -> None:
    player = KeyedPlayer(callbacks=frozenset(Callback))
    agreeing: list[object] = [
        replace(move, suits=True) if isinstance(move, Answer) else move for move in history
    ]
    player.plays(agreeing)

    answer_everything(player)

    for partition in player.partitions:
        assert not partition.proposals
        nothing_fits(partition)
