"""A resource manager (RM) under test: started by the kit, or started by somebody else."""

import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from siwire import Revision, rpc

from siconform.protocol.timers import UNKNOWN, Timers
from siconform.targets import TargetUnavailable
from siconform.targets.launch import ADDRESS, DRIVER, START_TIMEOUT, Launch
from siconform.targets.logged_process import LoggedProcess
from siconform.targets.process import free_address
from siconform.targets.terms import PLAIN, Terms

ANY_PORT: Final = "127.0.0.1:0"
REGISTRATION: Final = f"/{rpc.SERVICE}/RegisterResourceManager"


@dataclass
class RmTarget:
    """An RM under test. It connects to the kit's scheduler, which serves at ``serve_at``.

    ``connect_to`` starts it if the kit has a command, with an address for its driver.
    """

    name: str
    revision: Revision
    time_scale: float
    log: Path
    launch: Launch | None = None  # None: somebody else starts it
    serve_at: str = ANY_PORT
    driver: str = ""  # HOST:PORT, or "" without a driver
    patience: float = START_TIMEOUT  # seconds until it must register
    terms: Terms = PLAIN
    traits: frozenset[str] = frozenset()
    timers: Timers = UNKNOWN
    stated: Timers = UNKNOWN
    restartable: bool = field(init=False)
    address: str = field(default="", init=False)  # of the kit's scheduler
    _process: LoggedProcess | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.restartable = self.launch is not None
        if self.launch is not None and any(DRIVER in word for word in self.launch.command):
            self.driver = free_address()

    def connect_to(self, scheduler: str) -> None:
        """Let it use the scheduler at this address: start it, if the kit can."""
        self.address = scheduler
        if self.launch is None:
            return
        self.stop()
        words = self.launch.command
        command = [word.replace(ADDRESS, scheduler).replace(DRIVER, self.driver) for word in words]
        self._process = LoggedProcess(command, self.log, self.launch.folder)

    def alive(self) -> bool:
        """Return whether its process runs; True if the kit did not start it."""
        return self.launch is None or (self._process is not None and self._process.alive())

    def ended(self, timeout: float) -> str:
        """Return how its process ended, if within ``timeout`` seconds, else ""."""
        return self._process.ended(timeout) if self._process is not None else ""

    def restart(self) -> None:
        """Replace its process with a fresh one, which has yet to register."""
        self.connect_to(self.address)

    def stop(self) -> None:
        """End its process, if the kit started one."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def did_not_register(self, *, again: bool = False, called: str = "") -> TargetUnavailable:
        """Return the error that it did not register in time, or not ``again``.

        ``called`` is the path of a registration that no revision has, if it called one.
        """
        if called:
            return TargetUnavailable(f'the RM called "{called}" instead of "{REGISTRATION}"')
        where = f"{self.address} within {self.patience:g} s"
        if self.launch is None and again:
            return TargetUnavailable(f"the RM did not register again at {where}")
        if self.launch is None:
            return TargetUnavailable(f"no RM connected to {where}")
        if ended := self.ended(0.0):
            return TargetUnavailable(f"{self.name} did not register: {ended}")
        return TargetUnavailable(
            f"{self.name} was started and did not register at {where} (its output is in {self.log})"
        )


def check_can_serve(address: str) -> None:
    """Raise TargetUnavailable unless the kit can listen on this address."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_server((host.strip("[]"), int(port)), reuse_port=False).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise TargetUnavailable(f"the kit cannot listen on {address}: {why}") from None
