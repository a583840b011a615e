"""The codec of 2021-02, where everything travels on one update stream."""

from collections.abc import Iterator, Sequence
from typing import Final

from siwire import Revision
from siwire.r2021_02 import si_pb2 as si

from sireference.codec.one_stream_reading import (
    OneStreamReading,
    application,
    ask_release,
    release,
    report,
    updated_node,
)
from sireference.codec.one_stream_writing import responses
from sireference.codec.policies import Policies
from sireference.codec.reading import removal
from sireference.core.model import (
    Answer,
    Event,
    Refused,
    Register,
    ReportUtilisation,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)

_UPDATE: Final = "Update"


class OneStream:
    """Reads and writes that revision; ``policies`` stands for what its registration cannot say."""

    update_methods = (_UPDATE,)

    def __init__(self, revision: Revision, policies: Policies) -> None:
        self.revision = revision
        self.policies = policies
        self._reading = OneStreamReading(policies)

    def register(self, message: si.RegisterResourceManagerRequest) -> Register:
        """The event in a registration. Raises NoPolicyError for a group nobody configured."""
        return Register(
            rm_id=message.rmID,
            configuration=self.policies.configuration(message.policyGroup),
            version=message.version,
            policy_group=message.policyGroup,
        )

    def events(self, _method: str, message: si.UpdateRequest) -> list[Event]:
        """The events in one request, so that what refers to another element finds it (SI-CONN-016).

        New applications come first, then nodes, whose existing allocations belong to applications;
        then asks and what is released, then reports; what is removed goes last.
        """
        rm_id, reading, releases = message.rmID, self._reading, message.releases
        nodes = (
            *map(reading.new_node, message.newSchedulableNodes),
            *map(updated_node, message.updatedNodes),
        )
        allocations = UpdateAllocations(
            rm_id,
            asks=tuple(map(reading.ask, message.asks)),
            ask_releases=tuple(map(ask_release, releases.allocationAsksToRelease)),
            releases=tuple(map(release, releases.allocationsToRelease)),
        )
        events: list[Event] = []
        if message.newApplications:
            events.append(
                UpdateApplications(rm_id, new=tuple(map(application, message.newApplications)))
            )
        if nodes:
            events.append(UpdateNodes(rm_id, nodes))
        if allocations != UpdateAllocations(rm_id):
            events.append(allocations)
        if message.utilizationReports:
            reports = tuple(map(report, message.utilizationReports))
            events.append(ReportUtilisation(rm_id, reports))
        if message.removeApplications:
            removals = tuple(map(removal, message.removeApplications))
            events.append(UpdateApplications(rm_id, remove=removals))
        return events or [allocations]

    def method_of(self, _answer: Answer) -> str:
        """The one stream."""
        return _UPDATE

    def responses(self, _method: str, answers: Sequence[Answer]) -> Iterator[si.UpdateResponse]:
        """Messages that say ``answers``, in their order."""
        return responses(answers)

    def farewell(self, refused: Refused) -> list[si.UpdateResponse]:
        """What is said before the stream of an RM that is not running ends: register again."""
        if not refused.rm_id:
            return []  # nobody who could register
        return [si.UpdateResponse(action=si.UpdateResponse.RESYNC)]
