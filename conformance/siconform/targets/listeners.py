"""Owners of listening ports, as far as this user may see them."""

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
_FIRST: Final = 5  # the program name is within this many words of a command line


class ListenerOwner(Enum):
    """Whose listener it is, from the view of one started command."""

    OURS = "started by the command, or after it"
    OF_BEFORE = "was there before the command was started"
    OF_AN_OLDER_PROCESS = "belongs to a process that is older than the command"
    OF_ANOTHER_TARGET = "belongs to another target the kit started"
    UNKNOWN = "is unknown"


class Listener(NamedTuple):
    """A listening socket."""

    host: ipaddress.IPv4Address | ipaddress.IPv6Address
    port: int
    owner: int | None  # process id; None if not visible


@dataclass(frozen=True, slots=True)
class EarlierListeners:
    """The listeners just before a command is started."""

    listeners: frozenset[Listener] = field(default_factory=lambda: frozenset(_listeners()))

    def whose(self, address: str, supervisor: int) -> ListenerOwner:
        """Return whose listener is at HOST:PORT; process ``supervisor`` started the command.

        A process younger than the supervisor and not below it may be a proxy of the command, as
        with a container, and counts as ours.
        """
        there = _at(address, _listeners())
        if not there:
            return ListenerOwner.UNKNOWN
        new = there - self.listeners
        if not new:
            return ListenerOwner.OF_BEFORE
        verdicts = [_whose(one.owner, supervisor) for one in new if one.owner is not None]
        if ListenerOwner.OURS in verdicts:
            return ListenerOwner.OURS
        return verdicts[0] if verdicts else ListenerOwner.UNKNOWN

    def at(self, address: str) -> bool:
        """Return whether something listened there."""
        return bool(_at(address, self.listeners))


def _whose(pid: int, supervisor: int) -> ListenerOwner:
    with suppress(psutil.Error):
        owner = psutil.Process(pid)
        line = (owner, *owner.parents())
        if any(ancestor.pid == supervisor for ancestor in line):
            return ListenerOwner.OURS
        if any(map(_is_supervisor, line)):
            return ListenerOwner.OF_ANOTHER_TARGET
        if owner.create_time() < psutil.Process(supervisor).create_time():
            return ListenerOwner.OF_AN_OLDER_PROCESS
    return ListenerOwner.OURS


def _at(address: str, listeners: Iterable[Listener]) -> set[Listener]:
    """Return the listeners reachable at the address: those of that host, else of any."""
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
