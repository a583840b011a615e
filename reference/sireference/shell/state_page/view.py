"""View model of the page: the state in display order, limited in length."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar

from sireference.core.snapshot import AllocationView, ApplicationView, NodeView, QueueView, Snapshot
from sireference.shell.recent import Recent
from sireference.shell.state_page.bars import Amounts, Bar, bars, in_order, node_bars
from sireference.shell.state_page.words import words

_MOST: Final = 200  # of each kind; /state.json has all
_MOST_OF_AN_APPLICATION: Final = 30  # allocations, and pending asks

Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class Seen:
    """The state to show; ``only`` filters by name or state."""

    revision: str
    now: float
    snapshots: Sequence[Snapshot]
    recent: Sequence[Recent] = ()
    only: str = ""


@dataclass(frozen=True, slots=True)
class Part(Generic[Shown]):
    """The first elements of a list, and the number of others."""

    shown: tuple[Shown, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A queue in its place in the tree, which is listed from top to bottom."""

    queue: QueueView
    name: str  # without parents
    bars: tuple[Bar, ...]
    is_parent: bool
    closes: int  # how many parent queues end here


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A node."""

    node: NodeView
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class ApplicationLine:
    """An application with the first of its allocations and asks."""

    application: ApplicationView
    resources: tuple[tuple[str, int, int], ...]  # type, real, held by placeholders
    allocations: Part[AllocationView]
    placeholders: int
    pending: Part[str]


@dataclass(frozen=True, slots=True)
class PartitionPart:
    """The contents of one partition."""

    name: str
    queues: Part[QueueLine]
    nodes: Part[NodeLine]
    applications: Part[ApplicationLine]
    states: Mapping[str, int]  # number of applications by state


@dataclass(frozen=True, slots=True)
class RMPart:
    """What is held for one resource manager."""

    rm_id: str
    state: str
    nodes: int
    applications: int
    allocations: int  # without placeholders
    placeholders: int
    pending: int  # pending asks
    partitions: tuple[PartitionPart, ...]


@dataclass(frozen=True, slots=True)
class EventLine:
    """One recent event."""

    number: int
    at: datetime
    rm_id: str
    text: str


@dataclass(frozen=True, slots=True)
class View:
    """The page."""

    revision: str
    now: datetime
    only: str
    rms: tuple[RMPart, ...] = ()
    events: tuple[EventLine, ...] = field(default=())


def view(seen: Seen) -> View:
    """Return the view of what is to be shown."""
    lines = (EventLine(r.number, _time(r.at), r.rm_id, words(r.news)) for r in seen.recent)
    return View(
        seen.revision,
        _time(seen.now),
        seen.only,
        tuple(_rm(snapshot, seen.only) for snapshot in seen.snapshots),
        tuple(line for line in lines if _has(seen.only, line.rm_id, line.text)),
    )


def _rm(snapshot: Snapshot, only: str) -> RMPart:
    applications = snapshot.applications
    held = [allocation for one in applications for allocation in one.allocations]
    placeholders = sum(allocation.placeholder for allocation in held)
    names = dict.fromkeys(queue.partition for queue in snapshot.queues)
    return RMPart(
        snapshot.rm_id,
        "unknown" if snapshot.state is None else snapshot.state.value,
        len(snapshot.nodes),
        len(applications),
        len(held) - placeholders,
        placeholders,
        sum(len(one.pending_keys) for one in applications),
        tuple(_partition(snapshot, name, only) for name in names),
    )


def _partition(snapshot: Snapshot, name: str, only: str) -> PartitionPart:
    nodes = [one for one in snapshot.nodes if one.partition == name]
    queues = [one for one in snapshot.queues if one.partition == name]
    applications = [one for one in snapshot.applications if one.partition == name]
    capacity = _sum(node.capacity for node in nodes)
    return PartitionPart(
        name,
        Part(tuple(_tree(queues[:_MOST], capacity)), max(0, len(queues) - _MOST)),
        _part(
            [
                NodeLine(node, node_bars(node.allocated, node.occupied, node.capacity))
                for node in nodes
                if _has(only, node.node_id, *node.attributes.values())
            ],
            _MOST,
        ),
        _part(
            [
                _application(one)
                for one in applications
                if _has(only, one.application_id, one.queue, one.state)
            ],
            _MOST,
        ),
        dict(sorted(Counter(one.state for one in applications).items())),
    )


def _tree(queues: Sequence[QueueView], capacity: Amounts) -> Iterable[QueueLine]:
    """Order queues with parents first; a queue without its parent is at the top."""
    below: dict[str, list[QueueView]] = {}
    known = {queue.name for queue in queues}
    for queue in queues:
        parent = queue.name.rpartition(".")[0]
        below.setdefault(parent if parent in known else "", []).append(queue)
    left = [(queue, capacity, 0) for queue in reversed(below.get("", []))]
    while left:
        queue, scales, closes = left.pop()
        made, own_scales = bars(queue.allocated, queue.max, queue.guaranteed, scales)
        children = below.get(queue.name, [])
        closes = 0 if children else closes
        name = queue.name.rpartition(".")[2]
        yield QueueLine(queue, name, made, bool(children), closes)
        for position, child in enumerate(reversed(children)):
            left.append((child, own_scales, 0 if position else closes + 1))


def _application(one: ApplicationView) -> ApplicationLine:
    real, held = one.allocated_real, one.allocated_placeholder
    return ApplicationLine(
        one,
        tuple((name, real.get(name, 0), held.get(name, 0)) for name in in_order({*real, *held})),
        _part(one.allocations, _MOST_OF_AN_APPLICATION),
        sum(allocation.placeholder for allocation in one.allocations),
        _part(one.pending_keys, _MOST_OF_AN_APPLICATION),
    )


def _part(some: Sequence[Shown], most: int) -> Part[Shown]:
    return Part(tuple(some[:most]), max(0, len(some) - most))


def _has(only: str, *texts: str) -> bool:
    wanted = only.strip().casefold()
    return not wanted or any(wanted in text.casefold() for text in texts)


def _sum(amounts: Iterable[Amounts]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in amounts:
        total.update(one)
    return dict(total)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
