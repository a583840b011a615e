"""Three update streams, as in every revision from 2023-04 on.

A revision provides a ``Reading`` for the elements of requests and slots for those of responses;
this module combines them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from siwire import Revision

from sireference.codec import messages
from sireference.codec.callbacks import CallbackCodec
from sireference.codec.chunks import Elements, in_chunks
from sireference.codec.codec import Codec, Stream
from sireference.codec.extra_config import proposed_timers
from sireference.codec.packing import Slot
from sireference.codec.policies import Policies
from sireference.codec.reading import Copied, completed
from sireference.core.model import (
    AllocationRecord,
    Event,
    NewApplication,
    NodeInfo,
    Register,
    ReleaseRequest,
    RemoveApplication,
    Rules,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)
from sireference.core.states import NodeAction

NODE: Final = "UpdateNode"
APPLICATION: Final = "UpdateApplication"
ALLOCATION: Final = "UpdateAllocation"


@dataclass(frozen=True)
class Reading:
    """How one revision's elements are read; each function declares its message types.

    ``allocation_lists`` are those of an AllocationRequest; it and ``node`` receive the reading, for
    nested elements.
    """

    node: Callable[["Reading", Any], NodeInfo]
    node_actions: Mapping[int, NodeAction]  # by number; missing numbers are unset
    application: Callable[[Any], NewApplication]
    removal: Callable[[Any], RemoveApplication]
    allocation_lists: Callable[["Reading", Any], Iterable[Elements]]
    allocation: Callable[[Any], AllocationRecord]
    release: Callable[[Any], ReleaseRequest]
    copied_by_asks: tuple[Copied, ...]
    copied_by_applications: tuple[Copied, ...]


@dataclass(frozen=True)
class Slots:
    """The slots of one revision's responses."""

    node: Mapping[type, Slot]
    application: Mapping[type, Slot]
    allocation: Mapping[type, Slot]


def codec(
    revision: Revision,
    reading: Reading,
    slots: Slots,
    callbacks: CallbackCodec,
    rules: Rules | None = None,
) -> Codec:
    """Return the codec of a revision with three streams."""
    return Codec(
        revision=revision,
        registration=registration,
        streams=streams(revision, reading, slots),
        callbacks=callbacks,
        rules=rules or Rules(),
    )


def streams(revision: Revision, reading: Reading, slots: Slots) -> Mapping[str, Stream]:
    """Return the streams of ``revision`` by method, allocations first."""
    si = revision.si

    def nodes(message: messages.NodeRequest, _: Policies) -> Iterator[Event]:
        elements = Elements("nodes", partial(reading.node, reading), message.nodes)
        return in_chunks(UpdateNodes, message.rmID, elements)

    def applications(message: messages.ApplicationRequest, _: Policies) -> Iterator[Event]:
        return in_chunks(
            UpdateApplications,
            message.rmID,
            Elements("new", partial(application, reading), message.new),
            Elements("remove", reading.removal, message.remove),
        )

    def allocations(message: messages.AllocationRequest, _: Policies) -> Iterator[Event]:
        lists = reading.allocation_lists(reading, message)
        return in_chunks(UpdateAllocations, message.rmID, *lists)

    return {
        ALLOCATION: Stream(allocations, si.AllocationResponse, slots.allocation),
        APPLICATION: Stream(applications, si.ApplicationResponse, slots.application),
        NODE: Stream(nodes, si.NodeResponse, slots.node),
    }


def application(reads: Reading, message: messages.StyledApplication) -> NewApplication:
    """Read an AddApplicationRequest with the scalars that the record copies."""
    return completed(reads.application(message), reads.copied_by_applications, message)


def registration(message: messages.Registration, policies: Policies) -> Register:
    """Read a registration. Raises ConfigurationError and NoPolicyError."""
    return Register(
        rm_id=message.rmID,
        configuration=policies.configuration(message.policyGroup, message.config),
        version=message.version,
        policy_group=message.policyGroup,
        build_info=dict(message.buildInfo),
        extra_config=dict(message.extraConfig),
        timers=proposed_timers(message.extraConfig),
    )
