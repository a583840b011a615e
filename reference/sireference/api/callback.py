"""Callback interfaces that a resource manager implements in process.

The names are the SI's, in Python spelling. Where an SI method returns an error, these raise
``SIError``.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from google.protobuf.message import Message


class SIError(Exception):
    """An error of the SI, raised by either side; the message is the reason."""


@runtime_checkable
class PredicatesPlugin(Protocol):
    """An RM that is asked before an ask gets a node."""

    def predicates(self, args: Message) -> None:
        """Return if the container of these PredicatesArgs may run there, raise SIError if not."""


@runtime_checkable
class PreemptionPredicatesPlugin(Protocol):
    """An RM that is asked before preemption for an ask (from 2023-04 on)."""

    def preemption_predicates(self, args: Message) -> Message:
        """Answer PreemptionPredicatesArgs with a PreemptionPredicatesResponse."""


@runtime_checkable
class EventPlugin(Protocol):
    """An RM that receives event records of requests, applications, nodes and queues."""

    def send_event(self, events: Sequence[Message]) -> None:
        """Receive EventRecords in chronological order."""


@runtime_checkable
class ContainerStatePlugin(Protocol):
    """An RM that receives the scheduling states of its containers."""

    def update_container_scheduling_state(self, request: Message) -> None:
        """Receive an UpdateContainerSchedulingStateRequest."""


@runtime_checkable
class CachePlugin(Protocol):
    """An RM that keeps a cache of allocations in sync with the scheduler (2021-02)."""

    def re_sync_scheduler_cache(self, args: Message) -> None:
        """Receive ReSyncSchedulerCacheArgs."""


@runtime_checkable
class StateDumpPlugin(Protocol):
    """An RM that contributes to a state dump."""

    def get_state_dump(self) -> str:
        """Return the state of the RM as a JSON document."""


class ResourceManagerCallback(
    PredicatesPlugin, PreemptionPredicatesPlugin, EventPlugin, ContainerStatePlugin, Protocol
):
    """What every RM implements from 2023-04 on to receive responses."""

    def update_allocation(self, response: Message) -> None:
        """Receive an AllocationResponse."""

    def update_application(self, response: Message) -> None:
        """Receive an ApplicationResponse."""

    def update_node(self, response: Message) -> None:
        """Receive a NodeResponse."""


class OneStreamCallback(Protocol):
    """What every RM implements in 2021-02; it may also implement plugins."""

    def recv_update_response(self, response: Message) -> None:
        """Receive an UpdateResponse."""
