"""What a resource manager implements to be called in process.

The names are the SI's, written as Python writes them. Where the SI has a method return an error,
here it raises ``SIError``.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from google.protobuf.message import Message


class SIError(Exception):
    """What the SI calls an error, of either side: the text says why not."""


@runtime_checkable
class PredicatesPlugin(Protocol):
    """An RM that is asked before an ask gets a node."""

    def predicates(self, args: Message) -> None:
        """Return if the container of these PredicatesArgs may be there, raise SIError if not."""


@runtime_checkable
class PreemptionPredicatesPlugin(Protocol):
    """An RM that is asked before others have to go for an ask (from 2023-04 on)."""

    def preemption_predicates(self, args: Message) -> Message:
        """Answer PreemptionPredicatesArgs with a PreemptionPredicatesResponse."""


@runtime_checkable
class EventPlugin(Protocol):
    """An RM that is told what happens to requests, applications, nodes and queues."""

    def send_event(self, events: Sequence[Message]) -> None:
        """Take EventRecords, in the order in which things happened."""


@runtime_checkable
class ContainerStatePlugin(Protocol):
    """An RM that is told how the scheduling of its containers goes."""

    def update_container_scheduling_state(self, request: Message) -> None:
        """Take an UpdateContainerSchedulingStateRequest."""


@runtime_checkable
class CachePlugin(Protocol):
    """An RM that keeps a cache of allocations in step with the scheduler (2021-02)."""

    def re_sync_scheduler_cache(self, args: Message) -> None:
        """Take ReSyncSchedulerCacheArgs."""


@runtime_checkable
class StateDumpPlugin(Protocol):
    """An RM that has something to add to a state dump."""

    def get_state_dump(self) -> str:
        """The state of the RM as a JSON document."""


class ResourceManagerCallback(
    PredicatesPlugin, PreemptionPredicatesPlugin, EventPlugin, ContainerStatePlugin, Protocol
):
    """What every RM implements from 2023-04 on; the results of what it says come this way."""

    def update_allocation(self, response: Message) -> None:
        """Take an AllocationResponse."""

    def update_application(self, response: Message) -> None:
        """Take an ApplicationResponse."""

    def update_node(self, response: Message) -> None:
        """Take a NodeResponse."""


class OneStreamCallback(Protocol):
    """What every RM implements in 2021-02; it may be one of the plugins as well."""

    def recv_update_response(self, response: Message) -> None:
        """Take an UpdateResponse."""
