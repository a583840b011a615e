"""A running scheduler: the kit connects to it and never starts or stops it."""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it has no types
from siwire import Revision, rpc

from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets import TargetUnavailable
from siconform.targets.terms import PLAIN, Terms
from siconform.transport.access import OPEN, Access
from siconform.transport.channels import close
from siconform.transport.reachability import comes_to

CONNECT_TIMEOUT = 5.0  # seconds
_LOOK_AGAIN = 0.2  # seconds between two checks whether it is up
_PROBE_TIMEOUT = 1.0  # seconds for a call without messages


@dataclass
class AttachedTarget:
    """A target at an address; its state is unknown, so it counts as running."""

    address: str
    revision: Revision
    time_scale: float
    traits: frozenset[str] = frozenset()
    restartable: bool = False
    timers: Timers = UNKNOWN
    stated: Timers = UNKNOWN
    terms: Terms = PLAIN

    @property
    def name(self) -> str:
        """Its address, the only known name."""
        return self.address

    def alive(self) -> bool:
        """Return True: the kit cannot observe a process it did not start."""
        return True

    def restart(self) -> None:
        """Raise TargetUnavailable: the kit restarts only processes it started."""
        raise TargetUnavailable(
            f"the scheduler at {self.address} was not started by the kit and cannot be restarted"
        )

    def stop(self) -> None:
        """Do nothing: the kit ends only processes it started."""


class NotUpYet(TargetUnavailable):
    """Nothing answers there yet, which may change."""


def check_address(
    address: str, revision: Revision, access: Access = OPEN, *, health: bool = False
) -> None:
    """Raise TargetUnavailable unless a gRPC server with a stream of this revision is there.

    With ``health`` it must not report NOT_SERVING either.
    """
    check_listens(address)
    channel = access.channel(address)
    try:
        obstacle = comes_to(channel, address, access, CONNECT_TIMEOUT)
        if obstacle is not None:
            raise (NotUpYet if obstacle.may_pass else TargetUnavailable)(f"{obstacle.message}.")
        if health:
            _check_health(channel, address)
        _check_implements(channel, address, revision)
    finally:
        close(channel, CONNECT_TIMEOUT)


def await_address(
    address: str,
    revision: Revision,
    access: Access,
    patience: float,
    report: Callable[[str], None],
) -> None:
    """Retry ``check_address`` for ``patience`` seconds; ``report`` announces a wait once."""
    until = time.monotonic() + patience
    reported = False
    while True:
        try:
            check_address(address, revision, access, health=True)
        except NotUpYet as error:
            if time.monotonic() >= until:
                message = error.message.rstrip(".")
                raise TargetUnavailable(f"{message}; waited {patience:g} s for it.") from None
        else:
            return
        if not reported:
            report(f"waits up to {patience:g} s for the scheduler at {address} to answer")
            reported = True
        time.sleep(_LOOK_AGAIN)


def _check_health(channel: grpc.Channel, address: str) -> None:
    """Check grpc.health.v1, which is optional."""
    try:
        received = health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(), timeout=_PROBE_TIMEOUT
        )
    except grpc.RpcError:
        return
    if received.status == health_pb2.HealthCheckResponse.NOT_SERVING:
        raise NotUpYet(f"the scheduler at {address} reports that it does not serve (NOT_SERVING).")


def _check_implements(channel: grpc.Channel, address: str, revision: Revision) -> None:
    """Check for the revision's streams; these distinguish only 2021-02 from later ones."""
    streams = [m for m in rpc.methods(revision).values() if m.client_streaming]
    if all(_unimplemented(channel, stream) for stream in streams):
        message = (
            f"the scheduler at {address} does not implement SI {revision}: it has no "
            f"{' or '.join(stream.name for stream in streams)}. Give another --revision."
        )
        raise TargetUnavailable(message)


def _unimplemented(channel: grpc.Channel, method: rpc.Method) -> bool:
    """Return whether a call, without a message and so without effect, is UNIMPLEMENTED."""
    call = rpc.callable_for(channel, method)(iter(()), timeout=_PROBE_TIMEOUT)
    try:
        for _ in call:
            call.cancel()
            return False
    except grpc.RpcError as error:
        return bool(error.code() is grpc.StatusCode.UNIMPLEMENTED)
    return False


def check_listens(address: str) -> None:
    """Raise TargetUnavailable unless something accepts connections there."""
    try:
        if address.startswith("unix:"):
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(CONNECT_TIMEOUT)
                probe.connect(address.removeprefix("unix:").removeprefix("//"))
        else:
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT).close()
    except socket.gaierror:
        raise NotUpYet(f"unknown host in {address}.") from None
    except OSError as error:
        why = "" if isinstance(error, ConnectionRefusedError) else f" ({error.strerror or error})"
        message = (
            f"nothing listens on {address}{why}. Start the scheduler first, or let the kit start "
            'it: --target-command "... {address}".'
        )
        raise NotUpYet(message) from None
