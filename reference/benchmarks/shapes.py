# ruff: noqa: INP001  # a script, not part of the package
"""Growth of the cost of one core step with the amount of waiting work, by shape of load.

Run it with the project installed: ``python reference/benchmarks/shapes.py``. Each shape loads one
data structure of the state, at three sizes, each twice the previous one. Every measurement is a
separate process. ``--before PATH`` alternates with another checkout. Time is processor time.
"""

import argparse
import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from sireference.configuration.parsing import parse_configuration
from sireference.core.model import (
    AllocationRecord,
    Answered,
    Ask,
    AskReleaseRequest,
    Callback,
    EachOfKey,
    Effect,
    Event,
    NewAllocation,
    NewApplication,
    NodeInfo,
    OneAllocation,
    PredicatesQuestion,
    PreemptionPolicy,
    Register,
    ReleasedAllocation,
    ReleasedAsk,
    ReleaseRequest,
    UpdateAllocations,
    UpdateApplications,
    UpdateNodes,
)
from sireference.core.placement_constraints import (
    AllocationAffinity,
    PlacementConstraint,
    TargetExpression,
)
from sireference.core.resources import Resource
from sireference.core.scheduler import Scheduler
from sireference.core.states import NodeAction, TerminationType
from sireference.shell import gc_tuning

HERE: Final = Path(__file__).resolve().parents[2]
QUEUES: Final = """
partitions:
  - name: default
    preemption: {{enabled: false}}
    queues:
      - name: root
        submitacl: "*"
        queues: [{leaves}]
"""
PREEMPTION: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        properties: {{preemption.delay: 1s}}
        queues:
          - name: p
            resources: {{max: {{memory: {most}}}}}
            queues:
              - {{name: takes}}
              - {{name: entitled, resources: {{guaranteed: {{memory: {most}}}}}}}
"""
ALLOWED: Final = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)
LEAF: Final = "{{name: leaf-{n}, properties: {{application.sort.policy: {policy}}}}}"
REPEATS: Final = 20  # of a step that is measured alone; the median counts
HOSTS: Final = 50  # distinct affinities among the asks
HUGE: Final = 10**9
WIDE: Final = 10**6


class Cluster:
    """A registered RM; messages are built before the measurement."""

    def __init__(
        self,
        leaves: int = 1,
        policy: str = "fifo",
        callbacks: frozenset[Callback] = frozenset(),
        text: str = "",
    ) -> None:
        self.scheduler = Scheduler()
        self.now = 1.0
        named = (LEAF.format(n=n, policy=policy) for n in range(leaves))
        queues = parse_configuration(text or QUEUES.format(leaves=", ".join(named)))
        self.send(Register("rm", queues, callbacks=callbacks))

    def send(self, event: Event) -> list[Effect]:
        """Send it, and run every pass that is due."""
        effects = self.scheduler.handle(event, self.now)
        while (due := self.scheduler.next_deadline()) is not None and due <= self.now:
            effects += self.scheduler.handle_timeout(self.now)
        return effects

    def waits(self) -> list[Effect]:
        """Wait until a deadline has effects; return none if there are none within a minute."""
        end, effects = self.now + 60.0, list[Effect]()
        while not effects and (due := self.scheduler.next_deadline()) is not None and due <= end:
            self.now = max(self.now, due)
            effects += self.scheduler.handle_timeout(self.now)
        return effects

    def has_nodes(self, count: int, memory: int) -> None:
        """Add so many nodes, each with its own hostname."""
        capacity = Resource({"memory": memory})
        self.send(
            UpdateNodes(
                "rm",
                tuple(
                    NodeInfo(f"node-{n}", NodeAction.CREATE, "default", {"host": str(n)}, capacity)
                    for n in range(count)
                ),
            )
        )

    def has_applications(self, count: int, leaves: int = 1) -> None:
        """Add so many applications, in turn to each leaf."""
        new = (NewApplication(f"app-{n}", f"root.leaf-{n % leaves}") for n in range(count))
        self.send(UpdateApplications("rm", tuple(new)))

    def asks(self, asks: Iterable[Ask]) -> list[AllocationRecord]:
        """Send all of them in one message; return the allocations."""
        return allocated(self.send(UpdateAllocations("rm", asks=tuple(asks))))

    def answers(
        self, event: Event, suits: Callable[[PredicatesQuestion], bool]
    ) -> list[AllocationRecord]:
        """Send it and answer every question of the scheduler; return the allocations."""
        effects = self.send(event)
        made: list[AllocationRecord] = []
        while effects:
            made += allocated(effects)
            questions = [one for one in effects if isinstance(one, PredicatesQuestion)]
            effects = []
            for one in questions:
                effects += self.send(Answered("rm", one.number, suits(one)))
        return made

    def fills(self, memory: int, most: int, application: str = "app-0") -> list[AllocationRecord]:
        """Send one ask for so many allocations, which are all made."""
        ask = Ask("fill", application, resource=Resource({"memory": memory}), max_allocations=most)
        made = self.asks([ask])
        expect(len(made), most)
        return made


def allocated(effects: Iterable[Effect]) -> list[AllocationRecord]:
    """Return the new allocations."""
    return [effect.allocation for effect in effects if isinstance(effect, NewAllocation)]


def expect(found: object, wanted: object) -> None:
    """Exit if the load is not as intended."""
    if found != wanted:
        raise SystemExit(f"{found} where {wanted} were expected")


def timed(step: Callable[[], object]) -> float:
    """Return the processor seconds of one step."""
    gc.collect()
    began = time.process_time()
    step()
    return time.process_time() - began


def of_memory(amount: int) -> Resource:
    """Return so much memory."""
    return Resource({"memory": amount})


def stop(live: AllocationRecord) -> UpdateAllocations:
    """Return the RM's release of it."""
    named = OneAllocation(live.ask.application_id, live.identity)
    release = ReleaseRequest("default", named, TerminationType.STOPPED_BY_RM)
    return UpdateAllocations("rm", releases=(release,))


