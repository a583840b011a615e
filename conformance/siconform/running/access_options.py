"""The options about TLS and call metadata: read and checked; what may be secret is not shown."""

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
_BINARY: Final = "-bin"  # keys that end so have bytes, as gRPC defines it
_FROM_ENVIRONMENT: Final = re.compile(r"\$\{(\w+)\}")
_SHOWN: Final = re.compile(r"(\w+ )?\$\{\w+\}")  # no secret itself, but where one is found
_METADATA: Final = "--metadata"
_HIDDEN: Final = "***"


def read_access(get: Callable[[str], Any]) -> Access:
    """How the target is reached; LookupError with a sentence for the first value that is wrong."""
    return Access(_tls(get), tuple(_entry(one) for one in get(_METADATA) or ()))


def without_secrets(options: Sequence[str]) -> Iterator[str]:
    """The options as they may be shown: the values of metadata are left out."""
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
        raise LookupError(f"{_METADATA} has no KEY=VALUE in one of its values")
    if not _KEY.fullmatch(key):
        raise LookupError(
            f'{_METADATA}: "{key}" is no key of gRPC, which has letters, digits, "-", "_" and "."'
        )
    if key.startswith(_RESERVED):
        raise LookupError(f"{_METADATA}: {key} is gRPC's own, as all that begins with {_RESERVED}")
    value = _from_environment(key, value.strip(), os.environ)
    if key.endswith(_BINARY):
        try:
            return key, base64.b64decode(value, validate=True)
        except ValueError:
            raise LookupError(f"{_METADATA}: the value of {key} is no base64") from None
    if not (value.isascii() and value.isprintable()):
        raise LookupError(
            f"{_METADATA}: the value of {key} is not plain ASCII: end the key with {_BINARY} and "
            "give the value in base64"
        )
    return key, value


def _from_environment(key: str, value: str, environment: Mapping[str, str]) -> str:
    """The value with ${NAME} replaced, so that a secret need not be in a file or a history."""
    for name in _FROM_ENVIRONMENT.findall(value):
        if not environment.get(name):
            raise LookupError(f"{_METADATA}: {key} takes ${{{name}}}, which is not set")
    return _FROM_ENVIRONMENT.sub(lambda found: environment[found[1]], value)
