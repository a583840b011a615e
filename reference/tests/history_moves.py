"""Moves of an RM in random histories: sane, odd and hostile."""

from dataclasses import dataclass, replace
from typing import Any, Final

from hypothesis import strategies as st
from sireference.core.model import (
    AllocationRecord,
    Ask,
    Callback,
    NewApplication,
    NodeInfo,
    PreemptionPolicy,
    RemoveApplication,
)
from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
    TargetOperator,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction, TerminationType
from tests.driving import of_asks
from tests.history_queues import OTHER_QUEUES, QUEUES

INT64: Final = 2**63 - 1


@dataclass(frozen=True)
class Confirmation:
    """The RM confirms a release of the scheduler, by default with its own type."""

    choice: int  # into the known ones, latest first
    other_type: TerminationType | None


@dataclass(frozen=True)
class Answer:
    """The RM answers a callback; ``index`` is the last victim that has to go."""

    suits: bool
    index: int
    is_observed: bool  # False: answers a question that was never asked


@dataclass(frozen=True)
class Together:
    """Several moves with asks and allocations in one message."""

    moves: tuple[Any, ...]


def mostly(usual: list[object], *odd: object, times: int = 6) -> st.SearchStrategy[Any]:
    """Draw mostly a usual value, sometimes an odd one."""
    return st.sampled_from(usual * times + list(odd))


sane = st.dictionaries(st.just("memory"), st.integers(1, 4), min_size=1)
odd = st.dictionaries(
    st.sampled_from(["memory", "vcore", "gpu"]), mostly([0, 1, 7], -1, INT64, -INT64 - 1, times=2)
)
amounts = st.one_of(sane, sane, sane, sane, odd).map(Resource)
partitions = mostly(["default"], "other", "nope", times=20)
applications = mostly(["a1", "a2", "a3", "g1", "g2", "g3"], "b1", "a4", "", times=3)
nodes = mostly(["n1", "n2", "n3"], "")
keys = mostly([f"k{number}" for number in range(8)], "", times=2)
terminations = mostly(
    [TerminationType.STOPPED_BY_RM, TerminationType.TIMEOUT], *TerminationType, times=3
)
timeouts = mostly([0.0, 2.0], -1.0, 50.0, times=2)
policies = mostly(
    [None, PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)],
    PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=True),
    PreemptionPolicy(),
    times=1,
)
targets = st.lists(
    st.builds(
        TargetExpression,
        st.sampled_from(["zone", "app"]),
        mostly([TargetOperator.IN], *TargetOperator, times=3),
        st.frozensets(st.sampled_from(["a", "b"]), min_size=1),
    ),
    max_size=2,
).map(tuple)
constraints = st.builds(
    PlacementConstraint,
    st.just(()) | targets,
    st.builds(
        AllocationAffinity,
        mostly(["zone"], "host"),
        targets,
        mostly([0, 1], 2, -1, times=3),
        mostly([None, 1], 2, times=2),
        st.sampled_from([True, True, False]),
    ),
)
tags = mostly([{"app": "a"}], {"app": "b"}, {}, times=2)
attributes = mostly([{}], {"zone": "a"}, {"zone": "b", "host": "h"}, times=1)
# an identity is drawn by its index among the known ones; or none, or an unknown one
choices = st.one_of(st.integers(0, 50), st.integers(0, 50), mostly(["", "zzz"]))

asks = st.builds(
    Ask,
    keys,
    applications,
    partitions,
    resource=amounts,
    max_allocations=mostly([1, 2, 3], 0, -1),
    priority=st.integers(-1, 1),
    execution_timeout=timeouts,
    tags=tags,
    required_node=mostly([""], "n2", "nX"),
    preemption_policy=policies,
    constraint=st.none() | constraints,
)
members = st.builds(
    Ask,
    keys,
    mostly(["g1", "g1", "g2", "g2", "g3"], "a1", times=2),
    resource=st.one_of(amounts, st.just(Resource({"memory": 2}))),
    max_allocations=mostly([1, 2], 3),
    priority=st.integers(-1, 1),
    task_group=mostly(["tg"], "tg2", "", times=4),
    tags=tags,
    placeholder=st.booleans(),
    preemption_policy=policies,
    constraint=st.none() | st.none() | constraints,
)
claims = st.builds(
    Ask,
    keys,
    mostly(["a3"], "a1", "g1"),
    resource=st.one_of(amounts, st.builds(lambda n: Resource({"memory": n}), st.integers(1, 4))),
    max_allocations=mostly([1], 2),
    priority=st.integers(-1, 2),
    required_node=mostly([""], "n2"),
    preemption_policy=st.just(PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)),
)
existing = st.builds(
    AllocationRecord, mostly(["old1", "old2", "old3"], "", times=4), st.one_of(asks, members), nodes
)
bare_nodes = st.builds(
    NodeInfo,
    nodes,
    mostly(
        [NodeAction.CREATE, NodeAction.UPDATE, NodeAction.DRAIN_TO_SCHEDULABLE],
        *NodeAction,
        times=2,
    ),
    partitions,
    attributes,
    capacity=st.none() | amounts,
    occupied=mostly([None], Resource({"memory": 1}), Resource({"memory": -1})),
)


