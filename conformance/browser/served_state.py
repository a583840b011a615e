"""A reference with its page, and a resource manager that fills it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Any, Final

import grpc
from siwire import DEFAULT_REVISION, rpc

_LIMIT: Final = 20.0  # seconds for any answer, and for the process to end
_LIFE: Final = 60.0  # seconds that a stream may be open
_PREFIX: Final = "metrics and state on "
_METHODS: Final = rpc.methods(DEFAULT_REVISION)
_SI: Final[Any] = DEFAULT_REVISION.si

HOSTILE: Final = "<script>document.title='taken'</script><img src=x onerror=alert(1)>"
QUEUES: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: research
            resources: {guaranteed: {memory: 40, vcore: 8}, max: {memory: 80, vcore: 16}}
            queues:
              - name: training
                resources: {max: {memory: 60}}
              - name: notebooks
          - name: web
            resources: {guaranteed: {memory: 20}}
"""
_KINDS: Final = ("UpdateNode", "UpdateApplication", "UpdateAllocation")


class ResourceManager:
    """Talks to a reference over gRPC; every step waits for its answer."""

    def __init__(self, channel: grpc.Channel, page: str, rm_id: str) -> None:
        self.page = page  # the address of its page
        self._rm_id = rm_id
        register = _METHODS["RegisterResourceManager"]
        rpc.callable_for(channel, register)(
            register.request(rmID=rm_id, config=QUEUES), timeout=_LIMIT
        )
        self._sent: dict[str, SimpleQueue[Any]] = {kind: SimpleQueue() for kind in _KINDS}
        self._received = {
            kind: rpc.callable_for(channel, _METHODS[kind])(iter(sent.get, None), timeout=_LIFE)
            for kind, sent in self._sent.items()
        }

    def node(self, node_id: str, **amounts: int) -> None:
        """Register a node and wait until it is accepted."""
        info = _SI.NodeInfo(
            nodeID=node_id,
            action=_SI.NodeInfo.CREATE,
            attributes={"si.io/rackname": "/rack-1", "si.io/hostname": node_id},
            schedulableResource=_resource(amounts),
        )
        self._sends("UpdateNode", nodes=[info])
        self._observe("UpdateNode")

    def application(self, application_id: str, queue: str = "root.research.training") -> None:
        """Submit an application and wait until it is accepted or rejected."""
        new = _SI.AddApplicationRequest(
            applicationID=application_id, queueName=queue, partitionName="default"
        )
        self._sends("UpdateApplication", new=[new])
        self._observe("UpdateApplication")

    def asks(self, application_id: str, key: str, *, group: str = "", **amounts: int) -> None:
        """Ask for an allocation; for a placeholder of ``group`` if there is one."""
        self._sends(
            "UpdateAllocation",
            allocations=[
                _SI.Allocation(
                    allocationKey=key,
                    applicationID=application_id,
                    partitionName="default",
                    resourcePerAlloc=_resource(amounts),
                    taskGroupName=group,
                    placeholder=bool(group),
                )
            ],
        )

    def is_given(self, application_id: str, key: str, *, group: str = "", **amounts: int) -> None:
        """Ask, and wait for the allocation."""
        self.asks(application_id, key, group=group, **amounts)
        while not next(self._received["UpdateAllocation"]).new:
            pass

    def leaves(self) -> None:
        """Half-close all streams, one of each kind, and wait until they are over."""
        for kind in _KINDS:
            self._sends(kind)
            self._sent[kind].put(None)
        with suppress(grpc.RpcError):  # the reference is gone
            for received in self._received.values():
                for _ in received:
                    pass

    def _sends(self, kind: str, **fields: Any) -> None:
        self._sent[kind].put(_METHODS[kind].request(rmID=self._rm_id, **fields))

    def _observe(self, kind: str) -> None:
        """Return the answer to the last request; other messages may come before it."""
        answer = next(self._received[kind])
        while not (answer.accepted or answer.rejected):
            answer = next(self._received[kind])


class Reference:
    """A running reference; ``page`` is the address of its page."""

    def __init__(self, process: "subprocess.Popen[str]", lines: list[str]) -> None:
        self.process = process
        self.address = lines[0].removeprefix("listening on ").strip()
        self.page = lines[1].removeprefix(_PREFIX).strip()

    @contextmanager
    def resource_manager(self, rm_id: str = "rm-1") -> Iterator[ResourceManager]:
        """Return an RM that is registered with QUEUES."""
        with grpc.insecure_channel(self.address) as channel:
            rm = ResourceManager(channel, self.page, rm_id)
            try:
                yield rm
            finally:
                rm.leaves()


@contextmanager
def reference() -> Iterator[Reference]:
    """Run a reference with a page in a separate process until the block ends."""
    command = [sys.executable, "-m", "sireference", "serve", "--listen", "127.0.0.1:0"]
    command += ["--http", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  # ourselves
    assert process.stdout is not None
    try:
        yield Reference(process, [process.stdout.readline(), process.stdout.readline()])
    finally:
        process.kill()
        process.communicate(timeout=_LIMIT)


def fill(rm: ResourceManager) -> None:
    """Fill every part of the page: queues in use, nodes, a gang, pending asks, a hostile name."""
    for number in range(1, 4):
        rm.node(f"node-{number}", memory=64, vcore=16_000, **{"nvidia.com/gpu": number})
    rm.node("node-large", memory=256, vcore=64_000)
    rm.application("analysis")
    for number in range(4):
        rm.is_given("analysis", f"analysis-{number}", memory=10, vcore=2_000)
    rm.application("spark-gang", "root.research.notebooks")
    for number in range(2):
        rm.is_given("spark-gang", f"executor-{number}", group="executors", memory=8, vcore=1_000)
    rm.application("shop", "root.web")
    rm.is_given("shop", "shop-1", memory=25, vcore=1_500)
    rm.asks("shop", "shop-2", memory=900_000_000)
    rm.application("misplaced", "root.nowhere")
    rm.application(HOSTILE, "root.web")


def _resource(amounts: dict[str, int]) -> Any:
    return _SI.Resource(resources={name: _SI.Quantity(value=n) for name, n in amounts.items()})
