"""Checks whether a channel reaches a gRPC server, and explains why not."""

import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import grpc

from siconform.transport.access import OPEN, Access, Tls

_AT_ONCE: Final = 0.5  # seconds that are ample for a channel to become ready
_LOOK: Final = 1.0  # seconds for one probe of a port
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
_OLD_REQUEST: Final = b"GET / HTTP/1.0\r\n\r\n"
_SETTINGS: Final = 4  # type of the first frame of an HTTP/2 server, its fourth byte
_WANTED: Final = 64  # bytes that suffice to identify a protocol

_CLOSES: Final = "accepts connections and closes them at once"

_EXPIRED, _NOT_YET, _OTHER_HOST, _OTHER_IP = 10, 9, 62, 64  # X509_V_ERR_... of OpenSSL
_TO_THE_CLIENT: Final = {
    "CERTIFICATE_REQUIRED": "asks for a certificate of the client: give --tls-cert and --tls-key",
    "UNKNOWN_CA": "does not know the authority that signed the certificate in --tls-cert",
    "EXPIRED": "reports that the certificate in --tls-cert has expired",
    "BAD_CERTIFICATE": "does not accept the certificate in --tls-cert",
    "CERTIFICATE": "does not accept the certificate in --tls-cert",
    "PROTOCOL_VERSION": "has no version of TLS in common with the kit",
    "NO_APPLICATION_PROTOCOL": "uses TLS without HTTP/2, so it is not a gRPC server",
}
"""Meaning of a TLS alert, by a part of its name; the first match applies."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a channel does not reach a gRPC server, in a sentence, and whether that may change."""

    message: str
    may_pass: bool = True


def comes_to(
    channel: grpc.Channel, address: str, access: Access, timeout: float
) -> Obstacle | None:
    """Return what keeps the channel from a gRPC server for ``timeout`` seconds, or None.

    A permanent obstacle is reported as soon as the channel is slower than one to a server.
    """
    ready = grpc.channel_ready_future(channel)
    problem = ""
    try:
        for limit in (min(_AT_ONCE, timeout), max(0.0, timeout - _AT_ONCE)):
            with suppress(grpc.FutureTimeoutError):
                ready.result(timeout=limit)
                return None
            problem = problem or misfit(address, access)
            if problem and problem != _CLOSES:  # as with a port whose process is still starting
                break
    finally:
        ready.cancel()
    if not problem and not _listens(address):
        return Obstacle(f"nothing answers on {address} within {timeout:g} s")
    waited = f"took the connection and did not answer as a gRPC server in {timeout:g} s"
    return Obstacle(f"the scheduler at {address} {problem or waited}", problem in ("", _CLOSES))


def misfit(address: str, access: Access = OPEN) -> str:
    """Return what answers instead of the expected server, as far as it is recognised, or "".

    The words follow "the scheduler at HOST:PORT".
    """
    try:
        if access.tls is not None:
            return _with_tls(address, access.tls)
        return _without_tls(address)
    except OSError:
        return ""  # nothing listens (any more): handled by the caller


def _without_tls(address: str) -> str:
    sent = _answer(address, _PREFACE)
    if sent is None or _is_http2(sent):
        return ""
    if sent.startswith(b"\x15\x03") or _uses_tls(address):  # an alert
        return "uses TLS: give --tls (--tls-ca FILE for the authority it is signed by)"
    if _is_http1(address, sent):
        return "uses HTTP/1, not gRPC: give the port of its gRPC server"
    if sent:
        return "does not use HTTP/2, so it is not a gRPC server: give the port of its gRPC server"
    return _CLOSES if _closes(address) else ""


def _with_tls(address: str, tls: Tls) -> str:
    try:
        with (
            _connected(address) as raw,
            _client(tls).wrap_socket(raw, server_hostname=tls.name or _host(address)) as secured,
        ):
            if secured.selected_alpn_protocol() != "h2":
                return "uses TLS without HTTP/2 (ALPN h2), so it is not a gRPC server"
            secured.sendall(_PREFACE)
            sent = secured.recv(_WANTED)
    except ssl.SSLCertVerificationError as why:
        return _not_trusted(why, address, tls)
    except (ssl.SSLEOFError, ConnectionError):
        return _closed(tls) if _uses_tls(address) else _no_tls(address)
    except ssl.SSLError as why:
        return _alert(why.reason or "") or _no_tls(address)
    return "" if _is_http2(sent) else _closed(tls)


