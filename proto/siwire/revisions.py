"""The revisions of the SI and their capabilities.

A revision is named by the date of its specification; it is configured, never guessed from bytes.
Code checks a capability and does not compare names. A new revision is one folder with its
``si.proto``, one record here, and at most one codec and one dialect.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from importlib import import_module
from typing import Any, Final


class Capability(Enum):
    """A feature that some revisions have and others have not, and that code depends on."""

    ONE_UPDATE_STREAM = auto()  # nodes, applications and allocations share the stream Update
    THREE_UPDATE_STREAMS = auto()  # UpdateAllocation, UpdateApplication, UpdateNode
    CONFIGURATION_IN_REGISTRATION = auto()  # config, extraConfig, buildInfo
    ASKS_APART = auto()  # AllocationAsk with its maximum, its timeout, its release and rejection
    EXISTING_ALLOCATIONS_WITH_NODE = auto()  # NodeInfo.existingAllocations
    OCCUPIED_RESOURCE = auto()  # NodeInfo.occupiedResource
    CREATE_DRAIN = auto()  # NodeInfo.ActionFromRM.CREATE_DRAIN
    GANG_STYLE = auto()  # AddApplicationRequest.gangSchedulingStyle
    ORIGINATOR = auto()  # of an ask: AllocationAsk.Originator, Allocation.originator
    PLACEMENT_CONSTRAINTS = auto()
    API_STOP = auto()  # SchedulerAPI.Stop, in process


@dataclass(frozen=True)
class Revision:
    """A revision of the SI: its name, its aliases, and its capabilities."""

    name: str  # date of the specification, YYYY-MM
    aliases: tuple[str, ...]  # release lines with exactly this schema and these constants
    package: str  # the package with its si_pb2
    capabilities: frozenset[Capability]

    @cached_property
    def si(self) -> Any:
        """The revision's message module; typed access is ``from siwire.rYYYY_MM import si_pb2``."""
        return import_module(f"{self.package}.si_pb2")

    def can(self, capability: Capability) -> bool:
        """Return whether this revision has ``capability``."""
        return capability in self.capabilities

    def __str__(self) -> str:
        """Return the name, as in ``--revision``."""
        return self.name


_UNTIL_2023_12: Final = frozenset(
    {
        Capability.ASKS_APART,
        Capability.EXISTING_ALLOCATIONS_WITH_NODE,
        Capability.OCCUPIED_RESOURCE,
    }
)
_2021_02: Final = frozenset(
    {
        Capability.ONE_UPDATE_STREAM,
        Capability.PLACEMENT_CONSTRAINTS,
        *_UNTIL_2023_12,
    }
)
_2023_04: Final = frozenset(
    {
        *_UNTIL_2023_12,
        Capability.THREE_UPDATE_STREAMS,
        Capability.CONFIGURATION_IN_REGISTRATION,
        Capability.GANG_STYLE,
        Capability.ORIGINATOR,
    }
)
_2023_08: Final = _2023_04 | {Capability.CREATE_DRAIN}
_2023_12: Final = _2023_08
_2024_10: Final = (_2023_12 - _UNTIL_2023_12) | {Capability.API_STOP}
_2026_04: Final = _2024_10

REVISIONS: Final[Mapping[str, Revision]] = {
    revision.name: revision
    for revision in (
        Revision("2021-02", (), "siwire.r2021_02", _2021_02),
        Revision("2023-04", (), "siwire.r2023_04", _2023_04),
        Revision("2023-08", (), "siwire.r2023_08", _2023_08),
        Revision("2023-12", (), "siwire.r2023_12", _2023_12),
        Revision("2024-10", ("1.7", "1.8"), "siwire.r2024_10", _2024_10),
        Revision("2026-04", ("1.9",), "siwire.r2026_04", _2026_04),
    )
}
DEFAULT_REVISION: Final = REVISIONS["2024-10"]


@dataclass(frozen=True)
class NearLine:
    """A release line that no revision matches exactly, and the revision used for it."""

    name: str
    taken_as: str  # name of the revision
    differs: str  # differences of the line from that revision


NEAR_LINES: Final[Mapping[str, NearLine]] = {
    line.name: line
    for line in (
        NearLine(
            "0.10",
            "2021-02",
            "it has TerminationType outside AllocationRelease, and in AllocationAskRelease a "
            "terminationType as 4 and the message as 5",
        ),
        NearLine(
            "1.3",
            "2023-04",
            "its EventRecord has groupID as 3 and reason as 4, and no eventChangeType",
        ),
        NearLine(
            "1.4",
            "2023-08",
            "it spells applicationID right in UpdateContainerSchedulingStateRequest and has no "
            "constant KeyAllowPreemption",
        ),
        NearLine(
            "1.5",
            "2023-12",
            "it adds the event type USERGROUP, nine event details (213-216, 600-604), the "
            "constant AppTagNamespaceResourceMaxApps and the API's Stop",
        ),
        NearLine(
            "1.6",
            "2024-10",
            "it has occupiedResource as 5 in NodeInfo, and no constants Foreign, AllocTypeStatic "
            "and AllocTypeDefault",
        ),
    )
}


def find_revision(name: str) -> Revision:
    """Return the revision with this name or alias, or the one used for this release line.

    ``note_on`` returns the differences of an approximate release line. Raises LookupError with the
    nearest name and the known ones if there is none.
    """
    if name in NEAR_LINES:
        return REVISIONS[NEAR_LINES[name].taken_as]
    for revision in REVISIONS.values():
        if name == revision.name or name in revision.aliases:
            return revision
    names = [n for r in REVISIONS.values() for n in (r.name, *r.aliases)]
    close = difflib.get_close_matches(name, [*names, *NEAR_LINES], n=1)
    hint = f'; did you mean "{close[0]}"?' if close else ""
    known = ", ".join(_with_lines(revision) for revision in REVISIONS.values())
    message = f'unknown revision "{name}"{hint} (known: {known})'
    raise LookupError(message)


def note_on(name: str) -> str | None:
    """Return how the release line ``name`` differs from the revision used for it; None if exact."""
    line = NEAR_LINES.get(name)
    if line is None:
        return None
    return (
        f"SI {line.name} is mapped to {line.taken_as}, the nearest revision; it differs: "
        f"{line.differs}."
    )


def _with_lines(revision: Revision) -> str:
    near = [f"near {n.name}" for n in NEAR_LINES.values() if n.taken_as == revision.name]
    return f"{revision.name} ({', '.join([*revision.aliases, *near])})"
