"""The calls of the SI's API: for 2023-04 and later revisions, and for 2021-02."""

from typing import Any

from google.protobuf.message import Message
from siwire import Capability

from sireference.api.callback import OneStreamCallback, ResourceManagerCallback
from sireference.api.in_process import InProcess, usable
from sireference.core.model import UpdateConfiguration


class SchedulerAPI(InProcess):
    """The API from 2023-04 on: five calls with results by callback, later also ``stop``."""

    _is_of_one_stream = False

    def register_resource_manager(
        self, request: Message, callback: ResourceManagerCallback
    ) -> Message:
        """Register, or register again and drop all state. Raises SIError."""
        return self._register(request, callback)

    def update_allocation(self, request: Message) -> None:
        """Send an AllocationRequest. Raises SIError for an RM that is not registered."""
        self._update("UpdateAllocation", request, "AllocationRequest")

    def update_application(self, request: Message) -> None:
        """Send an ApplicationRequest. Raises SIError for an RM that is not registered."""
        self._update("UpdateApplication", request, "ApplicationRequest")

    def update_node(self, request: Message) -> None:
        """Send a NodeRequest. Raises SIError for an RM that is not registered."""
        self._update("UpdateNode", request, "NodeRequest")

    def update_configuration(self, request: Message) -> None:
        """Apply an UpdateConfigurationRequest as a whole. Raises SIError if it is rejected."""
        self._check(request, "UpdateConfigurationRequest")
        given: Any = request
        with usable():
            sent = self._codec.policies.configuration(given.policyGroup, given.config)
        extra = dict(given.extraConfig)
        self._handle(UpdateConfiguration(given.rmID, sent, given.policyGroup, extra))

    def stop(self) -> None:
        """Stop the service and drop everything: no further callback begins (SI-CB-015).

        Called from inside a callback, that callback is the last. Later calls raise SIError, except
        this one. Raises ValueError for a revision without it.
        """
        if not self.revision.can(Capability.API_STOP):
            raise ValueError(f"{self.revision.name} has no call Stop; close() ends the deadlines")
        self._stop()


class OneStreamAPI(InProcess):
    """The API of 2021-02: two calls with results by one callback."""

    _is_of_one_stream = True

    def register_resource_manager(self, request: Message, callback: OneStreamCallback) -> Message:
        """Register, or register again and drop all state. Raises SIError."""
        return self._register(request, callback)

    def update(self, request: Message) -> None:
        """Send an UpdateRequest. Raises SIError for an RM that is not registered."""
        self._update("Update", request, "UpdateRequest")
