"""What an RM has certainly received, and which of its messages belong to its last registration."""

from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.memory import Recent
from siconform.monitors.restated import Placed, Updated
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    AskReleased,
    Released,
    StreamEnded,
    UpdateKind,
)
from siconform.protocol.registration import (
    RegistrationAnswered,
    RegistrationRequested,
    is_registered,
)
from siconform.protocol.requests import (
    AllocationUpdate,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    StreamOpening,
)
from siconform.protocol.subjects import OneAllocation, OneAsk
from siconform.recording.history import Entry

REGISTRATIONS: Final = (RegistrationRequested, RegistrationAnswered)
ALLOCATION_REQUESTS: Final = (
    AskRequest,
    AskReleaseRequest,
    ReleaseRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    AllocationUpdate,
    Updated,
    Placed,
)
CONFIRMED: Final = (Released, AskReleased, ReleaseRequest, AskReleaseRequest)
"""What ``Receipts`` observes."""

STREAMS: Final = (
    *(*REGISTRATIONS, StreamOpening, StreamEnded, *ALLOCATION_REQUESTS),
    *(NodeRequest, ApplicationRequest, ApplicationRemoval),
)
"""What ``CurrentStreams`` observes."""

_LIMITS: Final = (StreamOpening, StreamEnded)
_ONE_STREAM: Final = "UpdateRequest"  # the message of 2021-02, which has everything


def has_one_stream(entry: Entry) -> bool:
    """Return whether this message of the RM is on the only stream it has."""
    return entry.message is not None and entry.message.DESCRIPTOR.name == _ONE_STREAM


class Receipts:
    """Which messages of the scheduler on the allocation stream the RM has certainly received.

    The RM has received a release of the scheduler that it confirms, and with it all that came
    before on that stream. What the RM sends in a later message on that stream, it sends
    knowing them.
    """

    def __init__(self) -> None:
        self._open: Recent[tuple[object, object], int] = Recent()  # releases, by message number
        self._shown: tuple[int, int] = (0, 0)  # the confirmation, and what it shows is received
        self._received = 0

    def observe(self, entry: Entry) -> None:
        """Observe an entry; a release under the same name is not counted again."""
        match entry.content:
            case (
                Released(identity=name, termination=kind) | AskReleased(key=name, termination=kind)
            ) if kind in BY_THE_SCHEDULER and name:
                self._open.setdefault((key_of(name), kind), entry.number)
            case ReleaseRequest(OneAllocation(identity=name), kind):
                self._confirms(entry.number, key_of(name), kind)
            case AskReleaseRequest(subject=OneAsk(key=name), termination=kind):
                self._confirms(entry.number, key_of(name), kind)

    def _confirms(self, number: int, name: str, kind: object) -> None:
        received = self._open.get((name, kind), 0)
        if received > 0:
            self._open[name, kind] = 0
            self._settle(number)
            self._shown = (number, max(received, self._shown[1]))

    def _settle(self, number: int) -> None:
        if self._shown[0] < number:
            self._received = max(self._received, self._shown[1])

    def include(self, number: int, entry: Entry) -> bool:
        """Return whether the RM sent this entry after it had received that message."""
        self._settle(entry.number)
        return number <= self._received


class CurrentStreams:
    """Which streams carry only what the RM sent after its last registration.

    Nothing orders a stream with the call to register: what was sent on it before the call may be
    received after the answer, unless the stream has ended meanwhile.
    """

    def __init__(self) -> None:
        self._used: set[UpdateKind] = set()
        self._older: set[UpdateKind] = set(UpdateKind)
        self._begun = False

    def observe(self, entry: Entry) -> None:
        """Observe an entry."""
        content = entry.content
        if entry.sent_by_rm and entry.kind in self._used and type(content) not in _LIMITS:
            return
        if not self._begun:
            self._begun = True
            if not isinstance(content, RegistrationRequested):  # began in the middle
                self._used = set(UpdateKind)
        if is_registered(entry.content):
            self._older = set(self._used)
        elif isinstance(content, _LIMITS):
            kinds = set(UpdateKind) if has_one_stream(entry) else {content.kind}
            self._used -= kinds
            self._older -= kinds
        if entry.sent_by_rm and entry.kind is not None and not isinstance(content, StreamEnded):
            self._used |= set(UpdateKind) if has_one_stream(entry) else {entry.kind}

    def include(self, entry: Entry) -> bool:
        """Return whether the RM sent this entry after its last registration."""
        return entry.kind is not None and entry.kind not in self._older
