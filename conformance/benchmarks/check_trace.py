"""How fast ``siconform check-trace`` is, and how much memory it takes, by the length of the trace.

The trace is made up: pods of many applications come, are scheduled and end, on a cluster of one
size; what lives at a time does not grow with the trace.
"""  # noqa: INP001  # a script

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from siwire.r2024_10 import si_pb2 as si

NODES: Final = 500
APPLICATIONS: Final = 50  # at a time
PODS: Final = 4_000  # at a time
PODS_OF_AN_APPLICATION: Final = 200
_GIB: Final = 1 << 30


class _Trace:
    """Lines of a trace, made up one after the other."""

    def __init__(self) -> None:
        self._number = 0
        self._random = random.Random(28)  # noqa: S311  # the same trace each time

    def lines(self, messages: int) -> Iterator[str]:
        """Yield at least this many messages as raw lines."""
        yield self._line("rm", None, si.RegisterResourceManagerRequest(rmID="rm", policyGroup="g"))
        yield self._line("scheduler", None, si.RegisterResourceManagerResponse())
        yield from self._nodes()
        running: deque[tuple[str, str]] = deque()
        left: dict[str, int] = {}
        application = ""
        started = 0
        while self._number < messages:
            if started % (PODS_OF_AN_APPLICATION // 2) == 0:
                application = f"application-{started:08}"
                left[application] = 0
                yield from self._application(application)
            key = f"{self._random.getrandbits(128):032x}"
            node = f"node-{self._random.randrange(NODES):05}"
            started += 1
            left[application] += 1
            running.append((application, key))
            yield from self._pod(application, key, node)
            if len(running) > PODS:
                yield from self._end(*running.popleft(), left, application)

    def _line(self, sender: str, stream: str | None, message: Any) -> str:
        self._number += 1
        name = message.DESCRIPTOR.full_name
        shown = "null" if stream is None else f'"{stream}"'
        return (
            f'{{"at":{self._number / 1000},"from":"{sender}","rm":"rm","stream":{shown},'
            f'"number":{self._number},"message":"{name}","hex":"{message.SerializeToString().hex()}"}}\n'
        )

    def _nodes(self) -> Iterator[str]:
        for number in range(NODES):
            node = f"node-{number:05}"
            sent = si.NodeRequest(rmID="rm")
            info = sent.nodes.add(nodeID=node, action=si.NodeInfo.CREATE)
            info.attributes["si/hostname"] = node
            info.schedulableResource.resources["memory"].value = 1024 * _GIB
            info.schedulableResource.resources["vcore"].value = 1_000_000
            info.schedulableResource.resources["pods"].value = 10_000
            yield self._line("rm", "nodes", sent)
            yield self._line(
                "scheduler", "nodes", si.NodeResponse(accepted=[si.AcceptedNode(nodeID=node)])
            )

    def _application(self, application: str) -> Iterator[str]:
        sent = si.ApplicationRequest(rmID="rm")
        new = sent.new.add(applicationID=application, queueName="root.default")
        new.partitionName = "[rm]default"
        new.ugi.user = "user"
        new.ugi.groups.append("group")
        yield self._line("rm", "applications", sent)
        accepted = si.ApplicationResponse()
        accepted.accepted.add(applicationID=application)
        yield self._line("scheduler", "applications", accepted)
        yield self._state(application, "Running")

    def _state(self, application: str, state: str) -> str:
        sent = si.ApplicationResponse()
        sent.updated.add(
            applicationID=application, state=state, stateTransitionTimestamp=self._number
        )
        return self._line("scheduler", "applications", sent)

    def _allocation(self, application: str, key: str) -> Any:
        one = si.Allocation(allocationKey=key, applicationID=application)
        one.partitionName = "[rm]default"
        one.resourcePerAlloc.resources["memory"].value = _GIB
        one.resourcePerAlloc.resources["vcore"].value = 500
        one.resourcePerAlloc.resources["pods"].value = 1
        one.allocationTags["kubernetes.io/meta/namespace"] = "default"
        one.allocationTags["kubernetes.io/meta/podName"] = f"pod-{key[:8]}"
        one.allocationTags["creationTime"] = "1795725903"
        return one

    def _pod(self, application: str, key: str, node: str) -> Iterator[str]:
        one = self._allocation(application, key)
        yield self._line("rm", "allocations", si.AllocationRequest(rmID="rm", allocations=[one]))
        one.nodeID = node
        yield self._line("scheduler", "allocations", si.AllocationResponse(new=[one]))

    def _end(self, application: str, key: str, left: dict[str, int], current: str) -> Iterator[str]:
        release = si.AllocationRelease(
            partitionName="[rm]default",
            applicationID=application,
            allocationKey=key,
            terminationType=si.STOPPED_BY_RM,
        )
        sent = si.AllocationRequest(rmID="rm")
        sent.releases.allocationsToRelease.append(release)
        yield self._line("rm", "allocations", sent)
        yield self._line("scheduler", "allocations", si.AllocationResponse(released=[release]))
        left[application] -= 1
        if not left[application] and application != current:
            yield self._state(application, "Completing")
            removal = si.ApplicationRequest(rmID="rm")
            removal.remove.add(applicationID=application, partitionName="[rm]default")
            yield self._line("rm", "applications", removal)


_MEASURED: Final = """
import resource, sys
from siconform.cli import main
try:
    main(sys.argv[1:], standalone_mode=False)
except SystemExit as end:
    print('exit code', end.code)
print(
    'peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, 'MB, of a child',
    resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, 'MB'
)
"""


def main() -> None:
    """Measure the traces of these lengths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--write", type=Path, help="only write the trace of the first length")
    given, words = parser.parse_known_args()
    if given.write:
        with given.write.open("w") as out:
            out.writelines(_Trace().lines(given.messages[0]))
        return
    for messages in given.messages:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.jsonl"
            with trace.open("w") as out:
                out.writelines(_Trace().lines(messages))
            command = (sys.executable, "-c", _MEASURED, "check-trace", str(trace), *words)
            began = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # our own
            seconds = time.monotonic() - began
        peak = done.stdout.splitlines()[-1]
        print(f"{messages:>9} messages: {seconds:6.1f} s, {messages / seconds:7.0f}/s, {peak}")  # noqa: T201  # the result


if __name__ == "__main__":
    main()
