"""The choice of victims in small scenarios, compared with all possible sets of victims."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Final

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis_profiles import examples
from sireference.configuration.parsing import parse_configuration
from sireference.core.model import AllocationRecord, Ask, NewApplication, NodeInfo
from sireference.core.preemption import covering, victim_search
from sireference.core.preemption.victims import Candidates, Victim, VictimSet
from sireference.core.resources import NOTHING, Resource
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.states import NodeAction
from tests.histories import Player
from tests.preempting import ALLOWED
from tests.small_histories import Bytes

_QUEUES: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        properties: {{preemption.delay: 1000s}}
        queues:
          - name: parent
            {limit}
            queues:
              - {{name: entitled, resources: {{guaranteed: {{memory: 2}}}}}}
              - {{name: taking, resources: {{guaranteed: {{memory: 4}}}}}}
              - name: guarded
                resources: {{guaranteed: {{memory: 3}}}}
                queues:
                  - {{name: l, resources: {{guaranteed: {{memory: 2, vcore: 1}}}}}}
                  - {{name: r}}
          - {{name: outside}}
"""
_CONFIGURATIONS: Final = tuple(
    parse_configuration(_QUEUES.format(limit=limit))
    for limit in ("", "resources: {max: {memory: 9}}", "resources: {max: {memory: 12, vcore: 4}}")
)
_TAKERS: Final = (
    "parent.taking",
    "parent.taking",
    "parent.guarded.l",
    "parent.guarded.r",
    "outside",
)
_NODES: Final = ("n1", "n2")

Victims = tuple[Allocation, ...]


def scenario(data: bytes) -> tuple[Partition, PendingAsk] | None:
    """Draw allocations on two nodes, and an ask with a claim that does not fit."""
    sent = Bytes(data)
    player = Player(queues=sent.of(_CONFIGURATIONS))
    for queue in (*_TAKERS, "parent.entitled"):
        player.play(NewApplication(queue, f"root.{queue}"))
    existing = [_existing(sent, number) for number in range(3 + sent.number() % 6)]
    for node in _NODES:
        there = [one for one in existing if one.node_id == node]
        used = sum((one.ask.resource for one in there), NOTHING)
        capacity = used + Resource({"memory": sent.number() % 3, "vcore": sent.number() % 3})
        player.play(NodeInfo(node, NodeAction.CREATE, capacity=capacity, allocations=tuple(there)))
    need = Resource({"memory": 1 + sent.number() % 5, "vcore": sent.number() % 3})
    player.play(Ask("claim", "parent.entitled", resource=need, preemption_policy=ALLOWED))
    (partition,) = player.partitions
    pending = partition.applications["parent.entitled"].pending.get("claim")
    return None if pending is None else (partition, pending)


def _existing(sent: Bytes, number: int) -> AllocationRecord:
    ask = Ask(
        f"k{number}",
        sent.of(_TAKERS),
        resource=Resource({"memory": sent.number() % 5, "vcore": sent.number() % 3}),
        priority=-(sent.number() % 3),
        originator=sent.number() % 5 == 4,
    )
    return AllocationRecord(f"old{number}", ask, sent.of(_NODES))


def crowd(
    smalls: int, small: int, *, claim: int = 3, surplus: int = 3
) -> tuple[Partition, PendingAsk]:
    """A node filled by an allocation of 3 and smaller ones; their queue may lose ``surplus``."""
    guaranteed = 3 + smalls * small - surplus
    queues = parse_configuration(f"""
        partitions:
          - name: default
            queues:
              - name: root
                submitacl: "*"
                properties: {{preemption.delay: 1000s}}
                queues:
                  - {{name: taking, resources: {{guaranteed: {{memory: {guaranteed}}}}}}}
                  - {{name: entitled, resources: {{guaranteed: {{memory: 3}}}}}}
        """)
    sizes = [3, *[small] * smalls]
    asks = [Ask(f"k{n}", "t", resource=Resource({"memory": m})) for n, m in enumerate(sizes)]
    existing = tuple(AllocationRecord(f"old{n}", ask, "n1") for n, ask in enumerate(asks))
    capacity = Resource({"memory": sum(sizes)})
    player = Player(queues=queues)
    player.play(NewApplication("t", "root.taking"))
    player.play(NewApplication("e", "root.entitled"))
    player.play(NodeInfo("n1", NodeAction.CREATE, capacity=capacity, allocations=existing))
    need = Resource({"memory": claim})
    player.play(Ask("claim", "e", resource=need, preemption_policy=ALLOWED))
    (partition,) = player.partitions
    return partition, partition.applications["e"].pending["claim"]


