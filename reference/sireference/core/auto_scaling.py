"""Auto-scaling metrics: demand that only additional nodes could meet.

Demand held back by a quota, a limit, a placement constraint or a required node is excluded.
Source: SI 2021-02, "Auto Scaling Metrics".
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Final

from sireference.core.resources import NOTHING, Resource
from sireference.core.state.application import AskGroup, PendingAsk
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.resource_manager import ResourceManager

# One ask may request two billion allocations; an autoscaler does not need each of them
_MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class OutstandingRequest:
    """One allocation that waits for nodes; ``request_id`` is its ask's key, made unique."""

    request_id: str
    resource: Resource
    tags: Mapping[str, str]


def outstanding(rm: ResourceManager) -> Iterator[OutstandingRequest]:
    """Return them in the order of applications and asks; at most ten thousand."""
    partitions = rm.partitions.values()
    applications = [one for partition in partitions for one in partition.applications.values()]
    ids = _Ids(key for application in applications for key in application.pending)
    everyone = (pending for partition in partitions for pending in _short_of_nodes(partition))
    for pending in islice(everyone, _MOST):
        yield OutstandingRequest(ids.new(pending.ask.key), pending.ask.resource, pending.ask.tags)


class _Ids:
    """Unique ids made from keys: first the key itself, later ``key#2`` and so on.

    No such id is the key of another ask (SI-AUTO-001).
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = frozenset(keys)
        self._seen: Counter[str] = Counter()

    def new(self, key: str) -> str:
        """Return an unused id."""
        self._seen[key] += 1
        if self._seen[key] == 1:
            return key
        while (made := f"{key}#{self._seen[key]}") in self._keys:
            self._seen[key] += 1
        return made


def _short_of_nodes(partition: Partition) -> Iterator[PendingAsk]:
    """Yield each ask once for every allocation that only lacks capacity on nodes."""
    listed: dict[Queue, Resource] = {}
    for pending in _found_no_node(partition):
        need, path = pending.ask.resource, pending.application.leaf.path
        wanted = pending.ask.max_allocations - pending.made - pending.awaiting
        for _ in repeat(None, wanted):
            with_others = [listed.get(queue, NOTHING) + need for queue in path]
            if not all(map(Queue.has_capacity, path, with_others)):
                break
            listed.update(zip(path, with_others, strict=True))
            yield pending


def _found_no_node(partition: Partition) -> Iterator[PendingAsk]:
    """Yield asks that wait because no node has capacity and that may go to any node."""
    ask_groups = {
        ask_group
        for ask_group in partition.node_index.waiting
        if not ask_group.profile.required_node and not _is_constrained(partition, ask_group)
    }
    applications = {ask_group.application for ask_group in ask_groups}
    for application in sorted(applications, key=lambda one: one.number):
        if not application.is_counted and not all(map(Queue.has_slot, application.leaf.path)):
            continue
        for pending in sorted(application.pending.values(), key=lambda one: one.order):
            if pending.ask_group in ask_groups and pending.wants_more:
                yield pending


def _is_constrained(partition: Partition, ask_group: AskGroup) -> bool:
    """Return whether placement constraints exclude a group from some or all nodes with capacity."""
    if ask_group.profile.constraint is None:
        return False
    capacity = partition.node_index
    if any(ask_group.need.fits(node.free) for node in capacity.index):
        return True
    return not any(capacity.is_open(ask_group.profile, node) for node in capacity.index)
