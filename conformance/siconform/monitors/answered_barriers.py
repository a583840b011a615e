"""Answered barriers: which of an RM's barriers have been answered, and when each was sent.

Everything sent before a barrier has been processed once that barrier is answered. The answer to an
earlier barrier shows nothing, however late it comes.
"""

from dataclasses import dataclass
from math import inf
from typing import Final

from siconform.monitors.latest import of_the_latest
from siconform.protocol.notifications import ApplicationUpdated, Fact, UpdateKind
from siconform.protocol.requests import AskReleaseRequest, ReleaseRequest, StreamOpening
from siconform.recording.history import Content, Entry

Moment = float
"""How many barriers had been sent or answered; later is larger."""

_Probe = tuple[UpdateKind | None, str]

NEVER: Final[Moment] = inf
"""Later than any barrier."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a barrier on the stream of this kind."""

    kind: UpdateKind | None
    sent_at: Moment  # when the barrier was sent

    def was_sent_after(self, moment: Moment) -> bool:
        """Return whether the barrier was sent after this."""
        return self.sent_at > moment


class AnsweredBarriers:
    """The barriers of one RM; observes all its entries in order."""

    def __init__(self) -> None:
        self.now: Moment = 0
        self._open: dict[_Probe, Moment] = {}

    def observe(self, entry: Entry) -> Answer | None:
        """Return the answer to a barrier, if this is one.

        A further message about an open barrier, such as its removal, does not start a new one.
        """
        if not entry.barrier:
            return None
        name = _probe(entry)
        if name is None:
            return None
        self.now += 1
        if entry.sent_by_rm:
            self._open.setdefault(name, self.now)
            return None
        sent_at = self._open.pop(name, None)
        return None if sent_at is None else Answer(entry.kind, sent_at)


@of_the_latest
def _probe(entry: Entry) -> _Probe | None:
    """Return the barrier that this is or answers; None if it is neither.

    State changes of the application used for barriers are neither.
    """
    content = entry.content
    is_one = not isinstance(content, (StreamOpening, ApplicationUpdated)) and (
        entry.sent_by_rm or isinstance(content, Fact)
    )
    return (entry.kind, _name(content, entry.kind)) if is_one else None


def _name(content: Content, kind: UpdateKind | None) -> str:
    """Return the name of the barrier: that of its node, application or ask."""
    about: object = content
    if isinstance(content, (ReleaseRequest, AskReleaseRequest)):
        about = content.subject
    names = {UpdateKind.NODES: "node", UpdateKind.APPLICATIONS: "application"}
    return str(getattr(about, names.get(kind, "key") if kind else "key", ""))
