"""The small schedulers of mutation testing as processes, and streams to them."""

import os
import queue
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from patience import patient
from siwire import Revision, rpc

QUEUES = Path(__file__).parents[2] / "fixtures" / "queues" / "conformance.yaml"


@contextmanager
def served(module: str) -> Iterator[grpc.Channel]:
    """Yield a channel to ``python -m MODULE`` at a quick rate; it must exit cleanly."""
    command = [sys.executable, "-P", "-m", module, "--listen", "127.0.0.1:0"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(  # noqa: S603  # ourselves
        [*command, "--interval", "0.05"], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    with grpc.insecure_channel(process.stdout.readline().split()[-1]) as channel:
        yield channel
    process.terminate()
    assert process.wait(patient(10)) == 0
    process.stdout.close()


class Stream:
    """A stream of the RM ``rm``."""

    def __init__(self, channel: grpc.Channel, methods: Mapping[str, rpc.Method], name: str) -> None:
        self._kind = methods[name].request
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.send()
        call = rpc.callable_for(channel, methods[name])
        self.received = call(iter(self._out.get, None), timeout=patient(20))

    def send(self, **content: Any) -> None:
        self._out.put(self._kind(rmID="rm", **content))

    def states(self, count: int) -> list[str]:
        """Return the next states of applications, from however many messages."""
        states: list[str] = []
        while len(states) < count:
            states += [update.state for update in next(self.received).updated]
        return states

    def ends(self) -> None:
        self._out.put(None)
        assert list(self.received) == []


def assert_allocates(channel: grpc.Channel, revision: Revision, **request: Any) -> None:
    """Check that a request ``k`` of application ``a`` is allocated on the only node."""
    methods, si = rpc.methods(revision), revision.si
    registers = rpc.callable_for(channel, methods["RegisterResourceManager"])
    registers(si.RegisterResourceManagerRequest(rmID="rm", config=QUEUES.read_text()))
    of_nodes = Stream(channel, methods, "UpdateNode")
    of_applications = Stream(channel, methods, "UpdateApplication")
    of_allocations = Stream(channel, methods, "UpdateAllocation")
    capacity = si.Resource(resources={"memory": si.Quantity(value=10)})
    of_nodes.send(nodes=[{"nodeID": "n", "action": "CREATE", "schedulableResource": capacity}])
    assert next(of_nodes.received).accepted[0].nodeID == "n"
    of_applications.send(new=[{"applicationID": "a", "queueName": "root.plain"}])
    assert next(of_applications.received).accepted[0].applicationID == "a"

    of_allocations.send(**request)

    allocation = next(of_allocations.received).new[0]
    assert (allocation.allocationKey, allocation.nodeID) == ("k", "n")
    assert of_applications.states(2) == ["Accepted", "Running"]
    for stream in (of_applications, of_nodes, of_allocations):
        stream.ends()


def assert_unregistered_rm_is_unserved(channel: grpc.Channel, revision: Revision) -> None:
    """Check that a stream of an RM that did not register ends."""
    with pytest.raises(grpc.RpcError) as ended:
        next(Stream(channel, rpc.methods(revision), "UpdateNode").received)

    assert ended.value.code() is grpc.StatusCode.UNAVAILABLE