def median_release(cluster: Cluster, made: Iterable[AllocationRecord], serves: int) -> float:
    """Return the median processor seconds of the release of one of these, which serves so many."""

    def release(live: AllocationRecord) -> None:
        expect(len(allocated(cluster.send(stop(live)))), serves)

    return statistics.median(timed(partial(release, live)) for live in made)


def sizes_asked(size: int) -> float:
    """A message with so many asks of distinct sizes, which fit on none of as many full nodes."""
    cluster = Cluster()
    cluster.has_nodes(size, 10)
    cluster.has_applications(1)
    cluster.fills(10, size)
    asks = [Ask(f"ask-{n}", "app-0", resource=of_memory(1 + n)) for n in range(size)]
    return timed(lambda: expect(cluster.asks(asks), []))


def sizes_fit(size: int) -> float:
    """A release that any of so many asks of distinct sizes could use; one of them does."""
    cluster = Cluster(policy="fair")
    cluster.has_nodes(REPEATS, WIDE)
    cluster.has_applications(size + 1)
    made = cluster.fills(WIDE, REPEATS)
    cluster.asks(Ask(f"ask-{n}", f"app-{n + 1}", resource=of_memory(WIDE - n)) for n in range(size))
    return median_release(cluster, made, serves=1)


def sizes_do_not_fit(size: int) -> float:
    """A release too small for any of so many asks of distinct sizes."""
    cluster = Cluster(policy="fair")
    cluster.has_nodes(REPEATS, 10)
    cluster.has_applications(size + 1)
    made = cluster.fills(10, REPEATS)
    cluster.asks(Ask(f"ask-{n}", f"app-{n + 1}", resource=of_memory(11 + n)) for n in range(size))
    return median_release(cluster, made, serves=0)


def affinities(size: int) -> float:
    """A message with so many asks for four hosts each, with anti-affinity to their own kind."""
    cluster = Cluster()
    cluster.has_nodes(HOSTS, WIDE)
    cluster.has_applications(1)

    def alone(name: str) -> PlacementConstraint:
        targets = (TargetExpression("app", values=frozenset([name])),)
        return PlacementConstraint(
            affinity=AllocationAffinity("host", targets, max_cardinality=1, required=True)
        )

    asks = [
        Ask(
            f"ask-{n}",
            "app-0",
            resource=of_memory(1),
            max_allocations=4,
            tags={"app": str(n)},
            constraint=alone(str(n)),
        )
        for n in range(size)
    ]
    return timed(lambda: expect(len(cluster.asks(asks)), 4 * size))


def required_nodes(size: int) -> float:
    """So many asks, each bound to its own full node, and the releases that free them."""
    cluster = Cluster()
    cluster.has_nodes(size, 10)
    cluster.has_applications(2)
    made = cluster.fills(10, size)
    asks = [
        Ask(f"ask-{n}", "app-1", resource=of_memory(10), required_node=f"node-{n}")
        for n in range(size)
    ]
    stops = [stop(live) for live in made]

    def step() -> None:
        expect(cluster.asks(asks), [])
        for each in stops:
            expect(len(allocated(cluster.send(each))), 1)

    return timed(step)


