"""Soak test of the core alone: very many short lifecycles in this process."""

import gc
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Final

import psutil
from benchmarks.soak.lives import LEAVES, LIVES, SHORT, STEADY, Cluster, Life, resource_manager
from benchmarks.soak.samples import MIB, Bound, Growth, growth, print_line, verdict

AT_A_TIME: Final = 40  # concurrent lifecycles
RESOURCE_MANAGERS: Final = 25  # application lifecycles for one of an RM
SAMPLES: Final = 40
OBJECTS: Final = Bound(share=0.02, on_top=500)
MEMORY: Final = Bound(share=0.05, on_top=4 * MIB)
IN_CYCLES: Final = 1.0  # objects per lifecycle
SHOWN: Final = 8  # kinds of objects that grew most


@dataclass(frozen=True)
class Sample:
    """Objects known to Python's cycle collector at one moment."""

    lives: int
    in_cycles: int  # freed by the collector and by nothing else, since the sample before
    objects: Counter[str]
    memory: int


def lives(cluster: Cluster) -> Iterator[Life]:
    """Yield lifecycles of every kind in turn, in every leaf, of every RM."""
    for number in count():
        name = f"n-{number}"
        if number % RESOURCE_MANAGERS == 0:
            rm_id = SHORT[number // RESOURCE_MANAGERS % len(SHORT)]
            yield resource_manager(cluster, rm_id, name, LEAVES[0])
        else:
            kinds, leaves = len(LIVES), len(LEAVES)
            rm_id = STEADY[number // kinds // leaves % len(STEADY)]
            leaf = LEAVES[number // kinds % leaves]
            yield LIVES[number % kinds](cluster, rm_id, name, leaf)


def lead(cluster: Cluster, coming: Iterator[Life]) -> Iterator[int]:
    """Run all of them concurrently; yield how many are finished, after each."""
    led = deque(islice(coming, AT_A_TIME))
    over = 0
    while led:
        life = led.popleft()
        cluster.passes()
        if next(life, cluster) is not cluster:
            led.append(life)
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
    """Run lifecycles and print what they leave behind; return the exit code.

    Cycles are collected with the samples only: the tuned collector must not be needed.
    """
    gc.disable()
    cluster, process = Cluster(), psutil.Process()
    print_line(
        f"{many:,} lives in this process, {AT_A_TIME} at a time, beside asks that wait for ever"
    )
    print_line(
        f"{'lives':>10} {'seconds':>8} {'allocations':>12} {'objects':>10}"
        f" {'in cycles':>10} {'RSS MiB':>8}"
    )
    each = max(1, many // SAMPLES)
    samples = []
    began = time.monotonic()
    for over in lead(cluster, islice(lives(cluster), many)):
        if over % each:
            continue
        samples.append(one := sample(over, process))
        spent = time.monotonic() - began
        print_line(
            f"{over:10,} {spent:8,.0f} {cluster.allocations:12,}"
            f" {one.objects.total():10,} {one.in_cycles:10,} {one.memory / MIB:8.1f}"
        )
    return evaluated(samples, each)


def evaluated(samples: list[Sample], each: int) -> int:
    """Print whether memory is flat, and otherwise what grew; return the exit code."""
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
            print_line(f"{by:10,} more of {kind}")
    return code
