"""The reference of one revision in a process of its own, and what it holds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import grpc
from siconform.protocol.queue_configurations import queues_without_limits
from siconform.protocol.timers import SHORT
from siconform.targets.embedded import embedded
from siconform.targets.process import ProcessTarget
from siconform.transport.channels import OPTIONS, close
from siconform.transport.extension import Extension
from siwire import Revision
from siwire.ext import extension_pb2 as ext

from mixed.speech import MEMORY, POLICY_GROUP, RM

PLACEHOLDER_TIMEOUT: Final = 3.0  # seconds: SHORT.placeholder
_STARTS_WITHIN: Final = 30.0  # seconds
_EXTENSION_ANSWERS_WITHIN: Final = 10.0  # seconds
_CLOSES_WITHIN: Final = 2.0  # seconds
QUEUES: Final = ("root", "root.plain", "root.fifo")
_QUEUES: Final = (
    queues_without_limits("plain", "fifo")
    + "            properties: {application.sort.policy: fifo}\n"  # the only one that takes gangs
)
_OVER: Final = frozenset({"Completed", "Failed", "Rejected", "Expired"})

Holdings = Counter[str]
"""What a scheduler holds, in sentences; each as often as it holds."""


class Scheduler:
    """A reference that is served, and the channels to it."""

    def __init__(self, revision: Revision, address: str) -> None:
        self.revision = revision
        self.channel = grpc.insecure_channel(address, options=OPTIONS)
        self._extension = Extension(address, _EXTENSION_ANSWERS_WITHIN)

    def holds(self) -> Holdings:
        """What it holds for the one RM there is."""
        told = self._extension.snapshot(RM)
        held = Counter(_of_the_rm(told))
        for node in told.nodes:
            held.update(_of_node(node))
        for application in told.applications:
            held.update(_of_application(application))
        return held

    def lets_time_pass(self, seconds: float) -> None:
        """Its clock stands still but for this."""
        self._extension.advances(seconds)

    def close(self) -> None:
        """Close the channels."""
        self._extension.close()
        close(self.channel, _CLOSES_WITHIN)


@contextmanager
def started(revision: Revision, folder: Path) -> Iterator[ProcessTarget]:
    """The reference of this revision, ended with the block; its log goes to ``folder``."""
    file = folder / "queues.yaml"
    file.write_text(_QUEUES, "utf-8")
    launch = embedded(revision, SHORT, real_clock=False)
    options = ("--policy-group", f"{POLICY_GROUP}={file}", "--show-extra-config")
    launch = replace(launch, command=(*launch.command, *options), timeout=_STARTS_WITHIN)
    target = ProcessTarget(launch, revision, 1.0, folder / f"reference-{revision}.log")
    try:
        target.start()
        yield target
    finally:
        target.stop()


@contextmanager
def served(target: ProcessTarget) -> Iterator[Scheduler]:
    """What was started, as soon as it listens. TargetUnavailable when it does not in time."""
    scheduler = Scheduler(target.revision, target.address)
    try:
        yield scheduler
    finally:
        scheduler.close()


# Holdings


def registered() -> str:
    """The RM is served."""
    return "the RM runs"


def queue(name: str) -> str:
    """There is this queue."""
    return f"there is the queue {name}"


def setting(key: str, value: str) -> str:
    """The RM has set this in extraConfig."""
    return f"the setting {key} is {value}"


def node(name: str, memory: int = 10) -> str:
    """The node is known, with its whole room."""
    return f"node {name} has memory {memory}"


def open_node(name: str) -> str:
    """The node takes allocations."""
    return f"node {name} is open"


def occupied(name: str, memory: int) -> str:
    """Others occupy so much of the node."""
    return f"others occupy memory {memory} of node {name}"


def application(name: str, queue_name: str = "root.plain") -> str:
    """The application is known and not over."""
    return f"application {name} is in {queue_name}"


def waiting(key: str, application_name: str = "a1") -> str:
    """The ask wants something."""
    return f"the ask {key} of {application_name} waits"


def living(
    key: str, node_name: str = "n1", memory: int = 2, *, application_name: str = "a1", of: str = ""
) -> str:
    """The allocation lives; ``of`` names the task group of a placeholder."""
    placeholder = f" as a placeholder of {of}" if of else ""
    of_whom = f"{key} of {application_name}"
    return f"the allocation {of_whom} holds memory {memory} on {node_name}{placeholder}"


def unconfirmed(key: str) -> str:
    """Its release was announced and is not confirmed."""
    return f"the release of {key} waits to be confirmed"


def _of_the_rm(told: ext.SnapshotResult) -> Iterator[str]:
    if told.phase == ext.SnapshotResult.RUNNING:
        yield registered()
    for one in told.queues:
        yield queue(one.name)
    for key, value in told.extra_config.items():
        yield setting(key, value)


def _of_node(told: ext.NodeView) -> Iterator[str]:
    yield node(told.node_id, told.capacity.get(MEMORY, 0))
    if told.schedulable:
        yield open_node(told.node_id)
    if amount := told.occupied.get(MEMORY, 0):
        yield occupied(told.node_id, amount)


def _of_application(told: ext.AppView) -> Iterator[str]:
    if told.state not in _OVER:
        yield application(told.application_id, told.queue)
    for key in told.pending_keys:
        yield waiting(key, told.application_id)
    for one in told.allocations:
        amounts: Mapping[str, int] = one.resource
        yield living(
            one.allocation_key,
            one.node_id,
            amounts.get(MEMORY, 0),
            application_name=told.application_id,
            of=one.task_group if one.placeholder else "",
        )
        if one.release_open:
            yield unconfirmed(one.allocation_key)
