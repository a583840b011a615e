"""Small histories, encoded as bytes: few nodes and applications, and everything that blocks asks.

Each decision takes one byte, so a history is cheap to draw, and Hypothesis minimises a failing one
by making the bytes fewer and smaller.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sireference.configuration.model import Configuration
from sireference.configuration.parsing import parse_configuration
from sireference.core.model import (
    AllocationRecord,
    Ask,
    Callback,
    NewApplication,
    NodeInfo,
    PreemptionPolicy,
    RemoveApplication,
    Settings,
)
from sireference.core.resources import Resource
from sireference.core.states import NodeAction, TerminationType
from tests.driving import of_asks
from tests.history_moves import Answer, Confirmation

SETTINGS: Final = Settings(
    placeholder_timeout=40.0, gang_turn_timeout=15.0, starting_timeout=25.0, completing_timeout=10.0
)
LENGTH: Final = 144  # bytes of a history

_QUEUES: Final = """
partitions:
  - name: default
    preemption: {{quotapreemptionenabled: true}}
    placementrules:
      - {{name: tag, value: namespace, create: true, parent: {{name: fixed, value: root.spaces}}}}
      - {{name: provided, create: false}}
    queues:
      - name: root
        submitacl: "*"
        properties: {{preemption.delay: 1s, quota.preemption.delay: 2s}}
        limits: [{{users: [bob], maxresources: {{memory: {bob}}}, maxapplications: 1}}]
        queues:
          - {{name: spaces, parent: true}}
          - {{name: fifo, resources: {{guaranteed: {{memory: 4}}, max: {{memory: {quota}}}}}}}
          - {{name: fair, properties: {{application.sort.policy: fair}}}}
          - {{name: aware, properties: {{application.sort.policy: {policy}}}}}
          - {{name: few, maxapplications: {most}}}
          - name: parent
            maxapplications: {above}
            resources: {{max: {{memory: {quota}}}}}
            queues:
              - name: l
                maxapplications: {above}
                resources: {{guaranteed: {{memory: 2}}, max: {{memory: 4}}}}
              - {{name: r, maxapplications: 1, properties: {{priority.policy: {fence}}}}}
