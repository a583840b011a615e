"""Liveness: after any messages in any order, every ask that could be placed is placed."""

from typing import Final

from hypothesis import HealthCheck, Phase, event, given, note, settings
from hypothesis import strategies as st
from sireference.core.scheduler import Scheduler
from tests.example_settings import example_settings
from tests.histories import Player
from tests.keyed_histories import KeyedPlayer
from tests.keyed_small_histories import keyed_world
from tests.preemption_histories import preemption_world
from tests.quiescence import finished_applications_hold_nothing, settle
from tests.restarts import Restart, left_over, restart
from tests.serving import nothing_fits
from tests.small_histories import LENGTH, SETTINGS, World, world
from tests.test_histories import accounting_balances

_MANY: Final = settings(
    example_settings("SIREFERENCE_HISTORIES", 800),  # `nox -s liveness`: more
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
spelled: Final = st.binary(min_size=LENGTH, max_size=LENGTH)


def _play(player: Player, small: World) -> None:
    """Assert after each move, and at quiescence, that no waiting ask could be placed."""
    for move in small.moves:
        note(move)
        player.play(move)
        for partition in player.partitions:
            nothing_fits(partition)
            accounting_balances(partition)
            finished_applications_hold_nothing(partition)
    settle(player)
    for partition in player.partitions:
        nothing_fits(partition)


@given(spelled.map(world) | spelled.map(preemption_world))
@_MANY
def test_every_possible_allocation_is_made(small: World) -> None:
    _play(Player(Scheduler(SETTINGS), queues=small.queues), small)


@given(spelled.map(keyed_world))
@_MANY
def test_every_possible_allocation_is_made_where_the_key_is_the_identity(small: World) -> None:
    _play(KeyedPlayer(scheduler=Scheduler(SETTINGS), queues=small.queues), small)


@given(spelled.map(restart))
@_MANY
def test_order_of_recovery_does_not_change_what_is_served(small: Restart) -> None:
    for sent in (*small.applications, *small.mixed()):
        note(sent)
    if left_over(small, small.in_order()):
        event("not all there is can be served")  # which one depends on the order
        left_over(small, small.mixed())
        return

    assert left_over(small, small.mixed()) == []
