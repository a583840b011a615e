"""Cache synchronisation (2021-02): which allocations an RM can assume, and which it can forget.

An allocation is forgotten by its key alone. So a key is forgotten with its last allocation, and no
message names a key twice: nothing says which of the two lists would count first.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sireference.core.model import SyncedCache
from sireference.core.state.allocation import Allocation


@dataclass(slots=True)
class _Message:
    """One that is being written."""

    assumed: dict[str, list[str]] = field(default_factory=dict)  # nodes by key
    forgotten: list[str] = field(default_factory=list)


class CacheSync:
    """What there is to tell one RM; nothing is gathered unless it is read."""

    __slots__ = ("_is_read", "_live", "_messages", "_rm_id")

    def __init__(self, rm_id: str) -> None:
        self._rm_id = rm_id
        self._is_read = False
        self._live: Counter[str] = Counter()  # assumed allocations by key
        self._messages: list[_Message] = []

    def start(self, *, is_read: bool) -> None:
        """Begin anew: the cache of whoever reads this is empty."""
        self._is_read = is_read
        self._live.clear()
        self._messages.clear()

    def allocation_added(self, allocation: Allocation) -> None:
        """An allocation can be assumed."""
        if not self._is_read:
            return
        key = allocation.record.ask.key
        self._live[key] += 1
        if not self._messages or key in self._messages[-1].forgotten:
            self._messages.append(_Message())
        self._messages[-1].assumed.setdefault(key, []).append(allocation.node.node_id)

    def allocation_removed(self, allocation: Allocation) -> None:
        """An allocation can be forgotten, unless others have its key."""
        if not self._is_read:
            return
        key = allocation.record.ask.key
        self._live[key] -= 1
        if self._live[key]:
            return
        del self._live[key]
        if not self._messages or key in self._messages[-1].assumed:
            self._messages.append(_Message())
        self._messages[-1].forgotten.append(key)

    def take(self) -> Iterator[SyncedCache]:
        """What is to be told now."""
        for message in self._messages:
            assumed = ((key, node) for key, nodes in message.assumed.items() for node in nodes)
            yield SyncedCache(self._rm_id, tuple(assumed), tuple(message.forgotten))
        self._messages.clear()
