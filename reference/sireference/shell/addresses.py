"""Listen addresses, checked with a clear error message.

gRPC only reports that it failed, so the address is tried before.
"""

import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

UNIX: Final = "unix:"
_IN_USE: Final = (
    "the port is in use; stop the other program, or choose another port (0: any free one)"
)
_REASONS: Final[Mapping[int, str]] = {
    errno.EADDRINUSE: _IN_USE,
    errno.EADDRNOTAVAIL: "not an address of this machine; 0.0.0.0 and [::] stand for all of them",
    errno.EACCES: "permission denied; ports below 1024 may need privileges",
    errno.EPERM: "permission denied; ports below 1024 may need privileges",
}
_PATH_REASONS: Final[Mapping[int, str]] = {
    errno.ENOENT: "its directory does not exist; create it, or choose another path",
    errno.ENOTDIR: "its parent is not a directory; choose another path",
    errno.EACCES: "its directory is not writable; change that, or choose another path",
    errno.EPERM: "its directory is not writable; change that, or choose another path",
    errno.EROFS: "its file system is read-only; choose another path",
}


class CannotListenError(RuntimeError):
    """Listening on an address is impossible; the message says why and what to do."""

    def __init__(self, listen: str, why: str) -> None:
        super().__init__(f"cannot listen on {listen}: {why}")


def check(listen: str) -> None:
    """Raise CannotListenError if listening on ``host:port`` or ``unix:path`` would fail."""
    try:
        if listen.startswith(UNIX):
            _check_path(listen)
        else:
            _check_port(listen)
    except socket.gaierror as why:
        problem = (
            f"the host has no address ({why.strerror}); give a name or address of this machine"
        )
        raise CannotListenError(listen, problem) from None
    except OSError as why:
        raise CannotListenError(listen, reason(listen, why)) from None


def reason(listen: str, why: OSError) -> str:
    """Explain the system's error for ``listen``."""
    known = _PATH_REASONS if listen.startswith(UNIX) else _REASONS
    if why.errno is None:  # Python's own error, of a path
        return "the path is too long for a socket; choose a shorter one"
    return known.get(why.errno, why.strerror or str(why))


def is_public(listen: str) -> bool:
    """Return whether other machines may reach it; an unresolvable host counts as public."""
    if listen.startswith(UNIX):
        return False
    try:
        found = _resolved(listen)
    except socket.gaierror:
        return True
    addresses = [str(place[0]).partition("%")[0] for _, place in found]
    return not all(ipaddress.ip_address(one).is_loopback for one in addresses)


def host_and_port(listen: str) -> tuple[str, int]:
    """Split ``host:port``; an IPv6 address loses its brackets."""
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)


def _resolved(listen: str) -> list[tuple[int, Any]]:
    host, port = host_and_port(listen)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return [(family, place) for family, _, _, _, place in found]


def _check_port(listen: str) -> None:
    """Check a port: one address of the host is enough, but none may be in use."""
    troubles = []
    found = _resolved(listen)
    for family, place in found:
        try:
            with socket.socket(family) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
        except OSError as why:
            if why.errno == errno.EADDRINUSE:
                raise
            troubles.append(why)
    if len(troubles) == len(found):
        raise troubles[0]


def _check_path(listen: str) -> None:
    """Check a path: an abandoned socket is fine, gRPC replaces it."""
    path = Path(listen.removeprefix(UNIX).removeprefix("//"))
    if _answers(path):
        raise CannotListenError(
            listen, "another server uses it; stop that server, or choose another path"
        )
    if path.is_socket():
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, "")
        return
    if path.exists():
        raise CannotListenError(
            listen, "the file is not a socket; remove it, or choose another path"
        )
    with socket.socket(socket.AF_UNIX) as probe:
        probe.bind(str(path))
    path.unlink()


def _answers(path: Path) -> bool:
    """Return whether a server uses this socket; gRPC would silently take its path."""
    with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
        probe.connect(str(path))
        return True
    return False
