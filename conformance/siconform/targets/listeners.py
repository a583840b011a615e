"""Who listens on a port, as far as the machine tells and this user may see."""

import ipaddress
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

import psutil

from siconform import fork_server

_SUPERVISORS: Final = ("/siconform/supervisor.py", fork_server.PROGRAM)
_FIRST: Final = 5  # words of a command line, within which its program is named


class Whose(Enum):
    """Whose listener it is, from the view of one started command."""

    OURS = "started by the command, or after it"
    OF_BEFORE = "was there before the command was started"
    OF_AN_OLDER_PROCESS = "belongs to a process that is older than the command"
    OF_ANOTHER_TARGET = "belongs to another target the kit started"
    UNKNOWN = "cannot be told"


class Listener(NamedTuple):
    """A socket that listens."""

    host: ipaddress.IPv4Address | ipaddress.IPv6Address
    port: int
    owner: int | None  # its process; None where that is not to be seen


@dataclass(frozen=True, slots=True)
class Before:
    """What listened when a command was about to be started."""

    listeners: frozenset[Listener] = field(default_factory=lambda: frozenset(_listeners()))

    def whose(self, address: str, supervisor: int) -> Whose:
        """Whose the listener at HOST:PORT is; ``supervisor`` is the process that started it.

        A process that is younger than the supervisor and not below it may be a proxy the command
        asked for, as with a container, and counts as ours.
        """
        there = _at(address, _listeners())
        if not there:
            return Whose.UNKNOWN
        new = there - self.listeners
        if not new:
            return Whose.OF_BEFORE
        verdicts = [_whose(one.owner, supervisor) for one in new if one.owner is not None]
        if Whose.OURS in verdicts:
            return Whose.OURS
        return verdicts[0] if verdicts else Whose.UNKNOWN

    def at(self, address: str) -> bool:
        """Whether something listened there."""
        return bool(_at(address, self.listeners))


def _whose(pid: int, supervisor: int) -> Whose:
    with suppress(psutil.Error):
        owner = psutil.Process(pid)
        line = (owner, *owner.parents())
        if any(ancestor.pid == supervisor for ancestor in line):
            return Whose.OURS
        if any(map(_is_supervisor, line)):
            return Whose.OF_ANOTHER_TARGET
        if owner.create_time() < psutil.Process(supervisor).create_time():
            return Whose.OF_AN_OLDER_PROCESS
    return Whose.OURS


def _at(address: str, listeners: Iterable[Listener]) -> set[Listener]:
    """Those a connection to the address can get to: of that very host, else of any."""
    host, _, port = address.rpartition(":")
    here = {listener for listener in listeners if listener.port == int(port)}
    wanted = _hosts(host.strip("[]"))
    exactly = {listener for listener in here if listener.host in wanted}
    return exactly or {listener for listener in here if listener.host.is_unspecified}


def _hosts(host: str) -> set[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    with suppress(OSError, ValueError):
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return {_host(str(entry[4][0])) for entry in found}
    return set()


def _listeners() -> Iterator[Listener]:
    with suppress(psutil.Error, OSError):
        for one in psutil.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr:
                host, port = one.laddr.ip, one.laddr.port
                yield Listener(_host(host), port, one.pid)


def _host(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    address = ipaddress.ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def _is_supervisor(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return any(word.endswith(_SUPERVISORS) for word in process.cmdline()[:_FIRST])
    return False
