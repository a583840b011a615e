# ruff: noqa: INP001  # a script, not part of the package
"""Placement speed of the core, its growth with the cluster, and the memory of the state.

Run it with the project installed: ``python reference/benchmarks/placing.py``. Everything runs in
this process, without codec, gRPC or a real clock. Python's cycle collector is configured as in
``sireference serve``.
"""

import argparse
import gc
import math
import statistics
import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from sireference.configuration.parsing import parse_configuration
from sireference.core.model import (
    Ask,
    NewAllocation,
    NewApplication,
    NodeInfo,
    OneAllocation,
    Register,
    ReleaseRequest,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from sireference.core.states import NodeAction, TerminationType
from sireference.shell import gc_tuning

APPLICATIONS: Final = 10
ASKS_A_MESSAGE: Final = 100
NODES: Final = (1_000, 5_000, 20_000, 50_000)
ASKS: Final = (20_000, 100_000)
POLICIES: Final = ("fifo", "fair")
NEED: Final = {"memory": 1_000, "vcore": 100}
STOPPED_BY_RM: Final = TerminationType.STOPPED_BY_RM
WEIGHED: Final = (5_000, 20_000)  # nodes and asks; tracing memory is slow
BACKLOG: Final = ((1_000, 1), (10_000, 1), (10_000, 100))  # waiting applications, leaf queues
RELEASES: Final = 200
GOAL: Final = {"allocations/s": 25_000, "growth": 1.5, "bytes": 1_000}

QUEUES: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues: [{leaves}]
"""
LEAF: Final = "{{name: {name}, properties: {{application.sort.policy: {policy}}}}}"


@dataclass(frozen=True)
class Load:
    """The workload: nodes and asks."""

    nodes: int
    asks: int
    policy: str

    def node_infos(self) -> Iterator[NodeInfo]:
        """Return nodes with 25 % more capacity than all asks need."""
        each = math.ceil(self.asks * 1.25 / self.nodes)
        for number in range(self.nodes):
            capacity = Resource({name: amount * each for name, amount in NEED.items()})
            yield NodeInfo(f"node-{number}", NodeAction.CREATE, capacity=capacity)

    def messages(self) -> Iterator[UpdateAllocations]:
        """Return the asks, from one application after the other."""
        for first in range(0, self.asks, ASKS_A_MESSAGE):
            yield UpdateAllocations(
                "rm",
                asks=tuple(
                    Ask(f"ask-{n}", f"app-{n % APPLICATIONS}", resource=Resource(dict(NEED)))
                    for n in range(first, min(first + ASKS_A_MESSAGE, self.asks))
                ),
            )


def opened(load: Load, applications: int = APPLICATIONS, leaves: int = 1) -> Scheduler:
    """Return a scheduler with queues and applications, without nodes."""
    scheduler = Scheduler()
    named = (LEAF.format(name=f"leaf-{n}", policy=load.policy) for n in range(leaves))
    queues = parse_configuration(QUEUES.format(leaves=", ".join(named)))
    scheduler.handle(Register("rm", queues), 0.0)
    new = (NewApplication(f"app-{n}", f"root.leaf-{n % leaves}") for n in range(applications))
    scheduler.handle(UpdateApplications("rm", tuple(new)), 0.0)
    return scheduler


def place(scheduler: Scheduler, messages: Iterator[UpdateAllocations]) -> int:
    """Place every ask as it comes; return how many were placed."""
    placed = 0
    for message in messages:
        effects = scheduler.handle(message, 1.0)
        placed += sum(isinstance(effect, NewAllocation) for effect in effects)
    return placed


def seconds(load: Load) -> float:
    """Return the time to place everything; messages are built beforehand.

    It is processor time of the one thread, so other processes on the machine do not count.
    """
    scheduler = opened(load)
    scheduler.handle(UpdateNodes("rm", tuple(load.node_infos())), 0.0)
    messages = list(load.messages())
    gc.collect()
    began = time.process_time()
    placed = place(scheduler, iter(messages))
    spent = time.process_time() - began
    if placed != load.asks:
        raise SystemExit(f"{placed} of {load.asks} were placed")
    return spent


def unplaceable(nodes: int, asks: int) -> tuple[float, float]:
    """Return seconds for the first ask that fits nowhere, and for each later one."""
    load = Load(nodes, 1, "fifo")
    scheduler = opened(load)
    scheduler.handle(UpdateNodes("rm", tuple(load.node_infos())), 0.0)
    large = Resource({name: amount * 1_000 for name, amount in NEED.items()})
    spent = []
    for number in range(asks):
        message = UpdateAllocations("rm", asks=(Ask(f"ask-{number}", "app-0", resource=large),))
        began = time.process_time()
        scheduler.handle(message, 1.0)
        spent.append(time.process_time() - began)
    return spent[0], statistics.median(spent[1:])


def release(policy: str, applications: int, leaves: int) -> float:
    """Return seconds for a release with so many waiting applications of one ask each."""
    load = Load(1, RELEASES, policy)
    scheduler = opened(load, applications + RELEASES, leaves)
    capacity = Resource({name: amount * RELEASES for name, amount in NEED.items()})
    node = NodeInfo("node", NodeAction.CREATE, capacity=capacity)
    scheduler.handle(UpdateNodes("rm", (node,)), 0.0)
    live = []
    for number in range(applications + RELEASES):
        ask = Ask(f"ask-{number}", f"app-{number}", resource=Resource(dict(NEED)))
        effects = scheduler.handle(UpdateAllocations("rm", asks=(ask,)), 1.0)
        live += [effect.allocation for effect in effects if isinstance(effect, NewAllocation)]
    spent = []
    for one in live:
        named = OneAllocation(one.ask.application_id, one.identity)
        stop = ReleaseRequest("default", named, STOPPED_BY_RM)
        began = time.process_time()
        effects = scheduler.handle(UpdateAllocations("rm", releases=(stop,)), 1.0)
        spent.append(time.process_time() - began)
        if sum(isinstance(effect, NewAllocation) for effect in effects) != 1:
            raise SystemExit("freed capacity was not allocated to a waiting ask")
    return statistics.median(spent)


def weights() -> tuple[float, float]:
    """Return the bytes for one node, and for one allocation with its ask."""
    nodes, asks = WEIGHED
    load = Load(nodes, asks, "fifo")
    scheduler = opened(load)
    gc.collect()
    tracemalloc.start()
    scheduler.handle(UpdateNodes("rm", tuple(load.node_infos())), 0.0)
    gc.collect()
    with_nodes = tracemalloc.get_traced_memory()[0]
    place(scheduler, load.messages())
    gc.collect()
    with_all = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return with_nodes / nodes, (with_all - with_nodes) / asks


def show(line: str) -> None:
    """Print one line of the result."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def print_speed(policy: str, asks: int, sizes: tuple[int, ...], runs: int) -> None:
    """Print one line per size: the median of the runs, and the growth from the previous size.

    Growth is an exponent: time per allocation grows as the number of nodes to that power.
    """
    medians = {
        nodes: statistics.median(seconds(Load(nodes, asks, policy)) for _ in range(runs))
        for nodes in sizes
    }
    grown = {
        after: math.log(medians[after] / medians[before]) / math.log(after / before)
        for before, after in pairwise(sizes)
    }
    for nodes, spent in medians.items():
        exponent = f"{grown[nodes]:+9.3f}" if nodes in grown else " " * 9
        rate = f"{asks / spent:10,.0f}"
        show(f"{policy:6} {asks:8,} {nodes:8,} {rate} {spent / asks * 1e6:8.1f} {exponent}")
    if len(sizes) == 1:
        return
    whole = medians[sizes[-1]] / medians[sizes[0]]
    show(f"{'':6} from {sizes[0]:,} to {sizes[-1]:,} nodes one allocation takes {whole:.2f} x")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of which the median counts")
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES)
    parser.add_argument("--asks", type=int, nargs="+", default=ASKS)
    parser.add_argument("--policy", choices=POLICIES, nargs="+", default=POLICIES)
    sent = parser.parse_args()
    sizes = tuple(sent.nodes)
    gc_tuning.reduce_collections()
    show(f"median of {sent.runs}; {APPLICATIONS} applications, {ASKS_A_MESSAGE} asks a message")
    show(f"goal: {GOAL}")
    show(f"{'':6} {'asks':>8} {'nodes':>8} {'a second':>10} {'us each':>8} {'growth':>9}")
    for policy in sent.policy:
        for asks in sent.asks:
            print_speed(policy, asks, sizes, sent.runs)
    for nodes in sizes:
        first, later = unplaceable(nodes, 1_000)
        show(
            f"an ask that fits on none of {nodes:,} nodes: {first * 1e6:,.0f} us,"
            f" the next ones {later * 1e6:.1f} us"
        )
    for policy in sent.policy:
        for applications, leaves in BACKLOG:
            spent = release(policy, applications, leaves)
            waiting = f"{applications:,} applications wait in {leaves} {policy} leaf queues"
            show(f"{waiting}: {spent * 1e6:,.0f} us for a release and the allocation after it")
    node, allocation = weights()
    show(f"{node:,.0f} bytes for a node, {allocation:,.0f} for an allocation with its ask")


if __name__ == "__main__":
    main()
