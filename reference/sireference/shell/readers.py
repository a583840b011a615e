"""HTTP access: checks of the token and of the requested host name."""

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
    """Return whether the header has the token, as bearer or as basic-auth password."""
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
    """Return whether ``host`` of a request names a server that listens on loopback.

    A foreign page can point its server's name to 127.0.0.1 (DNS rebinding) and read local data
    through the browser. An IP address cannot be abused in this way.
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
