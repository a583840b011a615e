# ruff: noqa: INP001  # a script, not part of the package
"""Latency for other clients while one resource manager sends a large load: health checks.

Run it with the project installed: ``python reference/benchmarks/attention.py``. It starts the
reference for each load, on loopback and a port the system chooses, and stops it. A separate process
sends a health check every ten milliseconds, whether or not the last one was answered, from the
moment the load is sent until the server has handled it. ``--before FOLDER`` alternates with the
reference of another checkout.
"""

import argparse
import asyncio
import multiprocessing
import os
import queue
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # it has no types
from siwire import REVISIONS, constants, rpc
from siwire.ext import extension_pb2 as ext

REVISION: Final = REVISIONS["2023-12"]
SI: Final[Any] = REVISION.si
METHODS: Final = rpc.methods(REVISION)
EXTENSION: Final = rpc.methods_of(ext.DESCRIPTOR.services_by_name["SchedulerExtension"])
TIMEOUT: Final = 300.0  # seconds until a load is given up
BUSY: Final = 50.0  # percent of a core above which a server counts as busy
INTERVAL: Final = 0.01  # seconds between two health checks
REQUIRED_NODE: Final = constants.DOMAIN_YUNIKORN + constants.KEY_REQUIRED_NODE
LARGE: Final = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
QUEUES: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: leaf, properties: {application.sort.policy: fifo}}
          - name: entitled
            resources: {guaranteed: {memory: 9}}
            properties: {preemption.delay: 1s}
