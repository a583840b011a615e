# ruff: noqa: INP001  # a script, not part of the package
"""Allocation rate of schedulers over gRPC, side by side with the same client.

Run it with the project installed: ``python reference/benchmarks/over_grpc.py``. It starts the
reference and a yunikorn-core (``--core VERSION``, built first if needed), fresh for every run and
alternating, on loopback and free ports, and stops them; both use the revision of that core.
``--before FOLDER`` also measures the reference of another checkout. ``--target HOST:PORT``,
repeatable, measures running schedulers instead, by ``--revision``. The client depends only on the
wire format.

Processor time is that of the scheduler process while the asks were served, user and system
together: it depends less than the rate on other load of the machine.
"""

import argparse
import math
import os
import queue
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import grpc
import psutil
import yaml
from siwire import DEFAULT_REVISION, Capability, Revision, find_revision, rpc

CORE: Final = "1.8.0"
SERVE: Final = (sys.executable, "-m", "sireference", "serve", "--revision")
CORES: Final = Path(__file__).parents[2] / "fixtures" / "targets" / "yunikorn-core"
TIMEOUT: Final = 120.0  # seconds until a run is aborted
NEED: Final = {"memory": 1_000, "vcore": 100}
NODES_A_MESSAGE: Final = 1_000
APPLICATION: Final = "app"
QUEUES: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues: [{name: leaf, properties: {application.sort.policy: fifo}}]
"""
Launch = Callable[[], Any]  # a context manager of a running scheduler


@dataclass(frozen=True)
class Running:
    """Where a scheduler listens, and its process if it was started for this."""

    address: str
    process: psutil.Process | None = None

    def processor_time(self) -> float:
        """Return seconds since it was started, nan without a process."""
        if self.process is None:
            return math.nan
        times = self.process.cpu_times()
        return times.user + times.system


@dataclass(frozen=True)
class Load:
    """The asks of a run; ``singles`` asks follow one by one, each after the previous allocation."""

    nodes: int
    asks: int
    asks_a_message: int
    singles: int


@dataclass(frozen=True)
class Result:
    """One run: allocations a second, and seconds.

    Those of the processor for one allocation, and those from ask to allocation.
    """

    rate: float
    processor: float
    under_load: list[float]
    alone: list[float]


class Stream:
    """One update stream: sends requests as bytes, passes every answer to ``receive``."""

    def __init__(
        self, channel: grpc.Channel, method: rpc.Method, receive: Callable[[Any], None]
    ) -> None:
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        opened = rpc.callable_for(channel, method, serializer=bytes)
        self._call = opened(iter(self._requests.get, None))
        self._receive = receive
        self.broke: grpc.RpcError | None = None  # error, unless it ended cleanly
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def send(self, request: bytes) -> None:
        """Send it when the stream is ready."""
        self._requests.put(request)

    def ends(self) -> None:
        """Half-close the stream."""
        self._requests.put(None)

    def is_over(self, timeout: float) -> bool:
        """Return whether the other side ends it within so many seconds."""
        self._listener.join(timeout)
        return not self._listener.is_alive()

    def _listen(self) -> None:
        try:
            for answer in self._call:
                self._receive(answer)
        except grpc.RpcError as why:
            self.broke = why


class Client:
    """A resource manager with its three streams, and counts of received messages."""

    def __init__(self, channel: grpc.Channel, revision: Revision, rm_id: str) -> None:
        self._si: Any = revision.si
        self._asks_apart = revision.can(Capability.ASKS_APART)
        self._rm_id = rm_id
        self._news = threading.Condition()
        self._nodes = 0
        self._applications = 0
        self.allocated: dict[str, float] = {}  # time of the answer by allocation key
        methods = rpc.methods(revision)
        register = rpc.callable_for(channel, methods["RegisterResourceManager"])
        request = self._si.RegisterResourceManagerRequest
        register(request(rmID=rm_id, policyGroup="queues", config=QUEUES), timeout=TIMEOUT)
        self._node = Stream(channel, methods["UpdateNode"], self._observe_of_nodes)
        applications = methods["UpdateApplication"]
        self._application = Stream(channel, applications, self._observe_of_applications)
        self.allocation = Stream(channel, methods["UpdateAllocation"], self._observe_of_allocations)
        self.allocation.send(self._si.AllocationRequest(rmID=rm_id).SerializeToString())

    def prepares(self, load: Load) -> None:
        """Register nodes with a quarter more capacity than needed, and the application."""
        each = (load.asks + load.singles) * 5 // (4 * load.nodes) + 1
        capacity = self._resource({name: amount * each for name, amount in NEED.items()})
        for first in range(0, load.nodes, NODES_A_MESSAGE):
            nodes = [
                self._si.NodeInfo(nodeID=f"node-{n}", action="CREATE", schedulableResource=capacity)
                for n in range(first, min(first + NODES_A_MESSAGE, load.nodes))
            ]
            self._node.send(self._si.NodeRequest(rmID=self._rm_id, nodes=nodes).SerializeToString())
        self._wait(lambda: self._nodes >= load.nodes, "the nodes")
        new = self._si.AddApplicationRequest(
            applicationID=APPLICATION, queueName="root.leaf", partitionName="default"
        )
        new.ugi.user = "someone"
        request = self._si.ApplicationRequest(rmID=self._rm_id, new=[new])
        self._application.send(request.SerializeToString())
        self._wait(lambda: self._applications > 0, "the application")

    def request(self, first: int, last: int) -> bytes:
        """Return one message with the asks of these numbers."""
        need = self._resource(NEED)
        names = {"applicationID": APPLICATION, "partitionName": "default"}
        si, keys = self._si, [f"ask-{n}" for n in range(first, last)]
        if self._asks_apart:
            asks = [
                si.AllocationAsk(allocationKey=key, maxAllocations=1, resourceAsk=need, **names)
                for key in keys
            ]
            sent = si.AllocationRequest(rmID=self._rm_id, asks=asks)
        else:
            asked = [
                si.Allocation(allocationKey=key, resourcePerAlloc=need, **names) for key in keys
            ]
            sent = si.AllocationRequest(rmID=self._rm_id, allocations=asked)
        whole: bytes = sent.SerializeToString()
        return whole

    def waits_for(self, allocations: int) -> None:
        """Wait until there are so many."""
        self._wait(lambda: len(self.allocated) >= allocations, "the allocations")

    def ends(self) -> None:
        """Half-close all streams."""
        for stream in (self._node, self._application, self.allocation):
            stream.ends()

    def _resource(self, amounts: dict[str, int]) -> Any:
        quantities = {name: self._si.Quantity(value=amount) for name, amount in amounts.items()}
        return self._si.Resource(resources=quantities)

    def _observe_of_nodes(self, answer: Any) -> None:
        with self._news:
            self._nodes += len(answer.accepted)
            self._news.notify()

    def _observe_of_applications(self, answer: Any) -> None:
        with self._news:
            self._applications += len(answer.accepted)
            self._news.notify()

    def _observe_of_allocations(self, answer: Any) -> None:
        now = time.perf_counter()
        with self._news:
            for allocation in answer.new:
                self.allocated[allocation.allocationKey] = now
            self._news.notify()

    def _wait(self, holds: Callable[[], bool], what: str) -> None:
        with self._news:
            if not self._news.wait_for(holds, TIMEOUT):
                raise SystemExit(f"{what} did not come within {TIMEOUT:.0f} seconds")


def measure(scheduler: Running, revision: Revision, load: Load) -> Result:
    """Run once against ``scheduler``, which must be fresh for this rmID."""
    with grpc.insecure_channel(scheduler.address) as channel:
        client = Client(channel, revision, f"rm-{time.time_ns()}")
        client.prepares(load)
        size = load.asks_a_message
        bounds = [(first, min(first + size, load.asks)) for first in range(0, load.asks, size)]
        messages = [client.request(*bound) for bound in bounds]
        sent: dict[str, float] = {}
        before = scheduler.processor_time()
        began = time.perf_counter()
        for (first, last), message in zip(bounds, messages, strict=True):
            sent |= dict.fromkeys((f"ask-{n}" for n in range(first, last)), time.perf_counter())
            client.allocation.send(message)
        client.waits_for(load.asks)
        processor = (scheduler.processor_time() - before) / load.asks
        rate = load.asks / (max(client.allocated.values()) - began)
        under_load = [client.allocated[key] - at for key, at in sent.items()]
        alone = []
        for number in range(load.asks, load.asks + load.singles):
            message = client.request(number, number + 1)
            at = time.perf_counter()
            client.allocation.send(message)
            client.waits_for(number + 1)
            alone.append(client.allocated[f"ask-{number}"] - at)
        client.ends()
    return Result(rate, processor, under_load, alone)


@contextmanager
def running(command: list[str], checkout: Path | None = None) -> Iterator[Running]:
    """Start a scheduler, optionally of another checkout, and stop it afterwards."""
    environment = dict(os.environ)
    if checkout is not None:
        paths = (str(checkout / part) for part in ("reference", "proto"))
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    process = subprocess.Popen(  # noqa: S603  # our own words
        [*command, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    try:
        sent = process.stdout.readline() if process.stdout is not None else ""
        if not sent.startswith("listening on "):
            raise SystemExit(f"{command[0]} does not print its address")
        address = sent.removeprefix("listening on ").strip()
        yield Running(address, psutil.Process(process.pid))
    finally:
        process.kill()
        process.communicate()


@contextmanager
def there(address: str) -> Iterator[Running]:
    """Use a scheduler that is already running."""
    yield Running(address)


def alongside(version: str, checkout: Path | None) -> tuple[Revision, dict[str, Launch]]:
    """Return the revision of this core, and the reference, ``checkout`` and core by name."""
    versions = yaml.safe_load((CORES / "target.yaml").read_text("utf-8"))["versions"]
    if version not in versions:
        raise SystemExit(f"there is no yunikorn-core {version}, there are {', '.join(versions)}")
    revision = find_revision(versions[version]["revision"])
    built = subprocess.run(  # noqa: S603  # our own words
        [sys.executable, str(CORES / "build.py"), version],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if built.returncode:
        raise SystemExit(f"yunikorn-core {version} could not be built")
    serve = [*SERVE, revision.name]
    before = {} if checkout is None else {"reference before": partial(running, serve, checkout)}
    return revision, {
        "reference": partial(running, serve),
        **before,
        f"yunikorn-core {version}": partial(running, [built.stdout.strip()]),
    }


def milliseconds(seconds: list[float]) -> str:
    """Return median and 99th percentile."""
    cuts = statistics.quantiles(seconds, n=100)
    return f"{statistics.median(seconds) * 1e3:9.2f} {cuts[98] * 1e3:9.2f}"


def print_line(line: str) -> None:
    """Print one line of the result."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def report(results: dict[str, list[Result]]) -> None:
    """Print rates, latencies, and the ratio of the first to the others."""
    print_line("")
    print_line(f"{'allocations/s':20} {'min':>10} {'median':>10} {'max':>10} {'processor us':>14}")
    medians = {}
    for name, runs in results.items():
        rates = [run.rate for run in runs]
        medians[name] = statistics.median(rates)
        processor = statistics.median(run.processor for run in runs) * 1e6
        figures = (min(rates), medians[name], max(rates))
        print_line(f"{name:20} {' '.join(f'{one:10,.0f}' for one in figures)} {processor:14.1f}")
    print_line("")
    print_line(f"{'ms to allocation':20} {'under load':>19} {'one ask alone':>19}")
    print_line(f"{'':20} {'median':>9} {'p99':>9} {'median':>9} {'p99':>9}")
    for name, runs in results.items():
        under_load = [spent for run in runs for spent in run.under_load]
        alone = [spent for run in runs for spent in run.alone]
        print_line(f"{name:20} {milliseconds(under_load)} {milliseconds(alone)}")
    first, *others = results
    for other in others:
        print_line(f"{first} is {medians[first] / medians[other]:.1f} x ahead of {other}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--core", default=CORE, metavar="VERSION", help="beside the reference")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="another checkout")
    parser.add_argument("--target", action="append", default=[], metavar="HOST:PORT")
    parser.add_argument("--revision", default=DEFAULT_REVISION.name, help="of the targets")
    parser.add_argument("--runs", type=int, default=5, help="of each, in turn")
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--asks", type=int, default=20_000)
    parser.add_argument("--asks-a-message", type=int, default=100)
    parser.add_argument("--singles", type=int, default=200, help="asks one by one, for latency")
    sent = parser.parse_args()
    load = Load(sent.nodes, sent.asks, sent.asks_a_message, sent.singles)
    print_line(f"{load}, {sent.runs} runs of each in turn")
    if sent.target:
        revision = find_revision(sent.revision)
        schedulers: dict[str, Launch] = {one: partial(there, one) for one in sent.target}
    else:
        revision, schedulers = alongside(sent.core, sent.before)
    print_line(f"SI {revision.name}")
    results: dict[str, list[Result]] = {name: [] for name in schedulers}
    for _ in range(sent.runs):
        for name, launch in schedulers.items():
            with launch() as scheduler:
                result = measure(scheduler, revision, load)
            results[name].append(result)
            processor = f"{result.processor * 1e6:.1f} us of processor"
            print_line(f"{name:20} {result.rate:10,.0f} allocations/s {processor}")
    report(results)


if __name__ == "__main__":
    main()
