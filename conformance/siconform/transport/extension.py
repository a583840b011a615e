"""The client of siconform.ext.v1, which a target may offer in addition to the SI."""

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import grpc
from google.protobuf.message import Message
from siwire import rpc
from siwire.ext import extension_pb2 as ext

from siconform.outcomes import NotOffered, PreconditionFailed, Unreachable, in_short
from siconform.protocol.facets import NONE, Facet, Facets
from siconform.transport.access import OPEN, Access
from siconform.transport.channels import close, how_it_ended
from siconform.transport.extension_messages import MILLISECOND, read_facets

SERVICE: Final = ext.DESCRIPTOR.services_by_name["SchedulerExtension"]
_GONE: Final = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED})


class Extension:
    """One target's extension, on a separate channel.

    ``facets`` is requested once; a target without the extension offers none. A call whose facet is
    not offered raises NotOffered before anything is sent.
    """

    def __init__(
        self, address: str, timeout: float, facets: Facets | None = None, access: Access = OPEN
    ) -> None:
        self._channel = access.channel(address)
        self._methods = rpc.methods_of(SERVICE)
        self._timeout = timeout
        self._facets = facets

    @property
    def facets(self) -> Facets:
        """The facets that the target offers."""
        if self._facets is None:
            self._facets = self.describes("")
        return self._facets

    def describes(self, rm_id: str) -> Facets:
        """Return the facets that the target offers, with the timers that apply to this RM."""
        try:
            received: ext.Facets = self._ask("Describe", ext.DescribeQuery(rm_id=rm_id))
        except grpc.RpcError as error:
            if _code(error) in _GONE:
                raise _lost("Describe", error) from None
            return NONE
        return read_facets(received)

    def offers(self, facet: Facet) -> bool:
        """Return whether the target offers this facet."""
        return facet in self.facets.offered

    def presupposes(self, facet: Facet) -> None:
        """Raise NotOffered unless the target offers this."""
        if not self.offers(facet):
            raise NotOffered(f"the target does not offer the extension's {facet.value}")

    def snapshot(self, rm_id: str) -> ext.SnapshotResult:
        """Return what the scheduler holds for this RM."""
        query = ext.SnapshotQuery(rm_id=rm_id)
        received: ext.SnapshotResult = self._call(Facet.SNAPSHOT, "Snapshot", query)
        return received

    def metrics(self, rm_id: str) -> ext.MetricsResult:
        """Return outstanding demand and counters."""
        query = ext.MetricsQuery(rm_id=rm_id)
        received: ext.MetricsResult = self._call(Facet.METRICS, "ReadMetrics", query)
        return received

    def applies(self, change: ext.ConfigurationChange) -> ext.ConfigurationOutcome:
        """Apply the configuration and return the outcome; an error status is a refusal."""
        self.presupposes(Facet.CONFIGURATION)
        begun = time.monotonic()
        try:
            received: ext.ConfigurationOutcome = self._ask("ApplyConfiguration", change)
        except grpc.RpcError as error:
            code = how_it_ended(error, left=begun + self._timeout - time.monotonic())
            if code in _GONE:
                raise _lost("ApplyConfiguration", error) from None
            if code is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise PreconditionFailed(
                    f"no answer to ApplyConfiguration in {self._timeout:g} s"
                ) from None
            return ext.ConfigurationOutcome(applied=False, reason=_message(error))
        return received

    def advances(self, seconds: float) -> None:
        """Advance the target's clock, to the millisecond."""
        step = ext.ClockStep(milliseconds=max(1, round(seconds / MILLISECOND)))
        self._call(Facet.VIRTUAL_CLOCK, "AdvanceClock", step)

    def opens_callbacks(self, sent: Iterator[ext.FromRm]) -> Any:
        """Return the callback stream: iterable over the scheduler's calls, can be cancelled."""
        return rpc.callable_for(self._channel, self._methods["Callbacks"])(sent)

    def close(self) -> None:
        """Close the channel without waiting."""
        close(self._channel)

    def _call(self, facet: Facet, name: str, request: Message) -> Any:
        self.presupposes(facet)
        try:
            return self._ask(name, request)
        except grpc.RpcError as error:
            if _code(error) in _GONE:
                raise _lost(name, error) from None
            raise PreconditionFailed(
                f"{name}, which the target offers, ended with {_message(error)}"
            ) from None

    def _ask(self, name: str, request: Message) -> Any:
        call: Callable[..., Any] = rpc.callable_for(self._channel, self._methods[name])
        return call(request, timeout=self._timeout)


def _lost(name: str, error: grpc.RpcError) -> Unreachable:
    return Unreachable(f"the target is gone, {name} ended with {_message(error)}")


def _code(error: grpc.RpcError) -> grpc.StatusCode | None:
    return error.code() if isinstance(error, grpc.Call) else None


def _message(error: grpc.RpcError) -> str:
    if not isinstance(error, grpc.Call):
        return str(error)
    return f"{error.code().name} {in_short(error.details() or '')}".rstrip()
