"""A player of histories in which the key is the identity and may be reused."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sireference.core.model import (
    AllocationRecord,
    Ask,
    Effect,
    Entry,
    Event,
    ForeignAllocation,
    NewAllocation,
    OneOfKey,
    PredicatesQuestion,
    PreemptionQuestion,
    ReleasedAllocation,
    ReleaseRequest,
    UpdateAllocations,
)
from tests.histories import Player
from tests.history_moves import Confirmation
from tests.keyed import BY_KEY
from tests.keyed_moves import Again


class KeyedPlayer(Player):
    """Checks that a key names one allocation at a time, even when it is reused."""

    def __init__(self, **more: Any) -> None:
        self.on_nodes: dict[str, str] = {}  # where the RM last reported each allocation
        super().__init__(rules=BY_KEY, **more)

    def event(self, move: object) -> Event:
        self.on_nodes = {}
        return super().event(move)

    def receives(self, effects: list[Effect]) -> None:
        own = [effect for effect in effects if effect.rm_id == self.rm_id]
        for effect in own:
            match effect:
                case ReleasedAllocation():
                    self.watch_release(effect.release)
                case NewAllocation():
                    self.watch_new(effect.allocation)
                case PredicatesQuestion() | PreemptionQuestion():
                    assert effect.number not in self.open_questions
                    self.open_questions.append(effect.number)
        self.effects.append(own)

    def message(self, *moves: object) -> UpdateAllocations:
        entries = tuple(entry for move in moves for entry in self.entries(move))
        for entry in entries:
            if isinstance(entry, AllocationRecord):
                self.on_nodes[entry.identity] = entry.node_id
                self.brings(entry)
        releases = tuple(release for move in moves for release in self.releases(move))
        return UpdateAllocations(self.rm_id, entries=entries, releases=releases)

    def entries(self, move: object) -> Iterator[Entry]:
        match move:
            case Ask() | AllocationRecord() | ForeignAllocation():
                yield move
            case Again():
                yield from self.again(move)

    def again(self, move: Again) -> Iterator[Entry]:
        """Return a known key with another size."""
        if move.is_live:
            live = [one for p in self.partitions for one in p.allocations.all.values()]
            known = [(one.record.ask, [one.node.node_id]) for one in live]
        else:
            known = [
                (pending.ask, list(partition.nodes))
                for partition in self.partitions
                for application in partition.applications.values()
                for pending in application.pending.values()
            ]
        if known:
            ask, nodes = known[-1 - move.choice % len(known)]
            ask = replace(ask, resource=move.amount)
            if move.node is None:
                yield ask
            elif nodes:
                yield AllocationRecord(ask.key, ask, nodes[move.node % len(nodes)])

    def brings(self, allocation: AllocationRecord) -> None:
        """Start a new lifecycle of the key, unless it is live already."""
        if all(allocation.identity not in one.allocations.all for one in self.partitions):
            self.begins(allocation.identity)

    def begins(self, key: str) -> None:
        self.ended.discard(key)
        self.asked_for = [release for release in self.asked_for if release.identity != key]

    def releases(self, move: object) -> Iterator[ReleaseRequest]:
        match move:
            case ReleaseRequest():
                yield move
            case Confirmation() if self.asked_for:
                asked = self.asked_for[-1 - move.choice % len(self.asked_for)]
                kind = move.other_type or asked.termination
                subject = OneOfKey(asked.application_id, asked.identity)
                yield ReleaseRequest(asked.partition, subject, kind)

    def watch_new(self, allocation: AllocationRecord) -> None:
        assert allocation.identity == allocation.ask.key
        self.begins(allocation.identity)
        if allocation.identity in self.on_nodes:
            return
        self.watch_served(allocation)

    def watch_served(self, allocation: AllocationRecord) -> None:
        """Record an allocation placed by the scheduler."""