"""
PREEMPTION_BEGINS: Final = 1.5  # seconds after an ask of the entitled queue


class Client:
    """A resource manager that sends the load and waits for one answer: a rejection."""

    def __init__(self, address: str, http: str) -> None:
        self.http = http
        self.channel = grpc.insecure_channel(address, options=LARGE)
        self._barriers = 0
        self._passed = threading.Semaphore(0)
        self._streams: dict[str, queue.SimpleQueue[bytes | None]] = {}
        self.registers(QUEUES)
        for name in ("UpdateNode", "UpdateApplication", "UpdateAllocation"):
            self._opens(name)

    def registers(self, queues: str) -> None:
        """Register with this configuration; a refusal is an answer, too."""
        register = rpc.callable_for(self.channel, METHODS["RegisterResourceManager"])
        request = SI.RegisterResourceManagerRequest(rmID="rm", policyGroup="queues", config=queues)
        with suppress(grpc.RpcError):
            register(request, timeout=TIMEOUT)

    def _opens(self, name: str) -> None:
        sent = self._streams[name] = queue.SimpleQueue()
        answers = rpc.callable_for(self.channel, METHODS[name], serializer=bytes)(
            iter(sent.get, None)
        )

        def listen() -> None:
            with suppress(grpc.RpcError):
                for answer in answers:
                    for rejected in answer.rejected:
                        if "barrier" in str(rejected):
                            self._passed.release()

        threading.Thread(target=listen, daemon=True).start()

    def has(self, nodes: int, amount: int, applications: int = 1) -> None:
        """Add so many nodes with capacity for ``amount`` each, and applications."""
        capacity = resource(amount)
        for first in range(0, nodes, 1000):
            infos = [
                SI.NodeInfo(nodeID=f"n{n}", action="CREATE", schedulableResource=capacity)
                for n in range(first, min(first + 1000, nodes))
            ]
            self.send("UpdateNode", SI.NodeRequest(rmID="rm", nodes=infos))
        barrier = SI.NodeInfo(nodeID="barrier", action="UPDATE")
        self.send("UpdateNode", SI.NodeRequest(rmID="rm", nodes=[barrier]))
        self.passes()
        new = [
            SI.AddApplicationRequest(
                applicationID=name, queueName="root.leaf", partitionName="default"
            )
            for name in (*(f"a{n}" for n in range(applications)), "barrier", "barrier")
        ]
        self.send("UpdateApplication", SI.ApplicationRequest(rmID="rm", new=new))
        self.passes()

    def send(self, stream: str, message: Any) -> None:
        """Send the request."""
        self._streams[stream].put(message.SerializeToString())

    def asks(self, *asks: Any) -> None:
        """Ask for all of these in one message, and wait until it is handled."""
        barrier = ask("barrier", 1, application="unknown")
        self.send("UpdateAllocation", SI.AllocationRequest(rmID="rm", asks=[*asks, barrier]))
        self.passes()

    def decommissions(self, nodes: int) -> None:
        """Ask for so many, in one message."""
        gone = [SI.NodeInfo(nodeID=f"n{n}", action="DECOMISSION") for n in range(nodes)]
        self.send("UpdateNode", SI.NodeRequest(rmID="rm", nodes=gone))
        self.asks()

    def configures(self, queues: str) -> None:
        """Update the configuration."""
        update = rpc.callable_for(self.channel, EXTENSION["ApplyConfiguration"])
        update(ext.ConfigurationChange(rm_id="rm", config=queues), timeout=TIMEOUT)
        self.asks()

    def preempts(self) -> None:
        """Ask for capacity that a victim has to free, on one of all nodes."""
        policy = SI.PreemptionPolicy(allowPreemptOther=True)
        new = SI.AddApplicationRequest(
            applicationID="entitled", queueName="root.entitled", partitionName="default"
        )
        self.send("UpdateApplication", SI.ApplicationRequest(rmID="rm", new=[new]))
        time.sleep(PREEMPTION_BEGINS)
        claim = ask("claim", 1, application="entitled")
        claim.preemptionPolicy.CopyFrom(policy)
        self.asks(claim)
        time.sleep(PREEMPTION_BEGINS)

    def withdraws_everything(self) -> None:
        """Withdraw all asks of application a0 in one release."""
        withdrawal = SI.AllocationAskRelease(
            partitionName="default", applicationID="a0", terminationType="STOPPED_BY_RM"
        )
        releases = SI.AllocationReleasesRequest(allocationAsksToRelease=[withdrawal])
        self.send("UpdateAllocation", SI.AllocationRequest(rmID="rm", releases=releases))
        self.asks()

    def looks(self, _: int = 0) -> None:
        """Request a snapshot."""
        call = rpc.callable_for(self.channel, EXTENSION["Snapshot"])
        call(ext.SnapshotQuery(rm_id="rm"), timeout=TIMEOUT)

    def browses(self, _: int = 0) -> None:
        """Request the state over HTTP."""
        page = f"http://{self.http}/state"
        with suppress(OSError), urllib.request.urlopen(page) as state:  # our own page
            state.read()

    def passes(self) -> None:
        """Wait until the barrier is rejected."""
        if not self._passed.acquire(timeout=TIMEOUT):
            raise SystemExit(f"there was no answer within {TIMEOUT:.0f} seconds")


def resource(amount: int) -> Any:
    """Return so much memory."""
    return SI.Resource(resources={"memory": SI.Quantity(value=amount)})


def ask(key: str, amount: int, *, application: str = "a0", most: int = 1, node: str = "") -> Any:
    """Return an ask, optionally for one node."""
    return SI.AllocationAsk(
        allocationKey=key,
        applicationID=application,
        partitionName="default",
        maxAllocations=most,
        resourceAsk=resource(amount),
        tags={REQUIRED_NODE: node} if node else {},
    )


def fills(client: Client, nodes: int, each: int = 1) -> None:
    """Fill all nodes."""
    client.has(nodes, each)
    client.asks(ask("fill", 1, most=nodes * each))


def wait_in_vain(client: Client) -> None:
    """Send a million asks that fit nowhere."""
    client.has(1, 1)
    for first in range(0, 1_000_000, 100_000):
        client.asks(*(ask(f"k{n}", 2) for n in range(first, first + 100_000)))


def wait_for_a_maximum(client: Client) -> None:
    """Add applications, each with an ask that exceeds its queue."""
    client.configures(QUEUES.replace("leaf,", "leaf, resources: {max: {memory: 1}},"))
    client.has(1, 1_000_000, applications=20_000)
    client.asks(*(ask(f"k{n}", 2, application=f"a{n}") for n in range(20_000)))


def at_once(work: Callable[[int], None], times: int) -> None:
    """Do it so many times concurrently."""
    with ThreadPoolExecutor(times) as pool:
        list(pool.map(work, range(times)))


def queues_of(megabytes: float) -> str:
    """Return a configuration of that size."""
    count = int(megabytes * 1_000_000 / 19)
    return QUEUES.replace("[{", f"[{', '.join(f'{{name: q{n:07}}}' for n in range(count))}, {{")


@dataclass(frozen=True)
class Load:
    """A load: its setup, and what is sent while others are measured."""

    name: str
    prepare: Callable[[Client], object]
    work: Callable[[Client], object]


LOADS: Final = (
    Load("nothing", lambda _: None, lambda _: time.sleep(3)),
    Load(
        "5,000 asks of distinct sizes on 5,000 full nodes",
        lambda rm: fills(rm, 5_000),
        lambda rm: rm.asks(*(ask(f"k{n}", n + 1) for n in range(5_000))),
    ),
    Load(
        "8,000 asks, each for a node of its own",
        lambda rm: rm.has(8_000, 1),
        lambda rm: rm.asks(*(ask(f"k{n}", 1, node=f"n{n}") for n in range(8_000))),
    ),
    Load(
        "a configuration of 9.5 MB",
        lambda _: None,
        lambda rm: rm.registers(queues_of(9.5)),
    ),
    Load(
        "a configuration of 0.9 MB",
        lambda _: None,
        lambda rm: rm.registers(queues_of(0.9)),
    ),
    Load(
        "20 snapshots at once of 100,000 allocations",
        lambda rm: fills(rm, 5_000, 20),
        lambda rm: at_once(rm.looks, 20),
    ),
    Load(
        "/state 20 times at once of 100,000 allocations",
        lambda rm: fills(rm, 5_000, 20),
        lambda rm: at_once(rm.browses, 20),
    ),
    Load(
        "200,000 asks in one message",
        lambda rm: rm.has(5_000, 1),
        lambda rm: rm.asks(*(ask(f"k{n}", 1) for n in range(200_000))),
    ),
    Load(
        "a million asks withdrawn in one sentence",
        wait_in_vain,
        lambda rm: rm.withdraws_everything(),
    ),
    Load(
        "a node with 100,000 allocations goes",
        lambda rm: fills(rm, 1, 100_000),
        lambda rm: rm.decommissions(1),
    ),
    Load(
        "1,000 nodes with 20 allocations each go",
        lambda rm: fills(rm, 1_000, 20),
        lambda rm: rm.decommissions(1_000),
    ),
    Load(
        "20,000 full nodes go in one message",
        lambda rm: fills(rm, 20_000),
        lambda rm: rm.decommissions(20_000),
    ),
    Load(
        "a new configuration while 20,000 wait",
        wait_for_a_maximum,
        lambda rm: rm.configures(QUEUES),
    ),
    Load(
        "preemption over 8,000 nodes",
        lambda rm: fills(rm, 8_000),
        lambda rm: rm.preempts(),
    ),
)


def probe(address: str, begin: Event, end: Event, results: Any) -> None:
    """Check the server's health at each interval until ``end``; return seconds to each answer."""

    async def once(stub: Any, spent: list[float]) -> None:
        asked = time.perf_counter()
        await stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
        spent.append(time.perf_counter() - asked)

    async def run() -> list[float]:
        spent: list[float] = []
        async with grpc.aio.insecure_channel(address) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            await once(stub, [])
            begin.set()
            checks = []
            while not end.is_set():
                checks.append(asyncio.create_task(once(stub, spent)))
                await asyncio.sleep(INTERVAL)
            await asyncio.gather(*checks)
        return spent

    results.put(asyncio.run(run()))


