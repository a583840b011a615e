"""The small schedulers of mutation testing as processes, and streams to them."""

import os
import queue
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from patience import patient
from siwire import rpc


@contextmanager
def served(module: str) -> Iterator[grpc.Channel]:
    """Yield a channel to ``python -m MODULE`` at a quick rate; it must exit cleanly."""
    command = [sys.executable, "-P", "-m", module, "--listen", "127.0.0.1:0"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(  # noqa: S603  # ourselves
        [*command, "--interval", "0.05"], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    with grpc.insecure_channel(process.stdout.readline().split()[-1]) as channel:
        yield channel
    process.terminate()
    assert process.wait(patient(10)) == 0
    process.stdout.close()


class Stream:
    """A stream of the RM ``rm``."""

    def __init__(self, channel: grpc.Channel, methods: Mapping[str, rpc.Method], name: str) -> None:
        self._kind = methods[name].request
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.send()
        call = rpc.callable_for(channel, methods[name])
        self.received = call(iter(self._out.get, None), timeout=patient(20))

    def send(self, **content: Any) -> None:
        self._out.put(self._kind(rmID="rm", **content))

    def states(self, count: int) -> list[str]:
        """Return the next states of applications, from however many messages."""
        states: list[str] = []
        while len(states) < count:
            states += [update.state for update in next(self.received).updated]
        return states

    def ends(self) -> None:
        self._out.put(None)
        assert list(self.received) == []
