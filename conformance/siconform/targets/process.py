"""A target started by the kit: one process under a supervisor that ends it with the kit."""

import re
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from siwire import Revision

from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets import TargetUnavailable
from siconform.targets.launch import ADDRESS, Launch
from siconform.targets.listeners import EarlierListeners, ListenerOwner
from siconform.targets.logged_process import LoggedProcess
from siconform.targets.terms import PLAIN, Terms

__all__ = ["Launch", "ProcessTarget"]

_LISTENING = re.compile(r"listening on (\S+:(\d{1,5}))(?!\d)")
_REPORTED_PORT = re.compile(r":(\d{1,5})(?![\d.])")
_PORT_FLAG = re.compile(r"--?(?:[\w-]*port|p)(?:=(\d{1,5}))?", re.IGNORECASE)
_ANY_PORT = 0
_LOOK_AGAIN = 0.02  # seconds between two checks whether it listens


@dataclass
class ProcessTarget:
    """A target in a separate process.

    ``start()`` returns at once; ``address`` waits until it listens, so that a worker collects its
    tests meanwhile. All output goes to ``log``.
    """

    launch: Launch
    revision: Revision
    time_scale: float
    log: Path
    traits: frozenset[str] = frozenset()
    restartable: bool = True
    timers: Timers = UNKNOWN
    stated: Timers = UNKNOWN
    terms: Terms = PLAIN
    _run: "_Run | None" = field(default=None, init=False)
    _before: EarlierListeners | None = field(default=None, init=False)  # the first process

    @property
    def name(self) -> str:
        """The name the user knows."""
        return self.launch.name

    @property
    def address(self) -> str:
        """The address it listens on. TargetUnavailable if it ended or does not listen in time."""
        if self._run is None:
            self.start()
        assert self._run is not None  # noqa: S101  # start() sets it
        return self._run.address(self.launch.timeout)

    @property
    def known_address(self) -> str:
        """The address it listens on, "" until it is first needed."""
        return self._run.known_address if self._run is not None else ""

    def start(self) -> None:
        """Start the process; errors are raised by ``address``."""
        if self._before is None:  # reading all sockets of the machine takes a while
            self._before = EarlierListeners()
        self._run = _Run(self.launch, self.log, self._before)

    def alive(self) -> bool:
        """Return whether the process has not ended by itself."""
        return self._run is not None and self._run.alive()

    def listens(self) -> bool:
        """Return whether its known address still accepts connections; True if none is known."""
        return self._run is None or self._run.listens()

    def ended(self, timeout: float) -> str:
        """Return how the process ended, if within ``timeout`` seconds, else ""."""
        return self._run.ended(timeout) if self._run is not None else ""

    def restart(self) -> None:
        """Stop it and start a fresh one, which listens when this returns."""
        self.stop()
        self.start()
        _ = self.address

    def stop(self) -> None:
        """Send SIGTERM, then SIGKILL; return when it is gone."""
        if self._run is not None:
            self._run.stop()
            self._run = None


class _Run:
    """One run of the process."""

    def __init__(self, launch: Launch, log: Path, before: EarlierListeners) -> None:
        self._before = before
        self._asked = ""
        if any(ADDRESS in word for word in launch.command):
            self._asked = free_address()
        self._named_ports = reported_ports(launch.command)
        self._answered_before = [a for a in map(_local, self._named_ports) if a and _connectable(a)]
        command = [word.replace(ADDRESS, self._asked) for word in launch.command]
        self._name = launch.name
        self._log_path = log
        self._announced: list[str] = []  # addresses in its output
        self._address = ""  # the one that accepted a connection
        self._not_its: dict[str, ListenerOwner] = {}
        self._changed = threading.Condition()
        self._process = LoggedProcess(command, log, launch.folder, self._observe)
        self.alive, self.ended, self.stop = (
            self._process.alive,
            self._process.ended,
            self._process.stop,
        )

    @property
    def known_address(self) -> str:
        return self._address

    def address(self, timeout: float) -> str:
        deadline = time.monotonic() + timeout
        with self._changed:
            while not self._address:
                if not self.alive():
                    raise TargetUnavailable(f"{self._name} did not start: {self.ended(0)}")
                candidates = [self._asked] if self._asked else self._announced
                self._address = next((a for a in candidates if self._is_there(a)), "")
                if self._address:
                    break
                if time.monotonic() > deadline:
                    raise TargetUnavailable(self._silence(timeout))
                self._changed.wait(_LOOK_AGAIN)
        return self._address

    def listens(self) -> bool:
        return not self._address or _connectable(self._address)

    def _is_there(self, address: str) -> bool:
        """Return whether something listens there that may be the started process."""
        if not _connectable(address):
            return False
        whose = self._before.whose(address, self._process.pid)
        if whose is ListenerOwner.UNKNOWN and address in self._answered_before:
            whose = ListenerOwner.OF_BEFORE
        if whose in (ListenerOwner.OURS, ListenerOwner.UNKNOWN):
            return True
        self._not_its[address] = whose
        return False

    def _observe(self, line: str) -> None:
        found = _LISTENING.search(line)
        if found and self._believes(int(found[2])):
            with self._changed:
                self._announced.append(found[1])
                self._changed.notify_all()

    def _believes(self, port: int) -> bool:
        """Return whether the port is one in the command, or one it was free to choose."""
        return not self._named_ports or bool({port, _ANY_PORT} & self._named_ports)

    def _silence(self, timeout: float) -> str:
        where = "did not report where it listens"
        if self._asked:
            where = f"does not listen on {self._asked}"
        elif self._announced:
            where = f"does not listen on {self._announced[-1]}"
        elif self._named_ports:
            ports = " or ".join(map(str, sorted(self._named_ports)))
            where = f"did not report that it listens on port {ports}"
        others = [f"; what listens on {a} {whose.value}" for a, whose in self._not_its.items()]
        return (
            f"{self._name} was started and {where} after {timeout:g} s{''.join(others)} "
            f"(its output is in {self._log_path})"
        )


def reported_ports(command: Sequence[str]) -> frozenset[int]:
    """Return the ports in a command; 0 is one that it chooses."""
    found = [port for word in command for port in _REPORTED_PORT.findall(word)]
    for word, following in zip(command, [*command[1:], ""], strict=True):
        flag = _PORT_FLAG.fullmatch(word)
        if flag:
            found.append(flag[1] or following)
    return frozenset(int(port) for port in found if port.isdecimal())


def _local(port: int) -> str:
    return f"127.0.0.1:{port}" if port != _ANY_PORT else ""


def free_address() -> str:
    """Return a loopback address on which nothing listens."""
    return f"127.0.0.1:{_free_port()}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _connectable(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1.0).close()
    except OSError:
        return False
    return True
