"""Each index of the state finds what a full scan finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sireference.configuration.model import NodeSortPolicy
from sireference.core import scheduling_pass
from sireference.core.model import AllocationRecord, Ask
from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
    TargetOperator,
)
from sireference.core.resources import NOTHING, Resource
from sireference.core.state import blocks
from sireference.core.state.affinity_counts import AffinityCounts
from sireference.core.state.allocation import Allocation
from sireference.core.state.blocks import LOWER, UPPER, Blocks
from sireference.core.state.need_index import NeedIndex
from sireference.core.state.node import Node
from sireference.core.state.node_exclusions import ActiveExclusions, NodeExclusions
from sireference.core.state.node_index import NodeIndex
from sireference.core.state.placement_profile import PlacementProfile
from sireference.core.state.tagged import ByTargets, TaggedAllocations
from sireference.core.states import NodeState
from tests.driving import RM, keys

TYPES = ("memory", "vcore", "gpu")
has = st.dictionaries(st.sampled_from(TYPES), st.integers(-2, 9)).map(Resource)
needs = st.dictionaries(st.sampled_from(TYPES), st.integers(0, 9)).map(Resource)
operators = st.sampled_from([TargetOperator.IN, *TargetOperator])
targets = st.lists(
    st.builds(
        TargetExpression,
        st.sampled_from(["app", "zone"]),
        operators,
        st.frozensets(st.sampled_from("abc"), max_size=2),
    ),
    max_size=3,
).map(tuple)
tags = st.dictionaries(st.sampled_from(["app", "zone", "other"]), st.sampled_from("abc"))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_MOST", 4)
    monkeypatch.setattr(blocks, "_LEAST", 2)


def shape(
    need: Resource, node_id: str = "", constraint: PlacementConstraint | None = None
) -> PlacementProfile:
    return PlacementProfile(need.key, node_id, constraint)


def node(number: int, free: Resource = NOTHING, zone: str = "") -> Node:
    attributes = {"zone": zone} if zone else {}
    return Node(f"n{number}", number, attributes, free, NOTHING, NodeState.SCHEDULABLE)


def allocation(identity: str, sent: dict[str, str], on: Node) -> Allocation:
    ask = Ask(identity, "a1", tags=sent)
    return Allocation(AllocationRecord(identity, ask, on.node_id), None, on)  # type: ignore[arg-type]


changes = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 40), has),
        st.tuples(st.just("remove"), st.integers(0, 40), has),
        st.tuples(st.just("search"), st.just(0), needs),
        st.tuples(st.just("stop early"), st.just(0), needs),
    ),
    max_size=120,
)


@given(changes)
def test_blocks_keep_the_order_and_find_everything_that_fits(
    changes: list[tuple[str, int, Resource]],
) -> None:
    found: Blocks[tuple[int, Resource]] = Blocks(lambda member: member[1], UPPER)
    plain: dict[int, Resource] = {}
    for what, key, amount in changes:
        if key in plain and what in ("add", "remove"):
            found.remove((key,))
            del plain[key]
        if what == "add":
            found.add((key,), (key, amount))
            plain[key] = amount
        in_order = sorted(plain.items(), key=lambda member: member[0])
        assert list(found) == in_order
        if what == "search":
            fitting = [member for member in found.where(amount.fits) if amount.fits(member[1])]
            assert fitting == [member for member in in_order if amount.fits(member[1])]
        if what == "stop early":
            next((member for member in found.where(amount.fits)), None)


def test_block_is_skipped_after_a_failed_search() -> None:
    found: Blocks[tuple[int, Resource]] = Blocks(lambda member: member[1], UPPER)
    for key in range(40):
        found.add((key,), (key, Resource({"memory": 9})))
    for key in range(40):
        found.remove((key,))
        found.add((key,), (key, Resource({"memory": 1})))
    large = Resource({"memory": 2})

    for _ in found.where(large.fits):
        pass

    assert list(found.where(large.fits)) == []
    assert len(list(found.where(Resource({"memory": 1}).fits))) == 40


def test_empty_blocks_are_removed() -> None:
    found: Blocks[int] = Blocks(lambda member: Resource({"memory": member}), LOWER)
    for key in range(100):
        found.add((key,), key)

    for key in range(99):
        found.remove((key,))

    assert list(found) == [99]
    assert len(found._blocks) == 1


@given(st.lists(st.tuples(needs, st.booleans()), max_size=40), has)
def test_asks_served_by_capacity_are_found_as_one_by_one(
    waiting: list[tuple[Resource, bool]], free: Resource
) -> None:
    found: NeedIndex[PlacementProfile] = NeedIndex()
    plain: dict[PlacementProfile, Resource] = {}
    for number, (need, stays) in enumerate(waiting):
        one = shape(need, f"n{number}")
        found.add(one, need)
        plain[one] = need
        if not stays:
            found.discard(one)
            del plain[one]

    served = list(found.served_by(lambda need: need.fits(free)))

    assert len(served) == len(set(served))
    assert set(served) == {one for one, need in plain.items() if need.fits(free)}
    assert bool(found) is bool(plain)


happenings = st.lists(
    st.tuples(st.sampled_from(["find", "change", "close"]), st.integers(0, 9), has, needs),
    max_size=60,
)


@given(happenings)
def test_first_node_in_order_with_capacity_is_found(
    happenings: list[tuple[str, int, Resource, Resource]],
) -> None:
    known = {f"n{number}": node(number) for number in range(8)}
    capacity = NodeIndex(NodeSortPolicy(), known, AffinityCounts({}))
    for what, number, free, need in happenings:
        one = known.get(f"n{number}")
        if what == "find":
            requires = shape(need, "" if number % 2 else f"n{number}")
            first = next((each for each in capacity.index if fits(requires, need, each)), None)
            before = capacity.looked_at
            assert capacity.find(requires, need) is first
            assert capacity.looked_at - before <= (1 if requires.required_node else len(known))
        elif one is not None and what == "change":
            one.free = free
            capacity.capacity_freed(one)
        elif one is not None:
            capacity.closed(one)
            assert one not in capacity.index


def fits(requires: PlacementProfile, need: Resource, one: Node) -> bool:
    return need.fits(one.free) and requires.required_node in ("", one.node_id)


@given(st.lists(st.tuples(tags, st.booleans()), max_size=30), targets)
def test_matching_allocations_are_found_by_tag(
    sent: list[tuple[dict[str, str], bool]], targets: tuple[TargetExpression, ...]
) -> None:
    there: dict[str, Allocation] = {}
    tagged = TaggedAllocations(there)
    for number, (tags, stays) in enumerate(sent):
        live = allocation(f"i{number}", tags, node(0))
        there[f"i{number}"] = live
        tagged.add(live)
        if not stays:
            del there[f"i{number}"]
            tagged.discard(live)

    found = [live.record.identity for live in tagged.matching(targets)]

    assert sorted(found) == sorted(
        identity
        for identity, live in there.items()
        if all(target.holds(live.record.ask.tags) for target in targets)
    )


@given(st.lists(st.tuples(targets, st.booleans()), max_size=30), tags)
def test_asks_whose_targets_may_match_are_found_by_allocation_tags(
    wanted: list[tuple[tuple[TargetExpression, ...], bool]], tags: dict[str, str]
) -> None:
    found: ByTargets[int] = ByTargets()
    for number, (targets, stays) in enumerate(wanted):
        found.add(number, targets)
        if not stays:
            found.discard(number, targets)

    may_match = list(found.possible_matches(tags))

    assert len(may_match) == len(set(may_match))
    assert set(may_match) >= {
        number
        for number, (targets, stays) in enumerate(wanted)
        if stays and all(target.holds(tags) for target in targets)
    }


affinities = st.builds(
    AllocationAffinity,
    st.just("zone"),
    targets,
    st.integers(0, 2),
    st.none() | st.integers(0, 2),
    st.booleans(),
)


@given(
    st.lists(st.tuples(affinities, st.booleans()), min_size=1, max_size=6),
    st.lists(st.tuples(st.booleans(), tags, st.integers(0, 3)), max_size=20),
)
def test_incremental_group_counts_equal_full_counts(
    wanted: list[tuple[AllocationAffinity, bool]],
    moves: list[tuple[bool, dict[str, str], int]],
) -> None:
    cluster = [node(number, zone="ab"[number % 2] if number else "") for number in range(4)]
    there: dict[str, Allocation] = {}
    groups = AffinityCounts(there)
    shapes = [
        PlacementProfile(
            frozenset(), "", PlacementConstraint(affinity=affinity), counts_itself=counts
        )
        for affinity, counts in wanted
    ]
    for one in dict.fromkeys(shapes):
        groups.wanted(one)

    def open_nodes() -> dict[PlacementProfile, set[str]]:
        return {one: {n.node_id for n in cluster if allows(one, n, there)} for one in shapes}

    for number, (comes, sent, place) in enumerate(moves):
        for one in shapes:
            for each in cluster:
                assert groups.allow(one, each) is allows(one, each, there)
        before = open_nodes()
        if comes or not there:
            live = allocation(f"i{number}", sent, cluster[place])
            there[live.record.identity] = live
            opened = groups.allocation_added(live)
        else:
            live = there.pop(next(iter(there)))
            opened = groups.allocation_removed(live)
        after = open_nodes()
        are_open = {one for one in shapes if not after[one] <= before[one]}
        assert set(opened) == {
            one for one in are_open if one.affinity is not None and one.affinity.required
        }
    for one in dict.fromkeys(shapes):
        groups.unwanted(one)
    assert not groups._counts


def allows(wanted: PlacementProfile, on: Node, there: dict[str, Allocation]) -> bool:
    affinity = wanted.affinity
    assert affinity is not None
    count = sum(
        affinity.matches(live.record.ask.tags) and is_near(live.node, on) for live in there.values()
    )
    return affinity.allows(count + wanted.counts_itself)


def is_near(one: Node, other: Node) -> bool:
    zone = one.attributes.get("zone")
    return one is other or (zone is not None and zone == other.attributes.get("zone"))


steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "discard", "veto", "veto", "lift"]),
        st.integers(0, 3),
        st.sampled_from(["n1", "n2", "n3"]),
    ),
    max_size=40,
)


@given(steps)
def test_changed_node_clears_the_refusals_of_waiting_asks(
    steps: list[tuple[str, int, str]],
) -> None:
    found, every = ActiveExclusions(), [NodeExclusions(1.0) for _ in range(4)]
    standing: set[int] = set()
    plain: list[set[str]] = [set() for _ in range(4)]
    for what, number, node_id in steps:
        if what == "add":
            found.add(every[number])
            standing.add(number)
        elif what == "discard" and number in standing:
            found.discard(every[number])
            standing.discard(number)
        elif what == "veto":
            found.exclude(every[number], node_id)
            plain[number].add(node_id)
        elif what == "lift":
            found.lift(node_id)
            for each in standing:
                plain[each].discard(node_id)
        assert [exclusions.nodes for exclusions in every] == plain
    for number in standing:
        found.discard(every[number])
    assert not found


def test_withdrawal_by_key_alone_visits_applications_in_order(rm: RM) -> None:
    for application in ("a1", "a2", "a3"):
        rm.submits(application)
    for application in ("a3", "a1", "a2"):
        rm.asks("k", application, memory=1)
    rm.asks("other", "a2", memory=1)

    sent = [application.application_id for application in rm.partition.asks.with_key("k")]

    assert sent == ["a1", "a2", "a3"]
    rm.withdraws("k", "a2")
    assert [application.application_id for application in rm.partition.asks.with_key("k")] == [
        "a1",
        "a3",
    ]
    assert rm.partition.asks.with_key("unused") == []


def test_release_wakes_one_of_many_waiting_leaf_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = range(1, 31)
    sent = ", ".join(f"{{name: q{n}}}" for n in leaves)
    inside = f'{{name: root, submitacl: "*", queues: [{sent}]}}'
    rm = RM(queues=f"partitions: [{{name: default, queues: [{inside}]}}]")
    for number in leaves:
        rm.submits(f"a{number}", queue=f"root.q{number}")
    rm.creates("n1", memory=4)
    for number in leaves:
        rm.asks(f"k{number}", f"a{number}", memory=4)
    (live,) = rm.partition.allocations.all
    step, steps = scheduling_pass.step, []

    def counted(*sent: object) -> object:
        steps.append(sent)
        return step(*sent)  # type: ignore[arg-type]

    monkeypatch.setattr(scheduling_pass, "step", counted)

    assert keys(rm.releases(live)) == ["k2"]
    assert len(steps) <= 2
