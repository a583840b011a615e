"""Files for TLS: whether they are what they are given as, in a sentence where they are not.

gRPC says no more than that it failed, so they are read before gRPC is asked.
"""

import ssl
from contextlib import suppress
from pathlib import Path
from typing import Final

_NO_MATCH: Final = "KEY_VALUES_MISMATCH"
_OUT_OF_DATE: Final = {9: "is not valid yet", 10: "has expired"}
"""By the codes OpenSSL has for it (X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED)."""


class UnfitFile(LookupError):  # a sentence for the user
    """A file is of no use for TLS; the message says which, why, and what would do."""


def check_certificates(file: Path) -> None:
    """UnfitFile where there is no certificate in PEM in this file, or a damaged one."""
    try:
        file.read_bytes()
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError as why:  # which an SSLError is as well
        raise _unfit(file, "certificate", why) from None


def check_pair(certificate: Path, key: Path) -> None:
    """UnfitFile where a certificate and its private key are of no use to an RM.

    One of them is no PEM, they do not belong together, the key wants a password, or the
    certificate is out of date.
    """
    check_certificates(certificate)
    try:
        key.read_bytes()
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key, _no_password)
    except _IsEncrypted:
        raise UnfitFile(f"the key in {key} is encrypted: give it without a password") from None
    except OSError as why:
        if isinstance(why, ssl.SSLError) and why.reason == _NO_MATCH:
            message = f"the key in {key} is not that of the certificate in {certificate}"
            raise UnfitFile(f"{message}: give the two that belong together") from None
        raise _unfit(key, "private key", why) from None
    if received := _out_of_date(certificate, key):
        raise UnfitFile(f"the certificate in {certificate} {received}: give one that is valid")


class _IsEncrypted(Exception):
    """Somebody wants the password of a key."""


def _no_password() -> str:
    raise _IsEncrypted


def _unfit(file: Path, what: str, why: OSError) -> UnfitFile:
    if isinstance(why, ssl.SSLError):
        reason = (why.reason or "no PEM").replace("_", " ").lower()
        return UnfitFile(f"{file} has no {what} that can be read ({reason}): give one in PEM")
    return UnfitFile(f"{file} cannot be read: {why.strerror}")


def _out_of_date(certificate: Path, key: Path) -> str:
    """What a server would find of its dates, "" for nothing: both ends are played in memory."""
    asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    asked.load_cert_chain(certificate, key)
    asked.load_verify_locations(certificate)
    asked.verify_mode = ssl.CERT_REQUIRED
    asked.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # it stands for its own authority
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    shown.check_hostname = False
    shown.verify_mode = ssl.CERT_NONE
    shown.load_cert_chain(certificate, key)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = shown.wrap_bio(back, there)
    server = asked.wrap_bio(there, back, server_side=True)
    try:
        for _ in range(4):  # flights of a handshake, and one to spare
            for end in (client, server):
                with suppress(ssl.SSLWantReadError):
                    end.do_handshake()
    except ssl.SSLCertVerificationError as why:
        return _OUT_OF_DATE.get(why.verify_code, "")
    except ssl.SSLError:
        return ""  # what else is wrong with it the scheduler may say
    return ""
