"""Addresses of running targets: HOST:PORT, [IPV6]:PORT or unix:PATH."""

import re
from ipaddress import IPv6Address, ip_address
from typing import Final

_HIGHEST_PORT: Final = 65535
_UNIX: Final = "unix:"
_SCHEME: Final = re.compile(r"([a-zA-Z][\w+.-]*)://+([^/?#]*)")
_OVER_TLS: Final = ("https", "grpcs")
_NO_HOST: Final = re.compile(r"[\s/@\[\]]")
_HOST_NAME: Final = re.compile(r"localhost|[\w-]+(\.[\w-]+)*\.[a-zA-Z]+|\d+(\.\d+){3}")
_FORM: Final = "HOST:PORT, such as 127.0.0.1:9080"


def is_address(text: str) -> bool:
    """Return whether this is HOST:PORT, [IPV6]:PORT or unix:PATH."""
    return not problem(text)


def is_meant_as_address(text: str) -> bool:
    """Return whether this names a host, a port or a socket, rather than a known target."""
    if "@" in text:
        return False
    return bool(re.search(r"[:/\s\[\]]", text) or _HOST_NAME.fullmatch(text))


def problem(text: str) -> str:
    """Return what is wrong with an address and the form that would do, or "".

    The words follow the address.
    """
    if text.startswith(_UNIX):
        return "" if text.removeprefix(_UNIX).strip("/ ") else "has no path: give unix:PATH"
    if scheme := _SCHEME.match(text):
        tls = " and --tls" if scheme[1].lower() in _OVER_TLS else ""
        return f"is a URL: give {_corrected(scheme[2])}{tls}"
    if re.search(r"\s", text):
        stripped = text.strip()
        return f"contains whitespace: give {_FORM if stripped == text else _corrected(stripped)}"
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return f"has no port: give {text}:PORT"
    return _problem_of_host(text, host, port) or _problem_of_port(host, port)


def _problem_of_host(text: str, host: str, port: str) -> str:
    if not host:
        return f"has no host: give {_corrected(f'127.0.0.1:{port}')}"
    if host.startswith("[") and host.endswith("]"):
        is_valid = _is_ipv6(host[1:-1])
        return "" if is_valid else "has no IPv6 address in its brackets: give [IPV6]:PORT"
    if _is_ipv6(host):
        return f"has an IPv6 address without brackets: give {_corrected(f'[{host}]:{port}')}"
    if _is_ipv6(text):
        return f"has an IPv6 address without brackets and no port: give [{text}]:PORT"
    if ":" in host or _NO_HOST.search(host):
        return f'has an invalid host, "{host}": give {_FORM}'
    return ""


def _problem_of_port(host: str, port: str) -> str:
    if not port:
        return f"has no port: give {host}:PORT"
    if not (port.isascii() and port.isdecimal()):
        return f'has a port that is not a number, "{port}": give {host}:PORT'
    if not 0 < int(port) <= _HIGHEST_PORT:
        return f"has a port that is not between 1 and {_HIGHEST_PORT}: give {host}:PORT"
    return ""


def _corrected(address: str) -> str:
    """Return the address if it is valid, else the form of one."""
    return address if is_address(address) else _FORM


def _is_ipv6(host: str) -> bool:
    try:
        return isinstance(ip_address(host), IPv6Address)
    except ValueError:
        return False
