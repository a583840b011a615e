"""Answered fences: which of an RM's fences a scheduler has answered, and when each was put up.

What was said before a fence was put up has been processed once that one is answered. The answer to
an earlier fence shows nothing of the kind, however late it comes.
"""

from dataclasses import dataclass
from math import inf
from typing import Final

from siconform.monitors.latest import of_the_latest
from siconform.protocol.notifications import ApplicationUpdated, Fact, UpdateKind
from siconform.protocol.requests import AskReleaseRequest, ReleaseRequest, StreamOpening
from siconform.recording.history import Content, Entry

Moment = float
"""How many fences had been put up or answered; later is larger."""

_Probe = tuple[UpdateKind | None, str]

NEVER: Final[Moment] = inf
"""After it no fence is put up."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a fence on the stream of this kind."""

    kind: UpdateKind | None
    put_up: Moment  # the fence

    def is_of_one_after(self, moment: Moment) -> bool:
        """Whether the fence was put up after this."""
        return self.put_up > moment


class AnsweredBarriers:
    """Hears everything in order."""

    def __init__(self) -> None:
        self.now: Moment = 0
        self._open: dict[_Probe, Moment] = {}

    def observe(self, entry: Entry) -> Answer | None:
        """The answer to a fence, if this is one.

        What is said of a fence that is not answered yet, as to take it back, is no new one.
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
        put_up = self._open.pop(name, None)
        return None if put_up is None else Answer(entry.kind, put_up)


@of_the_latest
def _probe(entry: Entry) -> _Probe | None:
    """The fence this is, or answers; None where it is neither.

    The state of the application that is kept for fences is neither.
    """
    content = entry.content
    is_one = not isinstance(content, (StreamOpening, ApplicationUpdated)) and (
        entry.sent_by_rm or isinstance(content, Fact)
    )
    return (entry.kind, _name(content, entry.kind)) if is_one else None


def _name(content: Content, kind: UpdateKind | None) -> str:
    """The name of the fence: that of its node, its application or its ask."""
    about: object = content
    if isinstance(content, (ReleaseRequest, AskReleaseRequest)):
        about = content.subject
    names = {UpdateKind.NODES: "node", UpdateKind.APPLICATIONS: "application"}
    return str(getattr(about, names.get(kind, "key") if kind else "key", ""))
