"""Latency histograms for Prometheus, filled only if they can be read."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

from prometheus_client import CollectorRegistry, Histogram

_ANSWERS: Final = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0),
)
_PASSES: Final = (
    *(0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0),
)


class Latencies:
    """Called by the engine when something begins; in seconds of wall-clock time."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._answers = Histogram(
            "sireference_answer_seconds",
            "From a message received until all that follows from it at once is sent",
            ["method"],
            buckets=_ANSWERS,
            registry=registry,
        )
        self._passes = Histogram(
            "sireference_scheduling_pass_seconds",
            "A scheduling pass over all partitions of a resource manager",
            buckets=_PASSES,
            registry=registry,
        )

    def received(self, method: str) -> Callable[[], None]:
        """Note a message of this method; call the result once all answers are sent."""
        answers, began = self._answers.labels(method), time.perf_counter()
        return lambda: answers.observe(time.perf_counter() - began)

    def scheduling_pass(self) -> AbstractContextManager[Any]:
        """Return a context manager around a scheduling pass."""
        return self._passes.time()
