"""The client of siconform.ext.v1.RmDriver, which triggers actions of an RM under test."""

from typing import Any, Final

import grpc
from siwire import rpc
from siwire.ext import extension_pb2 as ext

from siconform.outcomes import PreconditionFailed, in_short
from siconform.transport.access import OPEN, Access
from siconform.transport.channels import close

_SERVICE: Final = ext.DESCRIPTOR.services_by_name["RmDriver"]


class RmDriver:
    """One RM's driver; every call is limited to ``timeout`` seconds."""

    def __init__(self, address: str, timeout: float, access: Access = OPEN) -> None:
        self.address = address
        self._timeout = timeout
        self._channel = access.channel(address)
        self._drive: Any = rpc.callable_for(self._channel, rpc.methods_of(_SERVICE)["Drive"])

    def drive(self, command: ext.DriveCommand) -> ext.DriveOutcome:
        """Trigger one action; PreconditionFailed with the driver's reason if it is not done."""
        action = command.WhichOneof("action")
        try:
            outcome: ext.DriveOutcome = self._drive(
                command, timeout=self._timeout, wait_for_ready=True
            )
        except grpc.RpcError as error:
            raise PreconditionFailed(self._ended(action, error)) from None
        if not outcome.done:
            reason = in_short(outcome.reason) or "no reason given"
            raise PreconditionFailed(f"the RM's driver did not do {action}: {reason}")
        return outcome

    def close(self) -> None:
        """Close the channel without waiting."""
        close(self._channel)

    def _ended(self, action: str | None, error: grpc.RpcError) -> str:
        code = error.code() if isinstance(error, grpc.Call) else grpc.StatusCode.UNKNOWN
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return f"the RM's driver does not support {action}"
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            return f"no answer to {action} in {self._timeout:g} s from the driver {self.address}"
        details = in_short((error.details() or "") if isinstance(error, grpc.Call) else str(error))
        return f"{action} by the driver {self.address} ended with {code.name} {details}".rstrip()
