"""Cache synchronisation (2021-02): allocations that an RM can assume or forget.

An allocation is forgotten by key. So a key is forgotten with its last allocation, and no message
names a key twice: the order of the two lists is not specified.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sireference.core.model import SyncedCache
from sireference.core.state.allocation import Allocation


@dataclass(slots=True)
class _Message:
    """A message under construction."""

    assumed: dict[str, list[str]] = field(default_factory=dict)  # nodes by key
    forgotten: list[str] = field(default_factory=list)


class CacheSync:
    """Pending cache changes for one RM; nothing is collected unless it is read."""

    __slots__ = ("_is_read", "_live", "_messages", "_rm_id")

    def __init__(self, rm_id: str) -> None:
        self._rm_id = rm_id
        self._is_read = False
        self._live: Counter[str] = Counter()  # assumed allocations by key
        self._messages: list[_Message] = []

    def start(self, *, is_read: bool) -> None:
        """Start with an empty cache on the RM's side."""
        self._is_read = is_read
        self._live.clear()
        self._messages.clear()

    def allocation_added(self, allocation: Allocation) -> None:
        """Record an allocation that can be assumed."""
        if not self._is_read:
            return
        key = allocation.record.ask.key
        self._live[key] += 1
        if not self._messages or key in self._messages[-1].forgotten:
            self._messages.append(_Message())
        self._messages[-1].assumed.setdefault(key, []).append(allocation.node.node_id)

    def allocation_removed(self, allocation: Allocation) -> None:
        """Record an allocation that can be forgotten, unless others have its key."""
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
        """Return and clear the pending messages."""
        for message in self._messages:
            assumed = ((key, node) for key, nodes in message.assumed.items() for node in nodes)
            yield SyncedCache(self._rm_id, tuple(assumed), tuple(message.forgotten))
        self._messages.clear()
