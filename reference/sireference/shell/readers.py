"""Who may read over HTTP: by token, and by the name under which the server was asked."""

import base64
import binascii
import hmac
import ipaddress
from typing import Final
from urllib.parse import urlsplit

CHALLENGES: Final = (
    ("WWW-Authenticate", "Bearer"),
    ("WWW-Authenticate", 'Basic realm="sireference: the token is the password"'),
)


def has_token(authorization: str, token: bytes | None) -> bool:
    """Whether the header has the token: as a bearer, or as the password a browser asks for."""
    if token is None:
        return True
    scheme, _, given = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            offered = given.strip().encode(errors="replace")
        case "basic":
            offered = _password(given)
        case _:
            return False
    return hmac.compare_digest(offered, token)


def is_own_name(host: str, listen: str) -> bool:
    """Whether ``host``, as a request has it, names a server that listens on loopback.

    A page of somebody else can have the name of its own server lead to 127.0.0.1, and would be
    shown by the browser what only this machine is to see. An address cannot be had so.
    """
    name = _host_of(host)
    if name in ("", "localhost", _host_of(listen)) or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _host_of(place: str) -> str:
    try:
        return (urlsplit(f"//{place}").hostname or "").rstrip(".")
    except ValueError:
        return place


def _password(given: str) -> bytes:
    try:
        pair = base64.b64decode(given.strip(), validate=True)
    except (binascii.Error, ValueError):
        return b""
    return pair.partition(b":")[2]
