"""TLS files, checked with a clear error message.

gRPC only reports that it failed, so the files are read before.
"""

import ssl
from pathlib import Path
from typing import Final

_NO_MATCH: Final = "KEY_VALUES_MISMATCH"


class UnfitFileError(Exception):
    """A file is unusable for TLS; the message says which, why, and what to do."""


def check_certificates(file: Path) -> None:
    """Raise UnfitFileError if ``file`` has no valid certificate in PEM."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(file)
    except OSError as why:  # includes SSLError
        problem = f"{file} has no readable certificate ({_sent(why)}); give one in PEM"
        raise UnfitFileError(problem) from None


def check_pair(certificate: Path, key: Path) -> None:
    """Raise UnfitFileError if ``key`` is not the certificate's private key in PEM."""
    check_certificates(certificate)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, _no_password)
    except _IsEncrypted:
        problem = f"the private key in {key} is encrypted; give it without a password"
        raise UnfitFileError(problem) from None
    except ssl.SSLError as why:
        if why.reason == _NO_MATCH:
            problem = f"the private key in {key} does not match the certificate in {certificate}"
            raise UnfitFileError(f"{problem}; give a matching pair") from None
        problem = f"{key} has no readable private key ({_sent(why)}); give one in PEM"
        raise UnfitFileError(problem) from None
    except OSError as why:
        raise UnfitFileError(f"{key} cannot be read: {_sent(why)}") from None


class _IsEncrypted(Exception):
    """The key needs a password."""


def _no_password() -> str:
    raise _IsEncrypted


def _sent(why: OSError) -> str:
    """Return the reason without the place in Python's source."""
    if isinstance(why, ssl.SSLError):
        return (why.reason or "not PEM").replace("_", " ").lower()
    return why.strerror or str(why)
