"""A mutant for each area that the kit must detect, and a permitted variant that it must not.

Each function changes messages of one type and revision, given by its first argument, between the
kit and a reference scheduler.
"""

from collections.abc import Callable
from typing import Final

from siwire.ext import extension_pb2 as ext

from siconform.doctor.change import Change, Wire, keep
from siconform.doctor.revision import NAME, si

CHANGES: Final[dict[str, Change]] = {}
_FOREIGN: Final = "foreign"  # the tag of a foreign allocation
_NODE_AS_NUMBER: Final = b"\x40\x01"  # field 8, a string, as a varint
_OPEN: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues: [{name: plain}, {name: fifo}, {name: first}, {name: second}, {name: quota}]
"""
_OF_SCHEDULER: Final = (si.TIMEOUT, si.PREEMPTED_BY_SCHEDULER, si.PLACEHOLDER_REPLACED)
Maker = Callable[[Callable[..., None]], Change]


def _makes(change: Change) -> Maker:
    def makes(maker: Callable[..., None]) -> Change:
        change.also(maker)
        CHANGES[change.name] = change
        return change

    return makes


def _mutant(name: str, summary: str, *areas: str, breaks: tuple[str, ...]) -> Maker:
    return _makes(Change(name, summary, breaks, areas, revision=NAME))


def _variant(name: str, summary: str) -> Maker:
    return _makes(Change(name, summary, revision=NAME, is_variant=True))


@_mutant("wrong-type-sent", "The node of an allocation has a number, too.", breaks=("SI-WIRE-006",))
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.MergeFromString(_NODE_AS_NUMBER)


@_mutant(
    "releases-not-taken",
    "Releases that come with asks are lost.",
    "REL",
    breaks=("SI-CONN-021",),
)
def _(request: si.AllocationRequest) -> None:
    if request.allocations:
        request.ClearField("releases")


@_mutant(
    "configuration-ignored",
    "The configuration of a registration is not used.",
    "CONN",
    "CFG",
    breaks=("SI-REG-014", "SI-REG-012"),
)
def _(request: si.RegisterResourceManagerRequest) -> None:
    request.config = _OPEN


@_mutant(
    "drain-ignored",
    "A node that is to be drained still receives allocations.",
    breaks=("SI-NODE-026",),
)
def _(request: si.NodeRequest) -> None:
    keep(request.nodes, lambda node: node.action != si.NodeInfo.DRAIN_NODE)


@_mutant(
    "application-accepted-twice",
    "A known application is accepted again.",
    "CONN",
    "REG",
    breaks=("SI-APP-002", "SI-APP-032"),
)
def _(response: si.ApplicationResponse) -> None:
    response.accepted.extend(
        si.AcceptedApplication(applicationID=one.applicationID) for one in response.rejected
    )
    del response.rejected[:]


@_mutant(
    "withdrawal-ignored",
    "A withdrawn ask is allocated anyway.",
    "GANG",
    breaks=("SI-ASK-018", "SI-REL-015"),
)
def ignored(request: si.AllocationRequest, wire: Wire) -> None:
    """Drop releases of keys without a known allocation."""
    held = wire.memory["held"]
    held.update(one.allocationKey for one in request.allocations if one.nodeID)
    keep(
        request.releases.allocationsToRelease,
        lambda release: not release.allocationKey or release.allocationKey in held,
    )


@ignored.also
def _(response: si.AllocationResponse, wire: Wire) -> None:
    wire.memory["held"].update(one.allocationKey for one in response.new)


@_mutant(
    "allocation-without-tags",
    "The tags of an ask are lost.",
    "ASK",
    "CONST",
    breaks=("SI-ALLOC-003",),
)
def _(response: si.AllocationResponse) -> None:
    for one in response.new:
        one.allocationTags.clear()


@_mutant(
    "missing-type-is-unlimited",
    "A resource type that a node does not list is unlimited.",
    "NODE",
    breaks=("SI-RES-001",),
)
def _(request: si.NodeRequest) -> None:
    for node in request.nodes:
        if node.HasField("schedulableResource") and "gpu" not in node.schedulableResource.resources:
            node.schedulableResource.resources["gpu"].value = 1_000


@_mutant(
    "release-not-confirmed",
    "A release by the RM is not confirmed.",
    "GANG",
    "CONN",
    breaks=("SI-REL-001",),
)
def _(response: si.AllocationResponse) -> None:
    keep(response.released, lambda release: release.terminationType != si.STOPPED_BY_RM)


@_mutant(
    "priority-upside-down",
    "The lowest priority comes first.",
    "ALLOC",
    breaks=("SI-PRE-005", "SI-ASK-012"),
)
def _(request: si.AllocationRequest) -> None:
    for ask in request.allocations:
        ask.priority = -ask.priority


@_mutant(
    "confirmation-not-awaited",
    "What the scheduler releases is gone at once.",
    "REL",
    "PRE",
    breaks=("SI-GANG-020", "SI-GANG-037", "SI-REL-011"),
)
def not_awaited(response: si.AllocationResponse, wire: Wire) -> None:
    """Confirm the scheduler's releases in place of the RM."""
    for release in response.released:
        if release.terminationType in _OF_SCHEDULER:
            request = si.AllocationRequest(rmID=wire.memory["rm"] or "")
            request.releases.allocationsToRelease.append(release)
            wire.to_scheduler(request)


