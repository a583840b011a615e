"""Soak test of the core alone: very many short lifecycles in this process."""

import gc
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

import psutil
from benchmarks.soak.lifecycles import (
    LEAVES,
    LIFECYCLES,
    SHORT,
    STEADY,
    Cluster,
    Lifecycle,
    resource_manager,
)
from benchmarks.soak.samples import MIB, Bound, Growth, growth, show, verdict

AT_A_TIME: Final = 40  # lifecycles to run
RESOURCE_MANAGERS: Final = 25  # application lifecycles per RM lifecycle
SAMPLES: Final = 40
OBJECTS: Final = Bound(share=0.02, on_top=500)
MEMORY: Final = Bound(share=0.05, on_top=4 * MIB)
IN_CYCLES: Final = 1.0  # objects per lifecycle
SHOWN: Final = 8  # kinds of objects that grew most


@dataclass(frozen=True)
class Sample:
    """A memory sample; objects are those that Python's cycle collector tracks."""

    lifecycles: int
    in_cycles: int  # freed only by the cycle collector since the previous sample
    objects: Counter[str]
    memory: int


def lifecycles(cluster: Cluster) -> Iterator[Lifecycle]:
    """Yield one of each kind after the other, in every leaf, of every RM."""
    for number in count():
        name = f"n-{number}"
        if number % RESOURCE_MANAGERS == 0:
            rm_id = SHORT[number // RESOURCE_MANAGERS % len(SHORT)]
            yield resource_manager(cluster, rm_id, name, LEAVES[0])
        else:
            kinds, leaves = len(LIFECYCLES), len(LEAVES)
            rm_id = STEADY[number // kinds // leaves % len(STEADY)]
            leaf = LEAVES[number // kinds % leaves]
            yield LIFECYCLES[number % kinds](cluster, rm_id, name, leaf)


def lead(cluster: Cluster, coming: Iterator[Lifecycle]) -> Iterator[int]:
    """Run all of them, many at a time; yield how many are over, after each."""
    led = deque(islice(coming, AT_A_TIME))
    over = 0
    while led:
        lifecycle = led.popleft()
        cluster.passes()
        if next(lifecycle, cluster) is not cluster:
            led.append(lifecycle)
            continue
        over += 1
        led.extend(islice(coming, 1))
        yield over


def sample(number: int, process: psutil.Process) -> Sample:
    """Take a sample."""
    in_cycles = gc.collect()
    objects = Counter(type(one).__name__ for one in gc.get_objects())
    return Sample(number, in_cycles, objects, process.memory_info().rss)


def soak(many: int) -> int:
    """Run so many lifecycles and print what they leave behind; return the exit code.

    Cycles are collected only at samples: objects must not depend on frequent collection.
    """
    gc.disable()
    cluster, process = Cluster(), psutil.Process()
    show(f"{many:,} lifecycles in this process, {AT_A_TIME} at a time, next to waiting asks")
    show(
        f"{'lifecycles':>10} {'seconds':>8} {'allocations':>12} {'objects':>10}"
        f" {'in cycles':>10} {'RSS MiB':>8}"
    )
    each = max(1, many // SAMPLES)
    samples = []
    began = time.monotonic()
    for over in lead(cluster, islice(lifecycles(cluster), many)):
        if over % each:
            continue
        samples.append(one := sample(over, process))
        spent = time.monotonic() - began
        show(
            f"{over:10,} {spent:8,.0f} {cluster.allocations:12,}"
            f" {one.objects.total():10,} {one.in_cycles:10,} {one.memory / MIB:8.1f}"
        )
    return evaluated(samples, each)


def evaluated(samples: list[Sample], each: int) -> int:
    """Print whether memory is flat and which objects grew; return the exit code."""
    in_cycles = max(one.in_cycles for one in samples[1:])
    code = verdict(
        (
            Growth("objects in cycles", 0, in_cycles, Bound(0, each * IN_CYCLES)),
            growth("objects", [one.objects.total() for one in samples], OBJECTS),
            growth("bytes of RSS", [one.memory for one in samples], MEMORY),
        )
    )
    if code:
        more = samples[-1].objects - samples[len(samples) // 4].objects
        for kind, by in more.most_common(SHOWN):
            show(f"{by:10,} more of {kind}")
    return code