def exclusions(size: int) -> float:
    """So many asks, each refused by the RM on one of two nodes, until all are placed."""
    cluster = Cluster(callbacks=frozenset([Callback.PREDICATES]))
    cluster.has_nodes(2, WIDE)
    cluster.has_applications(1)
    asks = tuple(Ask(f"ask-{n}", "app-0", resource=of_memory(1)) for n in range(size))

    def step() -> None:
        event = UpdateAllocations("rm", asks=asks)
        expect(len(cluster.answers(event, lambda one: one.node_id == "node-1")), size)

    return timed(step)


def refused_everywhere(size: int) -> float:
    """A release that serves no ask, while the RM refuses so many asks on all usable nodes."""
    cluster = Cluster(callbacks=frozenset([Callback.PREDICATES]))
    cluster.has_applications(1)
    cluster.has_nodes(REPEATS, 1)
    fill = Ask("fill", "app-0", resource=of_memory(1), max_allocations=REPEATS)
    made = cluster.answers(UpdateAllocations("rm", asks=(fill,)), lambda _: True)
    expect(len(made), REPEATS)
    wide = NodeInfo("wide", NodeAction.CREATE, capacity=of_memory(WIDE))
    cluster.send(UpdateNodes("rm", (wide,)))
    asks = tuple(Ask(f"ask-{n}", "app-0", resource=of_memory(2)) for n in range(size))
    expect(cluster.answers(UpdateAllocations("rm", asks=asks), lambda _: False), [])
    return median_release(cluster, made, serves=0)


def leaf_queues(size: int) -> float:
    """A release into so many leaf queues with equal waiting asks; one is served."""
    cluster = Cluster(leaves=size + 1)
    cluster.has_nodes(1, 10 * REPEATS)
    cluster.has_applications(size + 1, size + 1)
    made = cluster.fills(10, REPEATS)
    cluster.asks(Ask(f"ask-{n}", f"app-{n + 1}", resource=of_memory(10)) for n in range(size))
    return median_release(cluster, made, serves=1)


def withdrawals(size: int) -> float:
    """A withdrawal by key alone where so many applications have an ask."""
    cluster = Cluster()
    cluster.has_nodes(1, 1)
    cluster.has_applications(size)
    cluster.asks(Ask(f"ask-{n}", f"app-{n}", resource=of_memory(10)) for n in range(size))

    def withdraw(number: int) -> None:
        named = EachOfKey(f"ask-{number}")
        release = AskReleaseRequest("default", named, TerminationType.STOPPED_BY_RM)
        effects = cluster.send(UpdateAllocations("rm", ask_releases=(release,)))
        expect(sum(isinstance(effect, ReleasedAsk) for effect in effects), 1)

    return statistics.median(timed(partial(withdraw, n)) for n in range(REPEATS))


def too_large(size: int) -> float:
    """Measure the first ask that fits on none of the empty nodes."""
    cluster = Cluster()
    cluster.has_nodes(size, 10)
    cluster.has_applications(1)
    return timed(lambda: expect(cluster.asks([Ask("k", "app-0", resource=of_memory(HUGE))]), []))


