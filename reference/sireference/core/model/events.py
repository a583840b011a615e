"""Events: the incoming messages of the core.

A large request is split into several events. If ``more_follows`` is set, the next event belongs to
the same request, and nothing is scheduled before it is handled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sireference.configuration.model import Configuration
from sireference.core.model.callbacks import Answered, Callback, OfferCallbacks
from sireference.core.model.records import (
    NO_PROPOSAL,
    AllocationRecord,
    Ask,
    AskReleaseRequest,
    Entry,
    NewApplication,
    NodeInfo,
    ProposedTimers,
    ReleaseRequest,
    RemoveApplication,
    UtilisationReport,
)
from sireference.core.model.rules import Rules


@dataclass(frozen=True, slots=True)
class Register:
    """A resource manager registers, or registers again."""

    rm_id: str
    configuration: Configuration
    version: str = ""
    policy_group: str = ""
    build_info: Mapping[str, str] = field(default_factory=dict)
    extra_config: Mapping[str, str] = field(default_factory=dict)
    callbacks: frozenset[Callback] = frozenset()
    timers: ProposedTimers = NO_PROPOSAL
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True, slots=True)
class UpdateNodes:
    """Nodes to create, change, drain or remove, in this order."""

    rm_id: str
    nodes: tuple[NodeInfo, ...] = ()
    more_follows: bool = False


@dataclass(frozen=True, slots=True)
class UpdateApplications:
    """Applications to add, then applications to remove (C-35)."""

    rm_id: str
    new: tuple[NewApplication, ...] = ()
    remove: tuple[RemoveApplication, ...] = ()
    more_follows: bool = False


@dataclass(frozen=True, slots=True)
class UpdateAllocations:
    """Existing allocations, asks, withdrawn asks and released allocations, in this order.

    Revisions with one list for requests and existing allocations use ``entries``, which come first,
    in list order.
    """

    rm_id: str
    allocations: tuple[AllocationRecord, ...] = ()
    asks: tuple[Ask, ...] = ()
    ask_releases: tuple[AskReleaseRequest, ...] = ()
    releases: tuple[ReleaseRequest, ...] = ()
    entries: tuple[Entry, ...] = ()
    more_follows: bool = False


@dataclass(frozen=True, slots=True)
class ReportUtilisation:
    """Actual usage of nodes and allocations."""

    rm_id: str
    reports: tuple[UtilisationReport, ...] = ()
    more_follows: bool = False


@dataclass(frozen=True, slots=True)
class UpdateConfiguration:
    """The RM replaces the configuration it registered with."""

    rm_id: str
    configuration: Configuration
    policy_group: str = ""  # the one it registered with, or none
    extra_config: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The last stream of a running RM broke."""

    rm_id: str


@dataclass(frozen=True, slots=True)
class ShutDown:
    """The RM half-closed all its streams: a clean shutdown."""

    rm_id: str


Update = UpdateNodes | UpdateApplications | UpdateAllocations | ReportUtilisation
Event = (
    Register | Update | UpdateConfiguration | OfferCallbacks | Answered | ConnectionLost | ShutDown
)
