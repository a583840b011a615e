"""Who listens on a port, as far as the machine tells (/proc of Linux; elsewhere nothing)."""

import ipaddress
import socket
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

_PROC: Final = Path("/proc")
_TABLES: Final = ("net/tcp", "net/tcp6")
_LISTENS: Final = "0A"  # the state in these tables
_WORD: Final = 8  # hexadecimal digits that are stored in the byte order of the machine


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
    inode: str


@dataclass(frozen=True, slots=True)
class Before:
    """What listened when a command was about to be started."""

    listeners: frozenset[Listener] = field(default_factory=lambda: frozenset(_listeners()))

    def whose(self, address: str, keeper: int) -> Whose:
        """Whose the listener at HOST:PORT is; ``keeper`` is the process that started the command.

        A process that is younger than the keeper and not below it may be a proxy the command asked
        for, as with a container, and counts as ours.
        """
        there = _at(address, _listeners())
        if not there:
            return Whose.UNKNOWN
        if not there - self.listeners:
            return Whose.OF_BEFORE
        owners = _owners({listener.inode for listener in there - self.listeners})
        if not owners:
            return Whose.UNKNOWN
        verdicts = [_whose(owner, keeper) for owner in owners]
        return next((v for v in verdicts if v is Whose.OURS), verdicts[0])

    def at(self, address: str) -> bool:
        """Whether something listened there."""
        return bool(_at(address, self.listeners))


def _whose(pid: int, keeper: int) -> Whose:
    for ancestor in _line_of(pid):
        if ancestor == keeper:
            return Whose.OURS
        if _is_keeper(ancestor):
            return Whose.OF_ANOTHER_TARGET
    began, started = _began(pid), _began(keeper)
    if began is not None and started is not None and began < started:
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
        return {ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found}
    return set()


def _listeners() -> Iterator[Listener]:
    for table in _TABLES:
        with suppress(OSError):
            for line in (_PROC / table).read_text("ascii").splitlines()[1:]:
                words = line.split()
                if words[3] == _LISTENS:
                    host, _, port = words[1].partition(":")
                    yield Listener(_host(host), int(port, 16), words[9])


def _host(digits: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    parts = [digits[at : at + _WORD] for at in range(0, len(digits), _WORD)]
    address = ipaddress.ip_address(b"".join(int(part, 16).to_bytes(4, "little") for part in parts))
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address


def _owners(inodes: Collection[str]) -> list[int]:
    """Processes that hold one of these sockets, as far as we may look."""
    wanted = {f"socket:[{inode}]" for inode in inodes}
    return [pid for pid in _processes() if wanted & _held(pid)]


def _held(pid: int) -> set[str]:
    held = set()
    with suppress(OSError):
        for descriptor in (_PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                held.add(str(descriptor.readlink()))
    return held


def _processes() -> Iterator[int]:
    with suppress(OSError):
        yield from (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())


def _line_of(pid: int) -> Iterator[int]:
    """The process, its parent and so on."""
    while pid > 1:
        yield pid
        pid = int(_stat(pid).get("parent", 0))


def _began(pid: int) -> int | None:
    began = _stat(pid).get("began")
    return None if began is None else int(began)


def _stat(pid: int) -> Mapping[str, str]:
    """Of /proc/PID/stat, what stands behind the name: the parent, and ticks since the boot."""
    with suppress(OSError, IndexError):
        words = (_PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return {"parent": words[1], "began": words[19]}
    return {}


def _is_keeper(pid: int) -> bool:
    with suppress(OSError):
        words = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        return any(word.endswith(b"/targets/keeper.py") for word in words[:5])
    return False