def all_full(size: int) -> float:
    """Measure the first ask after all nodes have been filled."""
    cluster = Cluster()
    cluster.has_nodes(size, 10)
    cluster.has_applications(1)
    for number in range(size // 100):
        fill = Ask(f"fill-{number}", "app-0", resource=of_memory(10), max_allocations=100)
        expect(len(cluster.asks([fill])), 100)
    return timed(lambda: expect(cluster.asks([Ask("k", "app-0", resource=of_memory(1))]), []))


def preempts(size: int) -> float:
    """Preemptors of distinct sizes, and as many nodes with one victim of distinct size each."""
    return _preempts(size, spare=0)


def preempts_below_maximum(size: int) -> float:
    """The same with capacity on the nodes, but none below the maximum of the queue."""
    return _preempts(size, spare=WIDE)


def _preempts(size: int, spare: int) -> float:
    sizes = [1_000 + n for n in range(size)]
    rm = Cluster(text=PREEMPTION.format(most=sum(sizes)))
    capacities = (Resource({"memory": memory + spare}) for memory in sizes)
    nodes = (
        NodeInfo(f"n{n}", NodeAction.CREATE, "default", {}, capacity)
        for n, capacity in enumerate(capacities)
    )
    rm.send(UpdateNodes("rm", tuple(nodes)))
    new = (NewApplication("victims", "root.p.takes"), NewApplication("app", "root.p.entitled"))
    rm.send(UpdateApplications("rm", new))
    old = (Ask(f"v{n}", "victims", resource=of_memory(memory)) for n, memory in enumerate(sizes))
    there = (AllocationRecord(f"v{n}", ask, f"n{n}") for n, ask in enumerate(old))
    rm.send(UpdateAllocations("rm", entries=tuple(there)))
    asks = [
        Ask(f"k{n}", "app", resource=of_memory(memory), preemption_policy=ALLOWED)
        for n, memory in enumerate(sizes)
    ]

    def run() -> None:
        effects, made = rm.send(UpdateAllocations("rm", asks=tuple(asks))), 0
        while effects:
            releases = [one.release for one in effects if isinstance(one, ReleasedAllocation)]
            made += len(allocated(effects))
            confirmed = (
                ReleaseRequest("default", OneAllocation("victims", one.identity), one.termination)
                for one in releases
            )
            effects = rm.send(UpdateAllocations("rm", releases=tuple(confirmed)))
            if not effects:
                effects = rm.waits()
        expect(made, size)

    return timed(run)


@dataclass(frozen=True)
class Shape:
    """A measurement, at the largest size and at a half and a quarter of it."""

    measure: Callable[[int], float]
    largest: int

    @property
    def name(self) -> str:
        """Return its name in the table and on the command line."""
        return self.measure.__name__.replace("_", "-")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return three sizes, each twice the previous one."""
        return self.largest // 4, self.largest // 2, self.largest


SHAPES: Final = {
    shape.name: shape
    for shape in (
        Shape(sizes_asked, 4_000),
        Shape(sizes_fit, 4_000),
        Shape(sizes_do_not_fit, 4_000),
        Shape(affinities, 800),
        Shape(required_nodes, 2_000),
        Shape(exclusions, 4_000),
        Shape(refused_everywhere, 4_000),
        Shape(leaf_queues, 4_000),
        Shape(withdrawals, 10_000),
        Shape(too_large, 50_000),
        Shape(all_full, 50_000),
        Shape(preempts, 800),
        Shape(preempts_below_maximum, 800),
    )
}


def elsewhere(checkout: Path, name: str, size: int) -> float:
    """Return seconds for a shape in a separate process, with the packages of ``checkout``."""
    parts = (str(checkout / part) for part in ("reference", "proto", "conformance"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(parts)}
    command = [sys.executable, __file__, "--alone", str(size), "--shapes", name]
    done = subprocess.run(  # noqa: S603  # this script
        command, env=environment, stdout=subprocess.PIPE, check=True
    )
    seconds = json.loads(done.stdout)
    if not isinstance(seconds, float):
        raise SystemExit(f"{name} did not print its duration")
    return seconds


def exponent(seconds: dict[int, float]) -> float:
    """Return the power of the size by which the time grows, from the smallest to the largest."""
    smallest, *_, largest = seconds
    return math.log(seconds[largest] / seconds[smallest]) / math.log(largest / smallest)


def shown(seconds: float) -> str:
    """Format it in a readable unit."""
    for unit, least in (("s ", 1.0), ("ms", 1e-3)):
        if seconds >= least:
            return f"{seconds / least:7.2f} {unit}"
    return f"{seconds * 1e6:7.1f} us"


def compare(shape: Shape, checkouts: dict[str, Path], runs: int) -> None:
    """Print one line per checkout: medians at each size, and their growth."""
    found: dict[str, dict[int, list[float]]] = {
        title: {size: [] for size in shape.sizes} for title in checkouts
    }
    for size in shape.sizes:
        for _ in range(runs):
            for title, checkout in checkouts.items():
                found[title][size].append(elsewhere(checkout, shape.name, size))
    for title, by_size in found.items():
        medians = {size: statistics.median(seconds) for size, seconds in by_size.items()}
        times = "  ".join(f"{size:>6,}: {shown(spent)}" for size, spent in medians.items())
        show(f"{shape.name:18} {title:6} {times}  {exponent(medians):+6.2f}")


def show(line: str) -> None:
    """Print one line of the result."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of which the median counts")
    parser.add_argument("--shapes", choices=SHAPES, nargs="+", default=tuple(SHAPES))
    parser.add_argument("--before", type=Path, help="another checkout to compare with")
    parser.add_argument(
        "--alone", type=int, metavar="SIZE", help="one size of one shape, in this process"
    )
    sent = parser.parse_args()
    if sent.alone is not None:
        gc_tuning.reduce_collections()
        show(json.dumps(SHAPES[sent.shapes[0]].measure(sent.alone)))
        return
    checkouts = {"before": sent.before.resolve()} if sent.before is not None else {}
    checkouts["now"] = HERE
    show(f"median of {sent.runs}; the last figure is the power of the size that time grows with")
    for name in sent.shapes:
        compare(SHAPES[name], checkouts, sent.runs)


if __name__ == "__main__":
    main()
