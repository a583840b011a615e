"""Allocations: record and state of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from sireference.core.model import AllocationRecord, Release, partition_name
from sireference.core.state.application import Application
from sireference.core.state.node import Node
from sireference.core.state.timers import Timer
from sireference.core.states import AllocationState, TerminationType


@dataclass(slots=True, eq=False)
class Allocation:
    """An allocation that has not ended, or only just.

    ``open_release`` is the type of a release that the scheduler requested and the RM has not yet
    confirmed; until then the allocation holds its resources (SI-REL-011).
    """

    record: AllocationRecord
    application: Application
    node: Node
    state: AllocationState = AllocationState.ALLOCATED
    open_release: TerminationType | None = None
    timer: Timer | None = None
    number: int = 0  # counts allocations in the order they were booked

    @property
    def is_placeholder(self) -> bool:
        """Return whether it is a placeholder of a task group."""
        return self.record.ask.is_placeholder

    def release(self, termination: TerminationType, message: str) -> Release:
        """Return the message that reports its end to the RM."""
        ask = self.record.ask
        return Release(
            partition=partition_name(ask.partition),
            application_id=ask.application_id,
            identity=self.record.identity,
            termination=termination,
            key=ask.key,
            message=message,
        )


_NONE: Final[Mapping[str, Allocation]] = MappingProxyType({})


class Allocations:
    """The allocations of a partition by identity, by application and by node."""

    __slots__ = ("_of", "_on", "all")

    def __init__(self) -> None:
        self.all: dict[str, Allocation] = {}
        self._of: dict[Application, dict[str, Allocation]] = {}
        self._on: dict[Node, dict[str, Allocation]] = {}

    def of(self, application: Application) -> Mapping[str, Allocation]:
        """Return those of ``application``, the oldest first."""
        return self._of.get(application, _NONE)

    def on(self, node: Node) -> Mapping[str, Allocation]:
        """Return those on ``node``, the oldest first."""
        return self._on.get(node, _NONE)

    def add(self, allocation: Allocation) -> None:
        """Add an allocation that was made or recovered."""
        identity = allocation.record.identity
        self.all[identity] = allocation
        self._of.setdefault(allocation.application, {})[identity] = allocation
        self._on.setdefault(allocation.node, {})[identity] = allocation

    def remove(self, allocation: Allocation) -> None:
        """Remove an allocation that has ended."""
        identity = allocation.record.identity
        del self.all[identity]
        of_application = self._of[allocation.application]
        del of_application[identity]
        if not of_application:
            del self._of[allocation.application]
        on_node = self._on[allocation.node]
        del on_node[identity]
        if not on_node:
            del self._on[allocation.node]

    def clear(self) -> None:
        """Remove all allocations: the partition ends."""
        self.all.clear()
        self._of.clear()
        self._on.clear()