@not_awaited.also
def _(request: si.AllocationRequest, wire: Wire) -> None:
    wire.memory["rm"] = request.rmID


@_mutant(
    "existing-renamed",
    "Existing allocations get another key.",
    "CONN",
    breaks=("SI-REC-003",),
)
def _(request: si.AllocationRequest) -> None:
    for one in request.allocations:
        if one.nodeID:
            one.allocationKey += "-x"


@_mutant(
    "update-not-applied",
    "A new configuration is acknowledged but not used.",
    breaks=("SI-CFG-001", "SI-CFG-005", "SI-CFG-006"),
)
def not_applied(change: ext.ConfigurationChange) -> None:
    """Send it to an RM that does not exist."""
    change.rm_id = change.rm_id and "no-such-rm"


@not_applied.also
def _(outcome: ext.ConfigurationOutcome) -> None:
    outcome.applied, outcome.reason = True, ""


@_mutant("checks-ignored", "The answers of the RM are ignored.", breaks=("SI-CB-002",))
def _(sent: ext.FromRm) -> None:
    if sent.HasField("answer"):
        sent.answer.ok = True


@_mutant("events-untyped", "Events have no type.", breaks=("SI-EVT-004", "SI-EVT-002"))
def _(received: ext.ToRm) -> None:
    if received.kind == ext.EVENT_BATCH:
        for payload in received.payloads:
            record = si.EventRecord.FromString(payload.data)
            record.type = si.EventRecord.UNKNOWN_EVENTRECORD_TYPE
            payload.data = record.SerializeToString()


@_mutant(
    "application-tags-ignored",
    "Tags of an application are not read.",
    breaks=("SI-CONST-006",),
)
def _(request: si.ApplicationRequest) -> None:
    for one in request.new:
        one.tags.clear()


@_mutant(
    "foreign-updates-ignored",
    "Updates of foreign allocations are ignored.",
    breaks=("SI-FOR-002",),
)
def _(request: si.AllocationRequest, wire: Wire) -> None:
    for one in request.allocations:
        if _FOREIGN in one.allocationTags:
            first = wire.memory["foreign"] = wire.memory["foreign"] or {}
            known = first.setdefault(one.allocationKey, one.resourcePerAlloc)
            one.resourcePerAlloc.CopyFrom(known)


@_variant("released-without-message", "A release has no message.")
def _(response: si.AllocationResponse) -> None:
    for release in response.released:
        release.message = ""
