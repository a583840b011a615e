"""Files for TLS: whether they are what they are given as, said in a sentence where they are not.

gRPC says no more than that it failed, so they are read before gRPC is asked.
"""

import ssl
from pathlib import Path
from typing import Final

_NO_MATCH: Final = "KEY_VALUES_MISMATCH"


class UnfitFileError(Exception):
    """A file is of no use for TLS; the text says which, why, and what to do."""


def check_certificates(file: Path) -> None:
    """Raises UnfitFileError where ``file`` has no certificate in PEM, or a damaged one."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(file)
    except OSError as why:  # which an SSLError is as well
        problem = f"{file} has no certificate that can be read ({_sent(why)}); give one in PEM"
        raise UnfitFileError(problem) from None


def check_pair(certificate: Path, key: Path) -> None:
    """Raises UnfitFileError where ``key`` is no private key in PEM, or not the certificate's."""
    check_certificates(certificate)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, _no_password)
    except _IsEncrypted:
        problem = f"the private key in {key} is encrypted; give it without a password"
        raise UnfitFileError(problem) from None
    except ssl.SSLError as why:
        if why.reason == _NO_MATCH:
            problem = f"the private key in {key} is not that of the certificate in {certificate}"
            raise UnfitFileError(f"{problem}; give the two that belong together") from None
        problem = f"{key} has no private key that can be read ({_sent(why)}); give one in PEM"
        raise UnfitFileError(problem) from None
    except OSError as why:
        raise UnfitFileError(f"{key} cannot be read: {_sent(why)}") from None


class _IsEncrypted(Exception):
    """Somebody wants the password of a key."""


def _no_password() -> str:
    raise _IsEncrypted


def _sent(why: OSError) -> str:
    """The reason without the place in Python's source."""
    if isinstance(why, ssl.SSLError):
        return (why.reason or "no PEM").replace("_", " ").lower()
    return why.strerror or str(why)
