"""RMs that manage nothing, to check that the kit does not pass them.

Run as ``python -m mutation.idle_rm KIND SCHEDULER [DRIVER]``, with addresses HOST:PORT.
"""

import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

import grpc
from siwire import find_revision, rpc
from siwire.ext import extension_pb2 as ext

from mutation.main_revision import NAME, si

_DRIVER: Final = ext.DESCRIPTOR.services_by_name["RmDriver"]
_UPDATES: Final = ("UpdateNode", "UpdateApplication", "UpdateAllocation")


class IdleRm(Enum):
    """Behaviour of such an RM."""

    CONNECTING = "connecting"  # connects and never registers, so that it cannot be tested
    REGISTERING = "registering"  # registers, opens its streams and sends nothing
    AGREEING = "agreeing"  # the same; its driver has done everything, and reports nothing
    INVENTING = "inventing"  # the same; its driver reports what should be there
    BABBLING = "babbling"  # the same; each message is answered by requests for unknown things


_OPENS: Final = {
    "SI-WIRE-006": "what it sends is well formed",
    "SI-WIRE-008": "what it sends uses no reserved number",
}
_STOPS: Final = {
    "SI-WIRE-010": "what it releases has a type, and its nodes an action",
    "SI-REL-012": "what it releases is stopped by the RM",
}
KEPT: Final[Mapping[IdleRm, Mapping[str, str]]] = MappingProxyType(
    {
        IdleRm.REGISTERING: _OPENS,
        IdleRm.AGREEING: _OPENS,
        IdleRm.INVENTING: _OPENS,
        IdleRm.BABBLING: {**_OPENS, **_STOPS},
    }
)
"""The MUSTs such an RM satisfies, and how."""


class Idling:
    """A registration and its streams."""

    def __init__(self, kind: IdleRm, scheduler: str) -> None:
        self._kind = kind
        self._scheduler = scheduler
        self._channel = grpc.insecure_channel(scheduler)
        grpc.channel_ready_future(self._channel).result()

    def registers(self) -> None:
        """Register and open the streams."""
        methods = rpc.methods(find_revision(NAME))
        register: Any = rpc.callable_for(self._channel, methods["RegisterResourceManager"])
        register(si.RegisterResourceManagerRequest(rmID="idle", version="1"))
        outboxes = {name: queue.SimpleQueue[Any]() for name in _UPDATES}
        for name, outbox in outboxes.items():
            outbox.put(methods[name].request(rmID="idle"))
            update: Any = rpc.callable_for(self._channel, methods[name])
            received = update(iter(outbox.get, None))
            threading.Thread(target=self._listens, args=(received, outboxes), daemon=True).start()

    def registers_again(self) -> None:
        """Do the same on another connection."""
        self._channel.close()
        self._channel = grpc.insecure_channel(self._scheduler)
        self.registers()

    def _listens(self, received: Iterator[Any], outboxes: Mapping[str, Any]) -> None:
        with suppress(grpc.RpcError):
            for _ in received:
                if self._kind is IdleRm.BABBLING:
                    for name, request in _nonsense():
                        outboxes[name].put(request)


def _nonsense() -> Iterator[tuple[str, Any]]:
    application = si.RemoveApplicationRequest(applicationID="unknown")
    node = si.NodeInfo(nodeID="unknown", action=si.NodeInfo.UPDATE)
    release = si.AllocationRelease(
        applicationID="unknown", allocationKey="unknown", terminationType=si.STOPPED_BY_RM
    )
    releases = si.AllocationReleasesRequest(allocationsToRelease=[release])
    yield "UpdateNode", si.NodeRequest(rmID="idle", nodes=[node])
    yield "UpdateApplication", si.ApplicationRequest(rmID="idle", remove=[application])
    yield "UpdateAllocation", si.AllocationRequest(rmID="idle", releases=releases)


class Driver:
    """A driver that has done everything."""

    def __init__(self, kind: IdleRm, restarts: Callable[[], None]) -> None:
        self._invents = kind is not IdleRm.AGREEING
        self._restarts = restarts
        self._containers: dict[str, ext.ContainerView] = {}
        self._applications: dict[str, ext.ApplicationView] = {}

    def drive(self, command: ext.DriveCommand, _: Any) -> ext.DriveOutcome:
        """Return what the state should be."""
        match command.WhichOneof("action"):
            case "restart_rm" | "cut_connection" | "fail_over":
                self._restarts()
            case "submit":
                self._submits(command.submit)
            case "stop_container":
                self._containers.pop(command.stop_container, None)
            case "end_application":
                self._ends(command.end_application)
            case "reset":
                self._containers.clear()
                self._applications.clear()
        return self._outcome() if self._invents else ext.DriveOutcome(done=True)

    def _submits(self, workload: ext.Workload) -> None:
        name = workload.application_id
        self._applications[name] = ext.ApplicationView(application_id=name, state="running")
        for group in workload.groups:
            for number in range(group.members):
                key = f"{name}-{number}"
                self._containers[key] = ext.ContainerView(
                    allocation_key=key, application_id=name, phase=ext.ContainerView.STARTED
                )

    def _ends(self, name: str) -> None:
        self._applications[name].over = True
        ended = [key for key, one in self._containers.items() if one.application_id == name]
        for key in ended:
            del self._containers[key]

    def _outcome(self) -> ext.DriveOutcome:
        return ext.DriveOutcome(
            done=True,
            running_keys=self._containers,
            containers=self._containers.values(),
            applications=self._applications.values(),
        )


def command(kind: IdleRm) -> list[str]:
    """Return the command that starts such an RM."""
    has_driver = kind not in (IdleRm.CONNECTING, IdleRm.REGISTERING)
    words = [sys.executable, "-P", "-m", "mutation.idle_rm", kind.value, "{address}"]
    return [*words, *["{driver}"] * has_driver]


def main(kind: IdleRm, scheduler: str, driver: str = "") -> None:
    """Run until the process is ended."""
    idling = Idling(kind, scheduler)
    if kind is not IdleRm.CONNECTING:
        idling.registers()
    if driver:
        drive = Driver(kind, idling.registers_again).drive
        server = grpc.server(ThreadPoolExecutor())
        server.add_generic_rpc_handlers((rpc.handlers(_DRIVER, {"Drive": drive}),))
        server.add_insecure_port(driver)
        server.start()
    threading.Event().wait()


if __name__ == "__main__":
    main(IdleRm(sys.argv[1]), *sys.argv[2:])