"""
CONFIGURATIONS: Final = tuple(
    parse_configuration(_QUEUES.format(**values))
    for values in (
        {"quota": 6, "bob": 4, "policy": "stateaware", "most": 1, "above": 2, "fence": "fence"},
        {"quota": 9, "bob": 7, "policy": "stateaware", "most": 2, "above": 1, "fence": "default"},
        {"quota": 4, "bob": 4, "policy": "fifo", "most": 1, "above": 3, "fence": "default"},
    )
)
LEAVES: Final = ("fifo", "aware", "fifo", "few", "parent.l", "parent.r", "fair", "spaces")
APPLICATIONS: Final = ("a1", "a2", "a3", "a4")
NODES: Final = ("n1", "n2", "n3")
_GROUPS: Final = ("tg", "tg", "tg", "other")
_POLICIES: Final = (
    None,
    PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True),
    PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=True),
)
_CALLBACKS: Final = (
    frozenset({Callback.PREDICATES}),
    frozenset({Callback.PREEMPTION_PREDICATES}),
    frozenset({Callback.PREDICATES, Callback.PREEMPTION_PREDICATES}),
    frozenset[Callback](),
)


Kind = TypeVar("Kind")


class Bytes:
    """Decisions, one byte each; when they run out, the first option."""

    def __init__(self, data: bytes) -> None:
        self._rest = iter(data)
        self.are_over = False

    def number(self) -> int:
        number = next(self._rest, None)
        self.are_over = number is None
        return number or 0

    def of(self, those: Sequence[Kind]) -> Kind:
        """Choose one of those."""
        return those[self.number() % len(those)]

    def amount(self, most: int) -> Resource:
        """Choose from 1 to ``most`` of memory."""
        return Resource({"memory": 1 + self.number() % most})


Move = Callable[[Bytes, str, Iterator[str]], object]


@dataclass(frozen=True)
class World:
    """The start of a history, and its moves."""

    queues: Configuration
    moves: tuple[Any, ...]


def world(data: bytes) -> World:
    """Decode ``data``: applications, mostly in one leaf, then arbitrary moves."""
    return spelled(data, _MOVES)


def spelled(data: bytes, of_moves: Sequence[Move]) -> World:
    """Decode ``data`` into a history of these moves."""
    sent = Bytes(data)
    queues = sent.of(CONFIGURATIONS)
    leaf = sent.of(LEAVES)
    moves: list[Any] = [
        _application(sent, name, leaf) for name in APPLICATIONS[: 2 + sent.number() % 3]
    ]
    identities = (f"old{number}" for number in range(len(data)))
    while not sent.are_over:
        moves.append(sent.of(of_moves)(sent, leaf, identities))
    return World(queues, tuple(moves[:-1]))


def _application(sent: Bytes, name: str, leaf: str) -> NewApplication:
    """Choose an application, mostly a gang in the one leaf with its total placeholder size."""
    traits = sent.number()
    queue = sent.of(LEAVES) if traits % 4 == 3 else leaf
    is_gang = queue != "fair" and traits // 4 % 4 < 3
    tags = {"namespace": "x", "namespace.resourcequota": _quota(sent)} if queue == "spaces" else {}
    return NewApplication(
        name,
        f"root.{queue}",
        tags=tags,
        user="bob" if traits // 16 % 4 == 3 else "",
        execution_timeout=30.0 if traits // 128 else 0.0,
        placeholder_ask=sent.amount(6) if is_gang else None,
        gang_style="hard" if traits // 64 % 2 else "soft",
    )


def _quota(sent: Bytes) -> str:
    return f'{{"resources": {{"memory": {{"value": {4 + sent.number() % 4}}}}}}}'


def member(sent: Bytes, key: str) -> Ask:
    """Choose an ask, mostly a placeholder or member, mostly small, sometimes for one node."""
    traits, where = sent.number(), sent.number()
    is_large = traits % 8 == 7
    return Ask(
        key,
        sent.of(APPLICATIONS),
        resource=Resource({"memory": 50}) if is_large else sent.amount(4),
        max_allocations=1 + traits // 8 % 2,
        priority=traits // 16 % 2,
        required_node=NODES[where // 4 % 3] if where % 4 == 3 else "",
        preemption_policy=_POLICIES[where // 16 % 3],
        task_group=sent.of(_GROUPS) if traits // 32 % 4 else "",
        placeholder=traits // 32 % 4 > 1,
    )


def _asks(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return member(sent, f"k{sent.number() % 6}")


def _existing(sent: Bytes, node: str, identity: str) -> AllocationRecord:
    return AllocationRecord(identity, member(sent, f"key-{identity}"), node)


def _reports(sent: Bytes, _: str, identities: Iterator[str]) -> object:
    return _existing(sent, sent.of(NODES), next(identities, ""))


def creates(sent: Bytes, _: str, identities: Iterator[str]) -> NodeInfo:
    node, traits = sent.of(NODES), sent.number()
    existing = tuple(
        _existing(sent, node, next(identities, "")) for _ in range(max(0, traits % 5 - 2))
    )
    capacity = Resource({"memory": 2 + traits // 5 % 10})
    return NodeInfo(node, NodeAction.CREATE, capacity=capacity, allocations=existing)


def _changes(sent: Bytes, _: str, __: Iterator[str]) -> object:
    action = sent.of(
        (
            NodeAction.UPDATE,
            NodeAction.DECOMMISSION,
            NodeAction.DRAIN_NODE,
            NodeAction.DRAIN_TO_SCHEDULABLE,
            NodeAction.CREATE_DRAIN,
        )
    )
    return NodeInfo(sent.of(NODES), action, capacity=sent.amount(10))


def confirms(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return Confirmation(sent.number(), None)


def releases(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return "default", "", sent.number(), TerminationType.STOPPED_BY_RM


def _withdraws(sent: Bytes, _: str, __: Iterator[str]) -> object:
    key = f"k{sent.number() % 6}"
    return of_asks(sent.of(APPLICATIONS), key)


def _offers(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return sent.of(_CALLBACKS)


def _answers(sent: Bytes, _: str, __: Iterator[str]) -> object:
    traits = sent.number()
    return Answer(suits=traits % 4 < 3, index=traits // 4 % 3, is_observed=True)


def _removes(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return RemoveApplication(sent.of(APPLICATIONS))


def _submits(sent: Bytes, leaf: str, _: Iterator[str]) -> object:
    return _application(sent, sent.of(APPLICATIONS), leaf)


def _configures(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return sent.of(CONFIGURATIONS)


def _waits(sent: Bytes, _: str, __: Iterator[str]) -> object:
    return sent.of((1.0, 10.0, 25.0, 40.0))


OTHERS: Final = (
    *[_changes] * 2,
    *[_answers] * 4,
    *[_waits] * 2,
    _offers,
    _removes,
    _submits,
    _configures,
)
_MOVES: Final[tuple[Move, ...]] = (
    *[_asks] * 9,
    *[creates] * 3,
    *[_reports] * 3,
    *[confirms] * 3,
    *[releases] * 2,
    _withdraws,
    *OTHERS,
)