def recovered(info: NodeInfo, allocations: list[AllocationRecord], *, is_sane: bool) -> NodeInfo:
    """Draw a node that comes with allocations, its own if the RM is sane."""
    if is_sane:
        allocations = [replace(allocation, node_id=info.node_id) for allocation in allocations]
    return replace(info, allocations=tuple(allocations))


node_infos = st.one_of(
    bare_nodes,
    st.builds(
        recovered,
        bare_nodes,
        st.lists(existing, min_size=1, max_size=2),
        is_sane=st.sampled_from([True, True, True, False]),
    ),
)
submissions = st.builds(
    NewApplication,
    applications,
    mostly(["root.quota", "root.few", "root.parent.l", "root.parent.r"], "nope"),
    partitions,
    mostly(["", "bob"]),
    mostly([(), ("devs",)]),
    execution_timeout=timeouts,
    placeholder_ask=st.none() | amounts,
    gang_style=mostly(["hard", "Soft"], ""),
)
releases = st.tuples(partitions, applications, choices, terminations)
confirmations = st.builds(
    Confirmation, st.integers(0, 20), st.none() | st.none() | st.sampled_from(TerminationType)
)
ask_releases = st.builds(of_asks, applications, keys, terminations, partitions)
sent_together = st.lists(
    st.one_of(asks, members, claims, releases, confirmations, ask_releases, existing),
    min_size=2,
    max_size=6,
)
moves = st.one_of(
    node_infos,
    submissions,
    *[asks] * 5,
    *[members] * 5,
    *[claims] * 4,
    *[releases] * 3,
    *[confirmations] * 4,
    st.builds(RemoveApplication, applications, partitions),
    ask_releases,
    existing,
    sent_together.map(lambda those: Together(tuple(those))),
    *[st.one_of(st.floats(0.1, 40), st.just(31.0))] * 3,
)
opening: list[Any] = [
    NodeInfo("n1", NodeAction.CREATE, capacity=Resource({"memory": 8})),
    NodeInfo("n2", NodeAction.CREATE, capacity=Resource({"memory": 8, "gpu": 1})),
    NewApplication("a1", "root.quota", execution_timeout=30.0),
    NewApplication("a2", "root.few"),
    NewApplication("a3", "root.parent.l"),
    NewApplication("b1", "root.parent.r"),
    NewApplication("g1", "root.parent.r", placeholder_ask=Resource({"memory": 4})),
    NewApplication("g2", "root.few", gang_style="hard"),
    NewApplication("g3", "root.quota"),
    NewApplication("done", "root.quota"),
    Ask("k", "done", resource=Resource({"memory": 1})),
    ("default", "done", "", TerminationType.STOPPED_BY_RM),
    Ask("k", "b1", resource=Resource({"memory": 1}), max_allocations=5),
    *(
        Ask(
            f"p{number}",
            application,
            resource=Resource({"memory": amount}),
            max_allocations=most,
            task_group="tg",
            placeholder=True,
        )
        for number, application, amount, most in (
            (1, "g1", 2, 2),
            (2, "g2", 2, 1),
            (3, "g2", 2, 2),
            (4, "g3", 3, 2),
        )
    ),
]
begun: list[Any] = [  # g1 has a real member and a placeholder that is not needed
    *opening,
    Ask("r", "g1", resource=Resource({"memory": 2}), task_group="tg"),
    Confirmation(0, None),
]
openings = st.sampled_from([opening, opening, begun])
updates = st.sampled_from([QUEUES, *OTHER_QUEUES])


def after_an_opening(
    *of: st.SearchStrategy[Any], openings: st.SearchStrategy[list[Any]] = openings
) -> st.SearchStrategy[list[Any]]:
    """Draw some of these moves after one of the openings."""
    rest = st.lists(st.one_of(*of), min_size=20, max_size=60)
    return st.builds(lambda first, then: first + then, openings, rest)


histories = after_an_opening(moves) | after_an_opening(*[moves] * 15, updates)
answers = st.builds(
    Answer,
    suits=st.sampled_from([True, True, False]),
    index=st.integers(-1, 2),
    is_observed=st.sampled_from([True, True, True, False]),
)
offers = st.frozensets(st.sampled_from(Callback))
asked_histories = after_an_opening(*[moves] * 6, *[answers] * 6, updates, offers)
