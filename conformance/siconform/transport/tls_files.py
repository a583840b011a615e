"""Validation of TLS files, with an explanation for each problem.

The files are checked first because gRPC reports only that it failed.
"""

import ssl
from contextlib import suppress
from pathlib import Path
from typing import Final

_NO_MATCH: Final = "KEY_VALUES_MISMATCH"
_OUT_OF_DATE: Final = {9: "is not valid yet", 10: "has expired"}
"""By OpenSSL error codes (X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED)."""


class UnfitFile(LookupError):  # shown to the user
    """An unusable TLS file; the message states which, why, and what to do."""


def check_certificates(file: Path) -> None:
    """Raise UnfitFile unless this file has an intact certificate in PEM."""
    try:
        file.read_bytes()
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError as why:  # which an SSLError is as well
        raise _unfit(file, "certificate", why) from None


def check_pair(certificate: Path, key: Path) -> None:
    """Raise UnfitFile if an RM cannot use this certificate and its private key.

    One of them is not PEM, they do not match, the key is encrypted, or the certificate is not valid
    today.
    """
    check_certificates(certificate)
    try:
        key.read_bytes()
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key, _no_password)
    except _IsEncrypted:
        raise UnfitFile(f"the key in {key} is encrypted: give it without a password") from None
    except OSError as why:
        if isinstance(why, ssl.SSLError) and why.reason == _NO_MATCH:
            message = f"the key in {key} does not match the certificate in {certificate}"
            raise UnfitFile(f"{message}: give a matching pair") from None
        raise _unfit(key, "private key", why) from None
    if problem := _out_of_date(certificate, key):
        raise UnfitFile(f"the certificate in {certificate} {problem}: give one that is valid")


class _IsEncrypted(Exception):
    """A key needs a password."""


def _no_password() -> str:
    raise _IsEncrypted


def _unfit(file: Path, what: str, why: OSError) -> UnfitFile:
    if isinstance(why, ssl.SSLError):
        reason = (why.reason or "not PEM").replace("_", " ").lower()
        return UnfitFile(f"{file} has no readable {what} ({reason}): give one in PEM")
    return UnfitFile(f"{file} cannot be read: {why.strerror}")


def _out_of_date(certificate: Path, key: Path) -> str:
    """Return why the certificate is out of date, else "", by an in-memory handshake."""
    asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    asked.load_cert_chain(certificate, key)
    asked.load_verify_locations(certificate)
    asked.verify_mode = ssl.CERT_REQUIRED
    asked.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # trust the certificate itself
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    shown.check_hostname = False
    shown.verify_mode = ssl.CERT_NONE
    shown.load_cert_chain(certificate, key)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = shown.wrap_bio(back, there)
    server = asked.wrap_bio(there, back, server_side=True)
    try:
        for _ in range(4):  # flights of a handshake, plus a spare one
            for end in (client, server):
                with suppress(ssl.SSLWantReadError):
                    end.do_handshake()
    except ssl.SSLCertVerificationError as why:
        return _OUT_OF_DATE.get(why.verify_code, "")
    except ssl.SSLError:
        return ""  # other problems are left to the scheduler
    return ""