@contextmanager
def served(checkout: Path | None) -> Iterator[tuple[str, str, psutil.Process]]:
    """A reference started for this: its gRPC address, its HTTP address, its process."""
    environment = dict(os.environ)
    if checkout is not None:
        paths = (str(checkout / part) for part in ("reference", "proto"))
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    here = "127.0.0.1:0"
    process = subprocess.Popen(  # noqa: S603  # fixed arguments
        [
            *(sys.executable, "-m", "sireference", "serve", "--revision", REVISION.name),
            *("--listen", here, "--http", here),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    try:
        sent = process.stdout
        lines = [sent.readline().strip() for _ in range(2)] if sent is not None else [""]
        if not lines[0].startswith("listening on "):
            raise SystemExit("the reference does not print its address")
        address, http = (line.rpartition(" ")[2].removeprefix("http://") for line in lines)
        yield address, http, psutil.Process(process.pid)
    finally:
        process.kill()
        process.communicate()


def rests(process: psutil.Process) -> None:
    """Wait until it is busy only with the checks."""
    process.cpu_percent()
    time.sleep(0.3)
    while process.cpu_percent() > BUSY:
        time.sleep(0.3)


def measure(load: Load, checkout: Path | None) -> tuple[list[float], float]:
    """Return the seconds to each health answer under ``load``, and its duration."""
    context = multiprocessing.get_context("spawn")
    begin, end, results = context.Event(), context.Event(), context.Queue()
    with served(checkout) as (address, http, process):
        client = Client(address, http)
        load.prepare(client)
        rests(process)
        prober = context.Process(target=probe, args=(address, begin, end, results))
        prober.start()
        begin.wait(TIMEOUT)
        began = time.perf_counter()
        load.work(client)
        rests(process)
        took = time.perf_counter() - began
        end.set()
        spent = results.get(timeout=TIMEOUT)
        prober.join(TIMEOUT)
        client.channel.close()
    return spent, took


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--before", type=Path, metavar="FOLDER", help="another checkout to compare with"
    )
    parser.add_argument(
        "-k", default="", metavar="WORDS", help="only loads whose name contains WORDS"
    )
    sent = parser.parse_args()
    sides = {"now": None} if sent.before is None else {"before": sent.before, "now": None}
    line = "{:48} {:6} {:>7} {:>8} {:>8} {:>9} {:>7}\n"
    sys.stdout.write(line.format("health, in ms", "", "checks", "median", "p99", "longest", "s"))
    for load in (one for one in LOADS if sent.k in one.name):
        for side, checkout in sides.items():
            spent, took = measure(load, checkout)
            median, p99 = statistics.median(spent), statistics.quantiles(spent, n=100)[98]
            figures = (f"{1000 * one:,.1f}" for one in (median, p99, max(spent)))
            sys.stdout.write(line.format(load.name, side, len(spent), *figures, f"{took:.1f}"))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
