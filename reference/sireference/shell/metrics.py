"""Prometheus metrics, computed on request."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from sireference.core.counts import Counts
from sireference.shell.counters import Counters

CountsOfAll = Callable[[], tuple[Counters, list[Counts]]]


def registry(all_counts: CountsOfAll) -> CollectorRegistry:
    """Return the registry: the scheduler's own metrics and those of the process."""
    made = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=made)
    GCCollector(registry=made)
    made.register(SchedulerMetrics(all_counts))
    return made


class SchedulerMetrics(Collector):
    """Reads the all_counts at each request."""

    def __init__(self, all_counts: CountsOfAll) -> None:
        self._all_counts = all_counts

    def collect(self) -> Iterable[Metric]:
        """Yield the current metrics."""
        counters, all_counts = self._all_counts()
        handled = CounterMetricFamily(
            "sireference_observed", "Messages from resource managers", labels=["method"]
        )
        for method, count in sorted(counters.handled.items()):
            handled.add_metric([method], count)
        reported = CounterMetricFamily(
            "sireference_received", "Messages to resource managers", labels=["what"]
        )
        for what, count in sorted(counters.reported.items()):
            reported.add_metric([what], count)
        yield handled
        yield reported
        yield CounterMetricFamily(
            "sireference_refused", "Events of resource managers not served", counters.refused
        )
        yield from _gauges(all_counts)


def _gauges(all_counts: list[Counts]) -> Iterable[Metric]:
    state = GaugeMetricFamily(
        "sireference_resource_manager", "1 for the state it is in", labels=["rm", "state"]
    )
    applications = GaugeMetricFamily(
        "sireference_applications", "Applications", labels=["rm", "state"]
    )
    for counts in all_counts:
        state.add_metric([counts.rm_id, counts.state], 1)
        for name, count in sorted(counts.applications.items()):
            applications.add_metric([counts.rm_id, name], count)
    yield state
    yield applications
    numbers: dict[str, Callable[[Counts], int]] = {
        "nodes": lambda of_rm: of_rm.nodes,
        "allocations": lambda of_rm: of_rm.allocations,
        "pending_asks": lambda of_rm: of_rm.pending_asks,
    }
    for name, number_of in numbers.items():
        gauge = GaugeMetricFamily(
            f"sireference_{name}", name.replace("_", " ").capitalize(), labels=["rm"]
        )
        for counts in all_counts:
            gauge.add_metric([counts.rm_id], number_of(counts))
        yield gauge
