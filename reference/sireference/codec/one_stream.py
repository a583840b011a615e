"""The codec of 2021-02, where everything travels on one update stream."""

from collections.abc import Iterator, Sequence
from itertools import chain
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
from sireference.codec.portions import Elements, in_portions
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

    def events(self, _method: str, message: si.UpdateRequest) -> Iterator[Event]:
        """The events in one request, so that what refers to another element finds it (SI-CONN-016).

        New applications come first, then nodes, whose existing allocations belong to applications;
        then asks and what is released, then reports; what is removed goes last.
        """
        rm_id, reading, releases = message.rmID, self._reading, message.releases
        kinds = (
            in_portions(
                UpdateApplications, rm_id, Elements("new", application, message.newApplications)
            ),
            in_portions(
                UpdateNodes,
                rm_id,
                Elements("nodes", reading.new_node, message.newSchedulableNodes),
                Elements("nodes", updated_node, message.updatedNodes),
            ),
            in_portions(
                UpdateAllocations,
                rm_id,
                Elements("asks", reading.ask, message.asks),
                Elements("ask_releases", ask_release, releases.allocationAsksToRelease),
                Elements("releases", release, releases.allocationsToRelease),
            ),
            in_portions(
                ReportUtilisation, rm_id, Elements("reports", report, message.utilizationReports)
            ),
            in_portions(
                UpdateApplications, rm_id, Elements("remove", removal, message.removeApplications)
            ),
        )
        says_something = False
        for event in chain.from_iterable(kinds):
            if event != type(event)(rm_id):
                says_something = True
                yield event
        if not says_something:
            yield UpdateAllocations(rm_id)

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
