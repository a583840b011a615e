"""What an RM does that hears events: it takes them, and knows when those of a step have come."""

from typing import Final

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.fencing import Fencing
from siconform.expecting.inbox import Inbox
from siconform.expecting.link import Link
from siconform.expecting.observations import Observations
from siconform.protocol.events import Detail, EventTold, Subject
from siconform.protocol.facets import Facet
from siconform.rm.verbs.callbacks import CallbackVerbs
from siconform.rm.verbs.nodes import NodeVerbs

_MARKER: Final = {"siconform.marker": 1, "memory": 0, "vcore": 0}  # nobody wants to go there


class EventVerbs:
    """Events. They come in batches and when the scheduler likes, so a marker ends a step."""

    def __init__(
        self,
        *,
        link: Link,
        deadlines: Deadlines,
        inbox: Inbox,
        fencing: Fencing,
        observations: Observations,
        nodes: NodeVerbs,
        callbacks: CallbackVerbs,
    ) -> None:
        self._link = link
        self._deadlines = deadlines
        self._inbox = inbox
        self._fencing = fencing
        self._observations = observations
        self._nodes = nodes
        self._callbacks = callbacks

    def hears_events(self) -> None:
        """Given: the scheduler sends events to this RM."""
        self._callbacks.takes_callbacks(Facet.EVENTS)

    def events_so_far(self) -> list[EventTold]:
        """Wait until the events of everything before have come; all of this test."""
        self._fencing.fences_all()
        marker = self._nodes.has_node(resources=_MARKER)
        self._observations.may_be_told(EventTold(marker), window=self._deadlines.events)
        self._callbacks.has_been_called_properly()
        return self._inbox.hears(EventTold())

    def details_defined(self, *details: Detail) -> list[Detail]:
        """Those of these details that the revision has."""
        return [one for one in details if self._link.connection.dialect.defines(one)]

    def events_of_this_step(self, about: str, subject: Subject) -> list[EventTold]:
        """Those about one object that came since the last look at its events."""
        self.events_so_far()
        pattern = EventTold(about, subject)
        taken: list[EventTold] = []
        while (found := self._inbox.find((pattern,))) is not None:
            event = self._inbox.take(*found)
            if isinstance(event, EventTold):
                taken.append(event)
        return taken
