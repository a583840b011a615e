"""Soak test over gRPC: resource managers run short lifecycles at a server with watched memory."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import grpc
import psutil
from benchmarks.soak.client import REVISION, LifecycleClient
from benchmarks.soak.samples import MIB, Bound, growth, show, verdict

SAMPLES: Final = 40
MEMORY: Final = Bound(share=0.05, on_top=4 * MIB)
TIMEOUT: Final = 20.0  # seconds for a process to end
# Short timeouts and few remembered applications: it is warm after some seconds
OPTIONS: Final = ("--completing-timeout", "1", "--max-finished", "200")


@contextmanager
def started(*command: str) -> Iterator["subprocess.Popen[str]"]:
    """A child process that is always stopped afterwards."""
    process = subprocess.Popen(  # noqa: S603  # fixed arguments
        [sys.executable, "-m", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def address_of(server: "subprocess.Popen[str]") -> str:
    """Return the address it printed."""
    sent = server.stdout.readline() if server.stdout is not None else ""
    if not sent.startswith("listening on "):
        raise SystemExit("the server does not print its address")
    return sent.removeprefix("listening on ").strip()


class Health:
    """Durations of the health checks since the last call."""

    def __init__(self, asking: "subprocess.Popen[str]") -> None:
        self._asking = asking
        self._seconds: list[float] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def has_failed(self) -> bool:
        """Return whether a check got no answer."""
        return self._asking.poll() is not None

    def take(self) -> list[float]:
        """Return the new ones, sorted."""
        with self._lock:
            seconds, self._seconds = self._seconds, []
        return sorted(seconds)

    def _listen(self) -> None:
        for line in self._asking.stdout or ():
            with self._lock:
                self._seconds.append(float(line))


@dataclass
class Watch:
    """The watched processes, and the samples."""

    server: psutil.Process
    health: Health
    clients: list[LifecycleClient]
    began: float
    memory: list[int] = field(default_factory=list)
    checks: list[float] = field(default_factory=list)

    def look(self) -> None:
        """Print one line of the table. Raises SystemExit where something failed."""
        for client in self.clients:
            if client.trouble is not None:
                raise SystemExit(f"a resource manager failed: {client.trouble!r}")
        if self.health.has_failed:
            raise SystemExit("a health check had no answer")
        self.memory.append(self.server.memory_info().rss)
        new = self.health.take()
        self.checks += new
        allocations = sum(client.allocations for client in self.clients)
        rounds = sum(client.rounds for client in self.clients)
        spent = time.monotonic() - self.began
        show(
            f"{spent:8,.0f} {rounds:9,} {allocations:12,} {allocations / spent:8,.0f}"
            f" {self.memory[-1] / MIB:8.1f} {len(new):7,} {percentiles(new)}"
        )


def percentiles(seconds: list[float]) -> str:
    """Format median, 99th percentile and maximum of sorted ``seconds`` in milliseconds."""
    if not seconds:
        return "no check"
    places = (0.5, 0.99, 1.0)
    picked = (seconds[min(int(len(seconds) * place), len(seconds) - 1)] for place in places)
    return " ".join(f"{one * 1e3:8.2f}" for one in picked)


def soak(seconds: float, rms: int) -> int:
    """Run lifecycles for so long at our own server and print its memory; return the exit code."""
    options = ("--revision", REVISION.name, "--listen", "127.0.0.1:0", *OPTIONS)
    with started("sireference", "serve", *options) as server:
        address = address_of(server)
        with (
            started("benchmarks.soak.health", address) as asking,
            grpc.insecure_channel(address) as channel,
        ):
            show(f"{rms} resource managers for {seconds / 60:g} minutes at {address}")
            clients = [LifecycleClient(channel, f"rm-{number}") for number in range(rms)]
            process = psutil.Process(server.pid)
            watch = Watch(process, Health(asking), clients, time.monotonic())
            watched(watch, seconds)
            for client in clients:
                client.ends()
    if not all(client.rounds for client in clients):
        raise SystemExit("a resource manager did not finish a single round")
    show(f"all health checks: {len(watch.checks):,}, ms: {percentiles(sorted(watch.checks))}")
    return verdict((growth("bytes of RSS", watch.memory, MEMORY),))


def watched(watch: Watch, seconds: float) -> None:
    """Sample periodically until the time is over."""
    show(
        f"{'seconds':>8} {'rounds':>9} {'allocations':>12} {'each s':>8} {'RSS MiB':>8}"
        f" {'checks':>7} {'p50 ms':>8} {'p99 ms':>8} {'max ms':>8}"
    )
    for number in range(1, SAMPLES + 1):
        time.sleep(max(0.0, watch.began + seconds * number / SAMPLES - time.monotonic()))
        watch.look()
