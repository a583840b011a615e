"""What may have been in flight when an RM registered again: it is about the registration before."""

from siconform.monitors.answered_barriers import AnsweredBarriers
from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.recording.history import Entry


class InFlight:
    """Observes all entries of an RM from a further registration on.

    On each stream the scheduler may have sent something before it processed the registration.
    That has arrived once the stream ends, or a barrier sent after the registration is answered
    on it. Other RMs than the kit's send no barriers, so the RM's next message counts as well.
    """

    def __init__(self) -> None:
        self._barriers = AnsweredBarriers()
        self._streams = set(UpdateKind)  # on which something may still arrive

    def may_have_been(self, entry: Entry) -> bool:
        """Return whether the entry may have been sent before the registration."""
        if not self._streams or isinstance(
            entry.content, (RegistrationRequested, RegistrationAnswered)
        ):
            return False
        if entry.barrier:
            answer = self._barriers.observe(entry)
            if answer is not None and answer.kind is not None:
                self._streams.discard(answer.kind)
            return False
        if entry.sent_by_rm:
            self._streams.clear()
        elif isinstance(entry.content, StreamEnded):
            self._streams.discard(entry.content.kind)
            return False
        return entry.kind in self._streams
