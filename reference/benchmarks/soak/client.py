"""A resource manager over gRPC that runs short lifecycles, one round after the other."""

import threading
from collections.abc import Callable
from typing import Any, Final

import grpc
from benchmarks.over_grpc import Stream
from siwire import REVISIONS, rpc

REVISION: Final = REVISIONS["2023-12"]
SI: Final[Any] = REVISION.si
METHODS: Final = rpc.methods(REVISION)
TIMEOUT: Final = 30.0  # seconds until an expected message counts as missing
SERVED: Final = 20  # asks per round that are served and released
ROUNDS: Final = 200  # until the RM leaves and registers again
NODES: Final = 10
NODE: Final = 1_000  # memory
SMALL: Final = 10
NEVER: Final = 10_000
LEAVES: Final = ("fifo", "fair")
STREAMS: Final = ("UpdateNode", "UpdateApplication", "UpdateAllocation")
STOPPED_BY_RM: Final = 1
QUEUES: Final = """
partitions:
  - name: default
    placementrules: [{name: provided, create: true}]
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: fifo, properties: {application.sort.policy: fifo}}
          - {name: fair, properties: {application.sort.policy: fair}}
          - {name: dynamic, parent: true}
"""


class LifecycleClient:
    """One RM. ``allocations`` and ``rounds`` are counters."""

    def __init__(self, channel: grpc.Channel, rm_id: str) -> None:
        self._channel = channel
        self._rm_id = rm_id
        self._news = threading.Condition()
        self._live: dict[str, tuple[str, str]] = {}  # application and key by identity
        self._accepted = 0  # nodes and applications
        self.allocations = 0
        self.rounds = 0
        self.trouble: BaseException | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._lead, daemon=True)
        self._thread.start()

    def ends(self) -> None:
        """Start no further round; return when the last one is over."""
        self._over.set()
        self._thread.join(2 * TIMEOUT)

    def _lead(self) -> None:
        try:
            while not self._over.is_set():
                self._registration()
        except BaseException as why:  # noqa: BLE001  # any exception fails the soak
            self.trouble = why

    def _registration(self) -> None:
        """Register, send asks that wait for ever, run lifecycles next to them, and leave."""
        self._live.clear()
        register = rpc.callable_for(self._channel, METHODS["RegisterResourceManager"])
        request = SI.RegisterResourceManagerRequest
        register(request(rmID=self._rm_id, policyGroup="queues", config=QUEUES), timeout=TIMEOUT)
        received = (self._observe_accepted, self._observe_accepted, self._observe_allocations)
        self._streams = [
            Stream(self._channel, METHODS[name], receive)
            for name, receive in zip(STREAMS, received, strict=True)
        ]
        self._nodes, self._applications, self._allocations = self._streams
        self._backlog()
        for number in range(ROUNDS):
            if self._over.is_set():
                break
            self._round(f"{self.rounds}", LEAVES[number % len(LEAVES)])
            self.rounds += 1
        for stream in self._streams:
            stream.ends()
        if not all(stream.is_over(TIMEOUT) for stream in self._streams):
            raise TimeoutError(f"{self._rm_id} has streams that do not end")

    def _backlog(self) -> None:
        self._message(self._allocations, SI.AllocationRequest())
        capacity = _memory(NODE)
        nodes = [
            SI.NodeInfo(nodeID=f"node-{number}", action="CREATE", schedulableResource=capacity)
            for number in range(NODES)
        ]
        before = self._accepted
        self._message(self._nodes, SI.NodeRequest(nodes=nodes))
        self._submits(*((f"waits-{leaf}", f"root.{leaf}") for leaf in LEAVES))
        self._waits(lambda: self._accepted == before + NODES + len(LEAVES), "what waits")
        self._asks(*(_ask(f"waits-{leaf}", "waits", NEVER) for leaf in LEAVES))

    def _round(self, name: str, leaf: str) -> None:
        """Run one round: applications served or waiting in vain, asks replaced and withdrawn."""
        waiting, mine, alone = f"waits-{leaf}", f"served-{name}", f"removed-{name}"
        before = self._accepted
        self._submits((mine, f"root.{leaf}"), (alone, f"root.dynamic.q{name}"))
        self._waits(lambda: self._accepted == before + 2, "an application")
        self._asks(
            *(_ask(mine, f"k{number}", SMALL) for number in range(SERVED)),
            *(_ask(waiting, f"{name}-{number}", NEVER) for number in range(SERVED)),
            *(_ask(waiting, f"{name}-0", NEVER + number % 2) for number in range(SERVED)),
            *(_ask(alone, f"k{number}", NEVER) for number in range(SERVED)),
        )
        self._waits(lambda: len(self._live) == SERVED, "the allocations")
        partition = "default"
        with self._news:
            ended = [
                SI.AllocationRelease(
                    partitionName=partition,
                    applicationID=application_id,
                    allocationKey=key,
                    allocationID=identity,
                    terminationType=STOPPED_BY_RM,
                )
                for identity, (application_id, key) in self._live.items()
            ]
        withdrawn = [
            SI.AllocationAskRelease(
                partitionName=partition,
                applicationID=waiting,
                allocationKey=f"{name}-{number}",
                terminationType=STOPPED_BY_RM,
            )
            for number in range(SERVED)
        ]
        releases = SI.AllocationReleasesRequest(
            allocationsToRelease=ended, allocationAsksToRelease=withdrawn
        )
        self._message(self._allocations, SI.AllocationRequest(releases=releases))
        self._waits(lambda: not self._live, "the releases")
        gone = SI.RemoveApplicationRequest(applicationID=alone, partitionName=partition)
        self._message(self._applications, SI.ApplicationRequest(remove=[gone]))

    def _submits(self, *new: tuple[str, str]) -> None:
        """Return applications with their queues."""
        request = SI.ApplicationRequest(
            new=[
                SI.AddApplicationRequest(
                    applicationID=name, queueName=queue, partitionName="default"
                )
                for name, queue in new
            ]
        )
        for one in request.new:
            one.ugi.user = "someone"
        self._message(self._applications, request)

    def _asks(self, *asks: Any) -> None:
        self._message(self._allocations, SI.AllocationRequest(asks=asks))

    def _message(self, stream: Stream, request: Any) -> None:
        request.rmID = self._rm_id
        stream.send(request.SerializeToString())

    def _observe_accepted(self, answer: Any) -> None:
        with self._news:
            self._accepted += len(answer.accepted)
            self._news.notify()

    def _observe_allocations(self, answer: Any) -> None:
        with self._news:
            for one in answer.new:
                self._live[one.allocationID] = (one.applicationID, one.allocationKey)
            self.allocations += len(answer.new)
            for release in answer.released:
                self._live.pop(release.allocationID, None)
            self._news.notify()

    def _waits(self, holds: Callable[[], bool], what: str) -> None:
        with self._news:
            if not self._news.wait_for(holds, TIMEOUT):
                broke = [stream.broke for stream in self._streams if stream.broke is not None]
                missing = f"{what} did not come within {TIMEOUT:.0f} seconds"
                raise TimeoutError(f"{missing} to {self._rm_id}; streams that broke: {broke}")


def _memory(amount: int) -> Any:
    return SI.Resource(resources={"memory": SI.Quantity(value=amount)})


def _ask(application_id: str, key: str, memory: int) -> Any:
    return SI.AllocationAsk(
        allocationKey=key,
        applicationID=application_id,
        partitionName="default",
        maxAllocations=1,
        resourceAsk=_memory(memory),
    )
