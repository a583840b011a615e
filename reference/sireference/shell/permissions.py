"""Permissions: which client may act for which resource manager, by its certificate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sireference.core.model import quoted

_NAMES: Final = ("x509_common_name", "x509_subject_alternative_name")
_ANY: Final = "*"
_DIVIDERS: Final = (".", "/")
_SHOWN: Final = 3  # names of a client, in a sentence


@dataclass(frozen=True, slots=True)
class ClientRM:
    """Clients with a certificate of ``client`` may act for the RMs of ``rm_id``.

    One ``*`` is allowed in each. In ``client`` it matches characters other than ``.`` and ``/``: a
    label of a host name, a segment of a URI. In ``rm_id`` it matches any.
    """

    client: str
    rm_id: str

    def permits(self, client: str, rm_id: str) -> bool:
        """Return whether it applies to this client and this RM."""
        return _matches(self.client, client, _DIVIDERS) and _matches(self.rm_id, rm_id)


@dataclass(frozen=True, slots=True)
class Permissions:
    """All permissions together; anything else is refused."""

    permitted: tuple[ClientRM, ...]

    def refusal(self, auth_context: Mapping[str, Iterable[bytes]], rm_id: str) -> str:
        """Return why the client of a call may not act for ``rm_id``; empty if it may.

        ``auth_context`` is gRPC's description of the client. The common name and every subject
        alternative name of its certificate count.
        """
        names = _names(auth_context)
        if any(one.permits(name, rm_id) for one in self.permitted for name in names):
            return ""
        client = ", ".join(map(quoted, names[:_SHOWN])) or "without a name"
        return (
            f"the certificate of this client ({client}) is not bound to"
            f" resource manager {quoted(rm_id)}"
        )


def _names(auth_context: Mapping[str, Iterable[bytes]]) -> Sequence[str]:
    reported = [name for key in _NAMES for name in auth_context.get(key, ())]
    return list(dict.fromkeys(name.decode(errors="replace") for name in reported))


def _matches(pattern: str, name: str, without: Sequence[str] = ()) -> bool:
    """Return whether ``name`` matches ``pattern``, whose ``*`` matches nothing in ``without``.

    Clients choose the name, so this takes linear time.
    """
    before, is_open, after = pattern.partition(_ANY)
    if not is_open:
        return name == pattern
    if len(name) < len(before) + len(after):
        return False
    wild = name[len(before) : len(name) - len(after)]
    ends = name.startswith(before) and name.endswith(after)
    return ends and not any(divider in wild for divider in without)
