"""Metrics for Prometheus, worked out when somebody asks for them."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from sireference.core.tally import Tally
from sireference.shell.counters import Counters

Tallies = Callable[[], tuple[Counters, list[Tally]]]


def registry(tallies: Tallies) -> CollectorRegistry:
    """What is exported: the scheduler's own metrics and those of the process."""
    made = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=made)
    GCCollector(registry=made)
    made.register(SchedulerMetrics(tallies))
    return made


class SchedulerMetrics(Collector):
    """Reads the tallies whenever metrics are asked for."""

    def __init__(self, tallies: Tallies) -> None:
        self._tallies = tallies

    def collect(self) -> Iterable[Metric]:
        """The metrics as they are now."""
        counters, tallies = self._tallies()
        heard = CounterMetricFamily(
            "sireference_heard", "Messages from resource managers", labels=["method"]
        )
        for method, count in sorted(counters.heard.items()):
            heard.add_metric([method], count)
        told = CounterMetricFamily(
            "sireference_told", "What resource managers were told", labels=["what"]
        )
        for what, count in sorted(counters.told.items()):
            told.add_metric([what], count)
        yield heard
        yield told
        yield CounterMetricFamily(
            "sireference_refused", "Events of resource managers not served", counters.refused
        )
        yield from _gauges(tallies)


def _gauges(tallies: list[Tally]) -> Iterable[Metric]:
    state = GaugeMetricFamily(
        "sireference_resource_manager", "1 for the state it is in", labels=["rm", "state"]
    )
    applications = GaugeMetricFamily(
        "sireference_applications", "Applications", labels=["rm", "state"]
    )
    for tally in tallies:
        state.add_metric([tally.rm_id, tally.state], 1)
        for name, count in sorted(tally.applications.items()):
            applications.add_metric([tally.rm_id, name], count)
    yield state
    yield applications
    counts: dict[str, Callable[[Tally], int]] = {
        "nodes": lambda tally: tally.nodes,
        "allocations": lambda tally: tally.allocations,
        "pending_asks": lambda tally: tally.pending_asks,
    }
    for name, count_of in counts.items():
        gauge = GaugeMetricFamily(
            f"sireference_{name}", name.replace("_", " ").capitalize(), labels=["rm"]
        )
        for tally in tallies:
            gauge.add_metric([tally.rm_id], count_of(tally))
        yield gauge
