"""Steps with events: the RM subscribes and knows when those of a step have come."""

from typing import Final

from siconform.protocol.events import Detail, EventReceived, Subject
from siconform.protocol.facets import Facet
from siconform.rm.steps.callbacks import CallbackSteps

_MARKER: Final = {"siconform.marker": 1, "memory": 0, "vcore": 0}  # no ask fits there


class EventSteps(CallbackSteps):
    """Events. They come in batches at any time, so a marker node ends a step."""

    def observes_events(self) -> None:
        """Given: the scheduler sends events to this RM."""
        self.takes_callbacks(Facet.EVENTS)

    def events_so_far(self) -> list[EventReceived]:
        """Wait for the events of everything before; return all of this test."""
        self.synchronise_all()
        marker = self.has_node(resources=_MARKER)
        self.receive_if_any(EventReceived(marker), window=self.deadlines.events)
        self.has_been_called_properly()
        return self.observe(EventReceived())

    def details_defined(self, *details: Detail) -> list[Detail]:
        """Return those of these details that the revision defines."""
        return [one for one in details if self.connection.dialect.defines(one)]

    def events_of_this_step(self, about: str, subject: Subject) -> list[EventReceived]:
        """Return new events about one object since the last call."""
        self.events_so_far()
        pattern = EventReceived(about, subject)
        taken: list[EventReceived] = []
        while (found := self._inbox.find((pattern,))) is not None:
            event = self._inbox.take(*found)
            if isinstance(event, EventReceived):
                taken.append(event)
        return taken