def _not_trusted(why: ssl.SSLCertVerificationError, address: str, tls: Tls) -> str:
    if why.verify_code == _EXPIRED:
        return "shows a certificate that has expired, or whose authority's has"
    if why.verify_code == _NOT_YET:
        return "shows a certificate that is not valid yet"
    if why.verify_code in (_OTHER_HOST, _OTHER_IP):
        return (
            f"shows a certificate that is not for {tls.name or _host(address)}: name the host it "
            "is for by --tls-name"
        )
    trusted = "in --tls-ca" if tls.authorities else "the kit trusts: give it as --tls-ca FILE"
    return f"shows a certificate that is signed by no authority {trusted}"


def _closed(tls: Tls) -> str:
    """Explain a close without a TLS alert, as gRPC's own servers do with untrusted clients."""
    if tls.certificate is None:
        return (
            "closed the connection after the TLS handshake, as a server does that requires a "
            "client certificate: give --tls-cert and --tls-key"
        )
    return (
        "closed the connection after the TLS handshake, as a server does that does not trust the "
        "certificate in --tls-cert"
    )


def _no_tls(address: str) -> str:
    sent = _answer(address, _PREFACE) or b""
    if _is_http2(sent):
        return "does not use TLS: omit --tls and its options"
    if _is_http1(address, sent):
        return "uses HTTP/1 without TLS, not gRPC: give the port of its gRPC server"
    return _CLOSES if _closes(address) else "does not use TLS"


def _alert(reason: str) -> str:
    if "ALERT" not in reason:
        return ""
    known = (meaning for part, meaning in _TO_THE_CLIENT.items() if part in reason)
    words = reason.rpartition("ALERT_")[2].replace("_", " ").lower()
    return next(known, f"ended the TLS handshake: {words}")


def _client(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=tls.authorities)
    context.set_alpn_protocols(["h2"])
    if tls.certificate is not None:
        context.load_cert_chain(tls.certificate, tls.key)
    return context


def _uses_tls(address: str) -> bool:
    """Return whether the port answers with TLS, even if it rejects the client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        with _connected(address) as raw, context.wrap_socket(raw):
            return True
    except ssl.SSLError as why:
        return "ALERT" in (why.reason or "")
    except OSError:
        return False


def _is_http2(sent: bytes) -> bool:
    return len(sent) > _SETTINGS and not sent.startswith(b"HTTP") and sent[3] == _SETTINGS


def _is_http1(address: str, sent: bytes) -> bool:
    """Return whether the port answered, or answers a request, in HTTP/1."""
    return any(one.startswith(b"HTTP/1") for one in (sent, _answer(address, _OLD_REQUEST) or b""))


def _answer(address: str, request: bytes) -> bytes | None:
    """Return the first bytes: b"" if the connection is closed, None if none come in time."""
    with _connected(address) as connection:
        try:
            connection.sendall(request)
            return connection.recv(_WANTED)
        except TimeoutError:
            return None
        except ConnectionError:
            return b""


def _closes(address: str) -> bool:
    """Return whether the port ends a connection on which nothing was sent."""
    try:
        with _connected(address) as connection:
            return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def _listens(address: str) -> bool:
    with suppress(OSError), _connected(address):
        return True
    return False


def _connected(address: str) -> socket.socket:
    if address.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(_LOOK)
        connection.connect(address.removeprefix("unix:").removeprefix("//"))
        return connection
    _, _, port = address.rpartition(":")
    return socket.create_connection((_host(address), int(port)), _LOOK)


def _host(address: str) -> str:
    if address.startswith("unix:"):
        return "localhost"  # as in gRPC
    return address.rpartition(":")[0].strip("[]")
