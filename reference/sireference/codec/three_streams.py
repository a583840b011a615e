"""The codec of the revisions with three update streams: 2023-04, 2023-08 and 2023-12."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from siwire import Capability, Revision

from sireference.codec.extra_config import proposed_timers
from sireference.codec.policies import Policies
from sireference.codec.portions import Elements, in_portions
from sireference.codec.reading import Reading, application, removal
from sireference.codec.writing import Writing
from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    Answer,
    Event,
    Refused,
    Register,
    RejectedApplication,
    RejectedNode,
    UpdateAllocations,
    UpdateApplications,
    UpdatedApplication,
    UpdateNodes,
)

_NODE, _APPLICATION, _ALLOCATION = "UpdateNode", "UpdateApplication", "UpdateAllocation"
_STREAM_OF: Final[dict[type, str]] = {
    AcceptedNode: _NODE,
    RejectedNode: _NODE,
    AcceptedApplication: _APPLICATION,
    RejectedApplication: _APPLICATION,
    UpdatedApplication: _APPLICATION,
}


class ThreeStreams:
    """Reads and writes one of these revisions; what differs among them are capabilities."""

    update_methods = (_ALLOCATION, _APPLICATION, _NODE)

    def __init__(self, revision: Revision, policies: Policies) -> None:
        self.revision = revision
        self.policies = policies
        self._reading = Reading(revision)
        self._writing = Writing(revision)
        self._recovers = revision.can(Capability.RECOVERY_BY_ALLOCATIONS)
        si = revision.si
        self._responses: dict[str, type] = {
            _NODE: si.NodeResponse,
            _APPLICATION: si.ApplicationResponse,
            _ALLOCATION: si.AllocationResponse,
        }

    def register(self, message: Any) -> Register:
        """The event in a registration. Raises ConfigurationError and NoPolicyError."""
        return Register(
            rm_id=message.rmID,
            configuration=self.policies.configuration(message.policyGroup, message.config),
            version=message.version,
            policy_group=message.policyGroup,
            build_info=dict(message.buildInfo),
            extra_config=dict(message.extraConfig),
            timers=proposed_timers(message.extraConfig),
        )

    def events(self, method: str, message: Any) -> Iterator[Event]:
        """One request, in as many events as it is large."""
        rm_id, reading = message.rmID, self._reading
        if method == _NODE:
            nodes = Elements("nodes", reading.node, message.nodes)
            return in_portions(UpdateNodes, rm_id, nodes)
        if method == _APPLICATION:
            return in_portions(
                UpdateApplications,
                rm_id,
                Elements("new", application, message.new),
                Elements("remove", removal, message.remove),
            )
        existing = message.allocations if self._recovers else ()
        releases = message.releases
        return in_portions(
            UpdateAllocations,
            rm_id,
            Elements("allocations", reading.allocation, existing),
            Elements("asks", reading.ask, message.asks),
            Elements("ask_releases", reading.ask_release, releases.allocationAsksToRelease),
            Elements("releases", reading.release, releases.allocationsToRelease),
        )

    def method_of(self, answer: Answer) -> str:
        """The stream of its kind, whatever caused it (SI-CONN-014)."""
        return _STREAM_OF.get(type(answer), _ALLOCATION)

    def responses(self, method: str, answers: Sequence[Answer]) -> Iterator[Any]:
        """Messages of the stream ``method`` that say ``answers``, in their order."""
        return self._writing.responses(self._responses[method], answers)

    def farewell(self, _refused: Refused) -> list[Any]:
        """Nothing: these revisions have no word for it, the status of the stream says it (C-05)."""
        return []
