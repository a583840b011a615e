"""The calls of the SI's API: of 2023-04 and all later revisions, and of 2021-02."""

from typing import Any

from google.protobuf.message import Message
from siwire import Capability, Revision

from sireference.api.callback import OneStreamCallback, ResourceManagerCallback
from sireference.api.in_process import InProcess, usable
from sireference.clock import Clock
from sireference.codec import Policies
from sireference.core.model import Settings, UpdateConfiguration


class SchedulerAPI(InProcess):
    """The API from 2023-04 on: five calls, whose results come by callback; later also ``stop``."""

    def __init__(
        self,
        revision: Revision,
        policies: Policies | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        *,
        show_extra_config: bool = False,
    ) -> None:
        """See InProcess. Raises ValueError for a revision that has another API."""
        if revision.can(Capability.ONE_UPDATE_STREAM):
            raise ValueError(f"{revision.name} has the calls of OneStreamAPI")
        super().__init__(revision, policies, settings, clock, show_extra_config=show_extra_config)

    def register_resource_manager(
        self, request: Message, callback: ResourceManagerCallback
    ) -> Message:
        """Register, or begin again with nothing known. Raises SIError."""
        return self._register(request, callback)

    def update_allocation(self, request: Message) -> None:
        """Take an AllocationRequest. Raises SIError for an RM that is not registered."""
        self._update("UpdateAllocation", request, "AllocationRequest")

    def update_application(self, request: Message) -> None:
        """Take an ApplicationRequest. Raises SIError for an RM that is not registered."""
        self._update("UpdateApplication", request, "ApplicationRequest")

    def update_node(self, request: Message) -> None:
        """Take a NodeRequest. Raises SIError for an RM that is not registered."""
        self._update("UpdateNode", request, "NodeRequest")

    def update_configuration(self, request: Message) -> None:
        """Take an UpdateConfigurationRequest as a whole. Raises SIError where that cannot be."""
        self._check(request, "UpdateConfigurationRequest")
        given: Any = request
        with usable():
            sent = self._codec.policies.configuration(given.policyGroup, given.config)
        extra = dict(given.extraConfig)
        self._handle(UpdateConfiguration(given.rmID, sent, given.policyGroup, extra))

    def stop(self) -> None:
        """End the service, of which all is dropped: no callback begins any more (SI-CB-015).

        From inside a callback that one is the last. Further calls raise SIError, but this one may
        be repeated. Raises ValueError for a revision that has no such call.
        """
        if not self.revision.can(Capability.API_STOP):
            raise ValueError(f"{self.revision.name} has no call Stop; close() ends the deadlines")
        self._stop()


class OneStreamAPI(InProcess):
    """The API of 2021-02: two calls, whose results come by one callback."""

    def __init__(
        self,
        revision: Revision,
        policies: Policies | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        *,
        show_extra_config: bool = False,
    ) -> None:
        """See InProcess. Raises ValueError for a revision that has another API."""
        if not revision.can(Capability.ONE_UPDATE_STREAM):
            raise ValueError(f"{revision.name} has the calls of SchedulerAPI")
        super().__init__(revision, policies, settings, clock, show_extra_config=show_extra_config)

    def register_resource_manager(self, request: Message, callback: OneStreamCallback) -> Message:
        """Register, or begin again with nothing known. Raises SIError."""
        return self._register(request, callback)

    def update(self, request: Message) -> None:
        """Take an UpdateRequest. Raises SIError for an RM that is not registered."""
        self._update("Update", request, "UpdateRequest")
