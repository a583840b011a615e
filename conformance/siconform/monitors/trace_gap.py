"""What monitors may see of an RM after a gap, until it registers again.

What happened in the gap, or before a trace that begins in the middle, is unknown. So monitors see
only applications that are added and then accepted after it, and their keys. An application or key
that may have had a life before is left out. Nodes are seen as bare names without a capacity, and
nothing is seen of barriers: then no message is certainly processed.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from siconform.protocol.callbacks import SchedulingReported
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    RegistrationWanted,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry

_CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAINING)
_UNRELATED: Final = frozenset({StreamEnded, RegistrationWanted, ConfigurationSent})
_ABOUT_APPLICATIONS: Final[frozenset[type]] = frozenset(
    {
        ApplicationRequest,
        ApplicationRemoval,
        ApplicationAccepted,
        ApplicationRejected,
        ApplicationUpdated,
    }
)
_ABOUT_KEYS: Final[frozenset[type]] = frozenset(
    {
        AskRequest,
        AllocationUpdate,
        Released,
        AskReleased,
        AskRejected,
        AllocationRejected,
        SchedulingReported,
    }
)

_Key = tuple[str, str]
"""An application and the key or the identity of something of it."""


class Seen:
    """What monitors see of an entry: it, and before it what it presupposes."""

    __slots__ = ("entry", "presupposed")

    def __init__(self, entry: Entry | None, presupposed: Sequence[Entry] = ()) -> None:
        self.entry = entry
        self.presupposed = presupposed


NOTHING: Final = Seen(None)


class Gap:
    """The applications, keys and nodes of one RM that began after a gap."""

    def __init__(self, identity: Identity) -> None:
        self._by_key = identity is Identity.KEY_OF_THE_ASK
        self._accepted: dict[str, bool] = {}  # by application that was added after the gap
        self._open: dict[str, int] = {}  # additions without a verdict, of the same applications
        self._unknown: set[str] = set()  # applications that may have begun before
        self._keys: dict[_Key, bool] = {}  # whether it was announced
        self._unknown_keys: set[_Key] = set()  # of applications that are seen
        self._identities: set[_Key] = set()
        self._nodes: set[str] = set()

    def sees(self, entry: Entry) -> Seen:
        """Return what monitors see of an entry."""
        content = entry.content
        if entry.barrier:
            return NOTHING
        match content:
            case NodeRequest():
                return self._sees_node(entry, content)
            case Allocated():
                return self._sees_allocated(entry, content)
            case ExistingAllocationRequest(allocation=reported):
                return self._sees_reported(entry, reported)
        return Seen(entry) if self._is_seen(content) else NOTHING

    def forget(self, name: tuple[str, ...]) -> None:
        """Forget an application or a key that ended long ago (``trace_memory.Name``)."""
        if name[0] == "application":
            self._accepted.pop(name[1], None)
            self._open.pop(name[1], None)
            self._unknown_keys = {one for one in self._unknown_keys if one[0] != name[1]}
        elif name[0] == "key":
            self._keys.pop((name[1], name[2]), None)
            self._identities.discard((name[1], name[2]))

    def _sees_node(self, entry: Entry, sent: NodeRequest) -> Seen:
        if sent.action in _CREATIONS:
            self._nodes.add(sent.node)
            return Seen(None, [_bare(entry, sent.node)])
        if sent.action is Action.DECOMMISSION:
            self._nodes.discard(sent.node)
            bare = NodeRequest(sent.node, Action.DECOMMISSION)
            return Seen(entry.with_content(bare))
        return NOTHING

    def _sees_allocated(self, entry: Entry, new: Allocated) -> Seen:
        application = new.application
        if not self._is_accepted(application) or (application, new.key) not in self._keys:
            return NOTHING
        self._keys[application, new.key] = True
        self._identities.add((application, new.identity))
        return self._on_node(entry, new.node)

    def _sees_reported(self, entry: Entry, reported: Allocated) -> Seen:
        """See what the RM reports only if it places what it asked for."""
        one = (reported.application, reported.key or reported.identity)
        if one in self._keys:
            return self._on_node(entry, reported.node)
        self._is_unknown_key(one)
        return NOTHING

    def _on_node(self, entry: Entry, node: str) -> Seen:
        if node in self._nodes:
            return Seen(entry)
        self._nodes.add(node)
        return Seen(entry, [_bare(entry, node)])

    def _is_seen(self, content: Content) -> bool:
        name = type(content)
        if name in _ABOUT_APPLICATIONS:
            return self._is_seen_of_application(content)
        if name in _ABOUT_KEYS:
            return self._is_seen_of_key(content)
        if isinstance(content, (ReleaseRequest, AskReleaseRequest)):
            return self._is_subject(content.subject)
        return name in _UNRELATED

    def _is_seen_of_application(self, content: Content) -> bool:
        match content:
            case ApplicationRequest(application=application):
                return self._is_added(application)
            case ApplicationAccepted(application=application):
                return self._has_verdict(application)
            case ApplicationRejected(application=application):
                return self._is_accepted(application) and self._has_verdict(application)
            case ApplicationUpdated(application=application):
                return self._is_accepted(application)
            case ApplicationRemoval(application=application) if application in self._accepted:
                return True
            case ApplicationRemoval(application=application):
                self._is_unknown(application)
        return False

    def _is_seen_of_key(self, content: Content) -> bool:
        match content:
            case AskRequest(application=application, key=key):
                return self._is_asked(application, key)
            case AllocationUpdate(allocation=allocation):
                return (allocation.application, allocation.key) in self._keys
            case SchedulingReported(application=application, key=key):
                return (application, key) in self._keys
            case Released(application=application, identity=name):
                if (application, name) in self._identities:
                    return True
            case AskReleased(application=application, key=name):
                pass
            case (
                AskRejected(application=application, key=name)
                | AllocationRejected(application=application, key=name)
            ) if name:
                pass
            case _:
                return False
        return self._ends(application, name)

    def _is_added(self, application: str) -> bool:
        if application in self._unknown:
            return False
        self._accepted.setdefault(application, False)
        self._open[application] = self._open.get(application, 0) + 1
        return True

    def _has_verdict(self, application: str) -> bool:
        """Return whether a verdict may be about an addition that was seen."""
        if self._open.get(application, 0) < 1:
            self._is_unknown(application)
            return False
        self._open[application] -= 1
        self._accepted[application] = True
        return True

    def _is_accepted(self, application: str) -> bool:
        """Return whether the first that came about it was its acceptance."""
        if not self._accepted.get(application, False):
            self._is_unknown(application)
            return False
        return True

    def _is_unknown(self, application: str) -> None:
        """Leave it out from now on: it, or one of its name, was there before."""
        self._unknown.add(application)
        self._open.pop(application, None)
        if self._accepted.pop(application, None) is not None:
            self._keys = {key: on for key, on in self._keys.items() if key[0] != application}
            self._identities = {one for one in self._identities if one[0] != application}
            self._unknown_keys = {one for one in self._unknown_keys if one[0] != application}

    def _is_asked(self, application: str, key: str) -> bool:
        if application not in self._accepted:
            self._is_unknown(application)
            return False
        if (application, key) in self._unknown_keys:
            return False
        self._keys.setdefault((application, key), False)
        return True

    def _is_unknown_key(self, key: _Key) -> None:
        """Leave a key of an application that is seen out from now on."""
        if key[0] in self._accepted:
            self._keys.pop(key, None)
            self._unknown_keys.add(key)

    def _is_subject(self, subject: OneAllocation | OneAsk | AllOf | AllThereIs) -> bool:
        match subject:
            case AllThereIs():
                return True
            case AllOf(application=application):
                return application in self._accepted
            case OneAllocation(application=application, identity=name):
                known = self._keys if self._by_key else self._identities
            case OneAsk(application=application, key=name):
                known = self._keys
        if application:
            return (application, name) in known
        return any(one[1] == name for one in known)

    def _ends(self, application: str, name: str) -> bool:
        """Return whether the end of a key, or of all of an application, is seen.

        What ends a request that was not announced may be late and about an earlier one of the same
        key, which is unknown from then on.
        """
        if not name:
            return self._is_accepted(application)
        announced = self._keys.get((application, name))
        if announced is False:
            self._is_unknown_key((application, name))
        return bool(announced)


def _bare(entry: Entry, node: str) -> Entry:
    """Return the creation of a node of which nothing but the name is known."""
    return msgspec.structs.replace(
        entry,
        sent_by_rm=True,
        kind=UpdateKind.NODES,
        content=NodeRequest(node, Action.CREATE),
        message=None,
    )
