"""Restarts, encoded as bytes: an RM reports its state again, in any order.

A node has capacity for everything and brings what runs on it. The node's messages are in order, and
so are those of each application; there is no other order between them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sireference.configuration.model import Configuration
from sireference.core.model import AllocationRecord, Ask, NewApplication, NodeInfo, Settings
from sireference.core.resources import NOTHING, Resource
from sireference.core.scheduler import Scheduler
from sireference.core.states import NodeAction
from tests.histories import Player
from tests.serving import nothing_fits
from tests.small_histories import CONFIGURATIONS, LEAVES, Bytes

_SETTINGS: Final = Settings(
    starting_timeout=1.0, placeholder_timeout=10_000.0, completing_timeout=10_000.0
)
_KINDS: Final = (("", False), ("tg", True), ("tg", True), ("tg", False))  # group, placeholder
_WHOLE: Final = 30  # capacity of the node, more than all of it together


@dataclass(frozen=True)
class Restart:
    """Existing applications, and the messages that report them; ``order`` interleaves these."""

    queues: Configuration
    applications: tuple[NewApplication, ...]
    streams: tuple[tuple[Any, ...], ...]  # of the node first, then of each application
    order: tuple[int, ...]

    def in_order(self) -> Iterator[Any]:
        """Return the node's messages, then one application after the other."""
        for stream in self.streams:
            yield from stream

    def mixed(self) -> Iterator[Any]:
        """Interleave the streams as ``order`` says; each keeps its own order."""
        streams = [list(stream) for stream in self.streams]
        order = iter(self.order)
        while streams := [stream for stream in streams if stream]:
            yield streams[next(order, 0) % len(streams)].pop(0)


def restart(data: bytes) -> Restart:
    """Decode ``data``.

    Placeholders come with the node: if one came after the member it was reserved for had been
    placed elsewhere, usage would depend on the order.
    """
    sent = Bytes(data)
    queues, leaf = sent.of(CONFIGURATIONS), sent.of(LEAVES)
    existing: list[AllocationRecord] = []
    applications: list[NewApplication] = []
    streams: list[tuple[Any, ...]] = []
    for number in range(2 + sent.number() % 2):
        name, size = f"a{number}", sent.amount(2)
        asks = tuple(_ask(sent, name, f"k{one}", size) for one in range(sent.number() % 4))
        count = max(0, sent.number() % 4 - 1)
        there = [_ask(sent, name, f"old{one}", size) for one in range(count)]
        existing += [AllocationRecord(f"{name}-{ask.key}", ask, "n") for ask in there]
        queue = sent.of(LEAVES) if sent.number() % 4 == 3 else leaf
        applications.append(_application(name, queue, (*asks, *there)))
        streams.append(asks)
    comes_later = sent.number() % 2 == 1
    later = [one for one in existing if comes_later and not one.ask.is_placeholder]
    node = NodeInfo(
        "n",
        NodeAction.CREATE,
        capacity=Resource({"memory": _WHOLE}),
        allocations=tuple(one for one in existing if one not in later),
    )
    streams.insert(0, (node, *later))
    order = tuple(sent.number() for _ in range(sum(map(len, streams))))
    return Restart(queues, tuple(applications), tuple(streams), order)


def _application(name: str, queue: str, asks: tuple[Ask, ...]) -> NewApplication:
    """Submit it with the total of its placeholders, existing ones included."""
    whole = sum((ask.resource for ask in asks if ask.is_placeholder), NOTHING)
    return NewApplication(
        name,
        f"root.{queue}",
        tags={"namespace": "x"} if queue == "spaces" else {},
        placeholder_ask=None if whole.is_zero() or queue == "fair" else whole,
        gang_style="hard",
    )


def _ask(sent: Bytes, application_id: str, key: str, size: Resource) -> Ask:
    """All members of an application have one size, so it does not matter which replaces which."""
    group, is_placeholder = sent.of(_KINDS)
    return Ask(key, application_id, resource=size, task_group=group, placeholder=is_placeholder)


def left_over(restart: Restart, messages: Iterator[Any]) -> list[tuple[str, str]]:
    """Return the asks, by application and key, that are still pending afterwards.

    The RM confirms every release at once.
    """
    player = Player(Scheduler(_SETTINGS), queues=restart.queues)
    confirmed = 0
    for move in (*restart.applications, *messages, *[2.0] * len(restart.applications)):
        player.play(move)
        while confirmed < len(player.asked_for):
            release = player.asked_for[confirmed]
            confirmed += 1
            player.play(
                (release.partition, release.application_id, release.identity, release.termination)
            )
        for partition in player.partitions:
            nothing_fits(partition)
    (partition,) = player.partitions
    return [
        (application.application_id, key)
        for application in partition.applications.values()
        for key in application.pending
    ]
