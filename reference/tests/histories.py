"""Arbitrary histories: moves of an RM, sane, odd and hostile, and a player who makes them."""

from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st
from sireference.configuration.model import Configuration
from sireference.core.books.partition import Partition
from sireference.core.model import (
    Allocation,
    Ask,
    AskRelease,
    Effect,
    Event,
    NewAllocation,
    NewApplication,
    NodeInfo,
    PreemptionPolicy,
    Register,
    Release,
    ReleasedAllocation,
    RemoveApplication,
    Settings,
    UpdateAllocations,
    UpdateApplications,
    UpdateConfiguration,
    UpdateNodes,
)
from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
    TargetOperator,
)
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from sireference.core.states import NodeAction, TerminationType
from tests.driving import of
from tests.history_queues import OTHER_QUEUES, QUEUES

INT64: Final = 2**63 - 1


@dataclass(frozen=True)
class Confirmation:
    """The RM answers a release of the scheduler, with its type if no other is given."""

    choice: int  # among those it has heard of, the last first
    other_type: TerminationType | None


def mostly(usual: list[object], *odd: object, times: int = 6) -> st.SearchStrategy[Any]:
    """Mostly one of the usual ones, now and then an odd one."""
    return st.sampled_from(usual * times + list(odd))


sane = st.dictionaries(st.just("memory"), st.integers(1, 4), min_size=1)
odd = st.dictionaries(
    st.sampled_from(["memory", "vcore", "gpu"]), mostly([0, 1, 7], -1, INT64, -INT64 - 1, times=2)
)
amounts = st.one_of(sane, sane, sane, sane, odd).map(Resource)
partitions = mostly(["default"], "other", "nope", times=20)
applications = mostly(["a1", "a2", "a3", "g1", "g2"], "b1", "a4", "", times=3)
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
# an identity is chosen among those seen: by its place, or none, or one nobody knows
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
    mostly(["g1", "g2"], "a1", times=4),
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
node_infos = st.builds(
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
moves = st.one_of(
    node_infos,
    submissions,
    *[asks] * 5,
    *[members] * 5,
    *[claims] * 4,
    *[releases] * 3,
    *[confirmations] * 4,
    st.builds(RemoveApplication, applications, partitions),
    st.builds(AskRelease, partitions, applications, keys, terminations),
    st.builds(Allocation, mostly(["old1", "old2"], ""), st.one_of(asks, members), nodes),
    st.floats(0.1, 40),
)
opening: list[Any] = [
    NodeInfo("n1", NodeAction.CREATE, capacity=Resource({"memory": 8})),
    NodeInfo("n2", NodeAction.CREATE, capacity=Resource({"memory": 5, "gpu": 1})),
    NewApplication("a1", "root.quota", execution_timeout=30.0),
    NewApplication("a2", "root.few"),
    NewApplication("a3", "root.parent.l"),
    NewApplication("b1", "root.parent.r"),
    NewApplication("g1", "root.parent.r", placeholder_ask=Resource({"memory": 4})),
    NewApplication("g2", "root.few", gang_style="hard"),
    Ask("k", "b1", resource=Resource({"memory": 1}), max_allocations=5),
    *(
        Ask(
            f"p{number}",
            application,
            resource=Resource({"memory": 2}),
            max_allocations=most,
            task_group="tg",
            placeholder=True,
        )
        for number, application, most in ((1, "g1", 2), (2, "g2", 1), (3, "g2", 2))
    ),
]
updates = st.sampled_from([QUEUES, *OTHER_QUEUES])
histories = st.one_of(
    st.lists(moves, min_size=20, max_size=60),
    st.lists(st.one_of(*[moves] * 15, updates), min_size=20, max_size=60),
).map(lambda rest: opening + rest)


class Player:
    """Plays a history and watches what is said."""

    def __init__(self) -> None:
        self.scheduler = Scheduler(Settings(placeholder_timeout=20.0))
        self.now = 1000.0
        self.seen: list[tuple[str, str]] = []  # identity and application
        self.asked_for: list[Release] = []  # what the scheduler wants released
        self.ended: set[str] = set()
        self.effects: list[list[Effect]] = [self.scheduler.handle(Register("rm", QUEUES), self.now)]

    def play(self, move: object) -> None:
        if isinstance(move, float):
            self.now += move
            effects = self.scheduler.handle_timeout(self.now)
        elif isinstance(move, Configuration):
            effects = self.scheduler.handle(UpdateConfiguration("rm", move), self.now)
        else:
            effects = self.scheduler.handle(self.event(move), self.now)
        for effect in effects:
            if isinstance(effect, ReleasedAllocation):
                self.watch_release(effect.release)
        for new in of(effects, NewAllocation):
            self.watch_new(new.allocation)
        self.effects.append(effects)

    def event(self, move: object) -> Event:  # noqa: PLR0911  # one line a move
        match move:
            case NodeInfo():
                return UpdateNodes("rm", (move,))
            case NewApplication():
                return UpdateApplications("rm", (move,))
            case RemoveApplication():
                return UpdateApplications("rm", (), (move,))
            case Ask():
                return UpdateAllocations("rm", asks=(move,))
            case AskRelease():
                return UpdateAllocations("rm", ask_releases=(move,))
            case Allocation():
                self.ended.discard(move.identity)  # the RM may bring an identity again
                self.asked_for = [r for r in self.asked_for if r.identity != move.identity]
                return UpdateAllocations("rm", allocations=(move,))
            case Confirmation():
                return UpdateAllocations("rm", releases=self.confirmation(move))
            case (str() as partition, str() as application, choice, TerminationType() as kind):
                identity = str(choice)
                if isinstance(choice, int) and self.seen:
                    identity, application = self.seen[choice % len(self.seen)]
                release = Release(partition, application, identity, kind)
                return UpdateAllocations("rm", releases=(release,))
        raise AssertionError(move)

    def confirmation(self, move: Confirmation) -> tuple[Release, ...]:
        if not self.asked_for:
            return ()
        asked = self.asked_for[-1 - move.choice % len(self.asked_for)]
        kind = move.other_type or asked.termination
        return (Release(asked.partition, asked.application_id, asked.identity, kind),)

    def watch_new(self, allocation: Allocation) -> None:
        assert allocation.identity
        new = (allocation.identity, allocation.ask.application_id)
        assert new not in self.seen
        self.seen.append(new)

    def watch_release(self, release: Release) -> None:
        """Nothing is asked for twice, and what has ended is not heard of again."""
        assert release.identity not in self.ended
        if release.termination is TerminationType.STOPPED_BY_RM:
            self.ended.add(release.identity)
        else:
            assert release.identity not in {asked.identity for asked in self.asked_for}
            self.asked_for.append(release)

    @property
    def partitions(self) -> list[Partition]:
        return list(self.scheduler.rms.all()[0].partitions.values())
