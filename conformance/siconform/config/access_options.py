"""Options for TLS and call metadata, with secrets hidden."""

import base64
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from siconform.transport.access import Access, Tls
from siconform.transport.tls_files import check_certificates, check_pair

_KEY: Final = re.compile(r"[0-9a-z_.-]+")
_RESERVED: Final = "grpc-"
_BINARY: Final = "-bin"  # suffix of keys with binary values, as defined by gRPC
_FROM_ENVIRONMENT: Final = re.compile(r"\$\{(\w+)\}")
_SHOWN: Final = re.compile(r"(\w+ )?\$\{\w+\}")  # a reference to a secret, not the secret
_METADATA: Final = "--metadata"
_HIDDEN: Final = "***"


def read_access(get: Callable[[str], Any]) -> Access:
    """Read how to reach the target; raise LookupError for the first invalid value."""
    return Access(_tls(get), tuple(_entry(one) for one in get(_METADATA) or ()))


def without_secrets(options: Sequence[str]) -> Iterator[str]:
    """Yield the options for display, without the values of metadata."""
    before = ""
    for word in options:
        flag, is_pair, entry = word.partition("=")
        if before == _METADATA:
            yield _hidden(word)
        elif is_pair and flag == _METADATA:
            yield f"{flag}={_hidden(entry)}"
        else:
            yield word
        before = word


def _hidden(entry: str) -> str:
    key, equals, value = entry.partition("=")
    if not equals:
        return _HIDDEN
    return entry if _SHOWN.fullmatch(value) else f"{key}={_HIDDEN}"


def _tls(get: Callable[[str], Any]) -> Tls | None:
    authorities, certificate, key = (get(f"--tls-{name}") for name in ("ca", "cert", "key"))
    name = get("--tls-name") or ""
    if bool(certificate) != bool(key):
        given, missing = ("--tls-cert", "--tls-key") if certificate else ("--tls-key", "--tls-cert")
        raise LookupError(f"{given} needs {missing}: a certificate and its key go together")
    if not (get("--tls") or authorities or certificate or name):
        return None
    if authorities:
        check_certificates(Path(authorities))
    if certificate:
        check_pair(Path(certificate), Path(key))
    return Tls(_path(authorities), _path(certificate), _path(key), name)


def _path(file: str | None) -> Path | None:
    return Path(file).absolute() if file else None


def _entry(given: str) -> tuple[str, str | bytes]:
    key, equals, value = given.partition("=")
    key = key.strip().lower()
    if not equals:
        raise LookupError(f"{_METADATA} must be KEY=VALUE")
    if not _KEY.fullmatch(key):
        raise LookupError(
            f'{_METADATA}: invalid key "{key}": use letters, digits, "-", "_" and "."'
        )
    if key.startswith(_RESERVED):
        raise LookupError(f"{_METADATA}: {key}: keys that begin with {_RESERVED} are reserved")
    value = _from_environment(key, value.strip(), os.environ)
    if key.endswith(_BINARY):
        try:
            return key, base64.b64decode(value, validate=True)
        except ValueError:
            raise LookupError(f"{_METADATA}: the value of {key} is not base64") from None
    if not (value.isascii() and value.isprintable()):
        raise LookupError(
            f"{_METADATA}: the value of {key} is not printable ASCII: end the key with {_BINARY} "
            "and encode the value in base64"
        )
    return key, value


def _from_environment(key: str, value: str, environment: Mapping[str, str]) -> str:
    """Replace ${NAME} by its environment variable, which keeps secrets out of files."""
    for name in _FROM_ENVIRONMENT.findall(value):
        if not environment.get(name):
            raise LookupError(f"{_METADATA}: {key} uses ${{{name}}}, which is not set")
    return _FROM_ENVIRONMENT.sub(lambda found: environment[found[1]], value)
