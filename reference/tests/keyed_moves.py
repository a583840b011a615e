"""Moves of an RM with keys as identities: requests, updates, placements, foreign allocations."""

from dataclasses import dataclass, replace
from itertools import chain

from hypothesis import strategies as st
from sireference.core.model import (
    AllocationRecord,
    Ask,
    AskedAndHeld,
    ForeignAllocation,
    OneOfKey,
    ReleaseRequest,
    RemoveApplication,
)
from sireference.core.resources import Resource
from tests import history_moves
from tests.history_moves import Together, after_an_opening, mostly, nodes, partitions


@dataclass(frozen=True)
class Again:
    """The RM names a key of a live or pending item again, with another amount."""

    choice: int  # among the known ones
    amount: Resource
    node: int | None  # index of a node; None names none, and for a live item means its own
    is_live: bool


def of_its_application(ask: Ask) -> Ask:
    """Return the move with a key no other application uses and the fields of this revision."""
    key = ask.key and f"{ask.application_id}-{ask.key}"
    return replace(ask, key=key, max_allocations=1, execution_timeout=0.0)


def under_any_key(ask: Ask) -> Ask:
    """Return the move with a key that other applications may use as well."""
    return replace(ask, max_allocations=1, execution_timeout=0.0)


def one_by_one(move: object) -> tuple[object, ...]:
    """Return this revision's equivalent of a common move."""
    if isinstance(move, Ask):
        several = (replace(move, key=f"{move.key}{one}") for one in range(move.max_allocations))
        return tuple(of_its_application(ask) for ask in several)
    if isinstance(move, tuple):
        partition, application_id, _, termination = move
        return (ReleaseRequest(partition, AskedAndHeld(application_id), termination),)
    return (move,)


few_keys = mostly([f"k{number}" for number in range(3)], "", times=4)
all_asks = st.one_of(history_moves.asks, history_moves.members, history_moves.claims)
asks = st.one_of(
    *[st.builds(lambda ask, key: of_its_application(replace(ask, key=key)), all_asks, few_keys)]
    * 9,
    all_asks.map(under_any_key),
)
records = st.builds(lambda ask, node: AllocationRecord(ask.key, ask, node), asks, nodes)
foreign_keys = mostly(["f1", "f2", "f3"], "", "k1", "a1-k1", "g1-k2", times=6)
foreign = st.builds(
    ForeignAllocation,
    foreign_keys,
    nodes,
    partitions,
    history_moves.amounts,
    is_static=st.booleans(),
    application_id=mostly([""], "a1"),
)
keys = st.builds(
    lambda application, key: OneOfKey(application, key and f"{application}-{key}"),
    history_moves.applications,
    few_keys,
)
releases = st.builds(
    ReleaseRequest,
    partitions,
    st.one_of(
        *[keys] * 4,
        st.builds(OneOfKey, history_moves.applications, foreign_keys),
        st.builds(AskedAndHeld, history_moves.applications),
        *[st.builds(OneOfKey, st.just(""), foreign_keys)] * 2,
    ),
    history_moves.terminations,
)
again = st.builds(
    Again,
    st.integers(0, 20),
    history_moves.amounts,
    st.none() | st.integers(0, 3),
    is_live=st.sampled_from([True, True, False]),
)
sent_together = st.lists(
    st.one_of(*[asks] * 3, records, *[again] * 3, foreign, releases, history_moves.confirmations),
    min_size=2,
    max_size=6,
)
moves = st.one_of(
    *[history_moves.bare_nodes] * 2,
    history_moves.submissions,
    *[asks] * 10,
    *[records] * 3,
    *[again] * 8,
    *[foreign] * 3,
    *[releases] * 3,
    *[history_moves.confirmations] * 4,
    st.builds(RemoveApplication, history_moves.applications, partitions),
    sent_together.map(lambda those: Together(tuple(those))),
    *[st.one_of(st.floats(0.1, 40), st.just(31.0))] * 3,
)
openings = history_moves.openings.map(
    lambda opening: [*chain.from_iterable(map(one_by_one, opening))]
)


histories = after_an_opening(moves, openings=openings) | after_an_opening(
    *[moves] * 15, history_moves.updates, openings=openings
)
asked_histories = after_an_opening(
    *[moves] * 6,
    *[history_moves.answers] * 6,
    history_moves.updates,
    history_moves.offers,
    openings=openings,
)
