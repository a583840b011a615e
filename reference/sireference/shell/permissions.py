"""Which client may speak for which resource manager, by the certificate it shows."""

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
    """Clients with a certificate of ``client`` may speak for the RMs of ``rm_id``.

    One ``*`` is possible in each. In ``client`` it stands for characters other than ``.`` and
    ``/``: a label of a host name, a segment of a URI. In ``rm_id`` it stands for any.
    """

    client: str
    rm_id: str

    def permits(self, client: str, rm_id: str) -> bool:
        """Whether it is about this client, and about this RM."""
        return _matches(self.client, client, _DIVIDERS) and _matches(self.rm_id, rm_id)


@dataclass(frozen=True, slots=True)
class Permissions:
    """All permissions together; what none permits is refused."""

    permitted: tuple[ClientRM, ...]

    def refusal(self, auth_context: Mapping[str, Iterable[bytes]], rm_id: str) -> str:
        """Why the client of a call may not speak for ``rm_id``; empty if it may.

        ``auth_context`` is what gRPC says of the client. It counts under the common name and
        under every subject alternative name of its certificate.
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
    """Whether ``name`` is ``pattern``, with something that has none of ``without`` for its ``*``.

    A name is what clients choose, so this takes no longer than it is long.
    """
    before, is_open, after = pattern.partition(_ANY)
    if not is_open:
        return name == pattern
    if len(name) < len(before) + len(after):
        return False
    wild = name[len(before) : len(name) - len(after)]
    ends = name.startswith(before) and name.endswith(after)
    return ends and not any(divider in wild for divider in without)