@pytest.mark.parametrize("smalls", [2, 11, 12, 40])
def test_first_candidates_do_not_use_up_the_surplus_of_a_queue(smalls: int) -> None:
    chosen = victim_search.Search(*crowd(smalls, small=2)).choose()

    assert chosen is not None
    assert [victim.allocation.record.identity for victim in chosen.victims] == ["old0"]


def test_work_per_node_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Victim] = []
    leaves_guarantees = Candidates.leaves_guarantees

    def counted(candidates: Candidates, victim: Victim, loss: VictimSet) -> bool:
        looks.append(victim)
        return leaves_guarantees(candidates, victim, loss)

    monkeypatch.setattr(Candidates, "leaves_guarantees", counted)
    for smalls in (covering.FEW - 1, covering.FEW, 400):
        looks.clear()

        scene = crowd(smalls, small=1, claim=8, surplus=7)

        assert victim_search.Search(*scene).choose() is None
        assert 0 < len(looks) <= max(2**covering.FEW, 10 * smalls)


def total(allocations: Iterable[Allocation]) -> Resource:
    return sum((live.record.ask.resource for live in allocations), NOTHING)


def sets(partition: Partition) -> Iterator[Victims]:
    everybody = list(partition.allocations.all.values())
    for count in range(len(everybody) + 1):
        yield from combinations(everybody, count)


def has_capacity(node: Node, pending: PendingAsk, victims: Victims) -> bool:
    """Return whether the ask fits on the node and below all maxima without the victims."""
    need = pending.ask.resource
    gain = total(live for live in victims if live.node is node)
    return need.fits(node.free + gain) and all(
        queue.maximum is None
        or need.stays_within(queue.used - below(queue, victims), queue.maximum)
        for queue in pending.application.leaf.path
    )


def below(queue: Queue, victims: Victims) -> Resource:
    return total(live for live in victims if queue in live.application.leaf.path)


def leaves_guarantees(partition: Partition, pending: PendingAsk, victims: Victims) -> bool:
    """Return whether no losing queue falls below its guarantee."""
    for queue in partition.root.all():
        if queue.guaranteed is None or queue in pending.application.leaf.path:
            continue
        lost = below(queue, victims)
        left = queue.used - lost
        for name, amount in queue.guaranteed.amounts.items():
            if lost.amounts.get(name, 0) > 0 and left.amounts.get(name, 0) < amount:
                return False
    return True


def cost(victims: Iterable[Allocation]) -> covering.Cost:
    asks = [live.record.ask for live in victims]
    highest = max((ask.priority for ask in asks), default=float("-inf"))
    return highest, any(ask.originator for ask in asks), len(asks)


@given(st.binary(min_size=64, max_size=64))
@settings(max_examples=examples(400), suppress_health_check=list(HealthCheck))
def test_cheapest_legal_victims_are_chosen(data: bytes) -> None:
    scene = scenario(data)
    if scene is None:
        return
    partition, pending = scene
    for live in partition.allocations.all.values():
        note(f"{live.record} of {live.application.leaf.name}")
    legal = [
        cost(victims)
        for victims in sets(partition)
        if any(has_capacity(node, pending, victims) for node in partition.nodes.values())
        and leaves_guarantees(partition, pending, victims)
    ]

    chosen = victim_search.Search(partition, pending).choose()

    if not legal:
        assert chosen is None
    else:
        assert chosen is not None
        victims = tuple(victim.allocation for victim in chosen.victims)
        assert cost(victims) == min(legal)
        assert has_capacity(chosen.node, pending, victims)
        assert leaves_guarantees(partition, pending, victims)
