"""One RM's end of its streams: what the verbs of every area speak and listen through."""

from collections.abc import Callable

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.expectations import Expectations
from siconform.expecting.fencing import Fencing
from siconform.expecting.inbox import Inbox
from siconform.expecting.link import Link
from siconform.expecting.observations import Observations
from siconform.expecting.target_habits import TargetHabits
from siconform.recording.history import Exchange
from siconform.rm.clean_up import CleanUp
from siconform.rm.sender import Sender


class Endpoint:
    """The parts of it, which share one link and one exchange.

    ``alive`` is whether the target is still there, ``prefix`` that of every id a test makes up.
    """

    def __init__(
        self,
        link: Link,
        exchange: Exchange,
        deadlines: Deadlines,
        alive: Callable[[], bool],
        *,
        prefix: str,
        observed: TargetHabits | None = None,
    ) -> None:
        self.link = link
        self.exchange = exchange
        self.deadlines = deadlines
        self.alive = alive
        self.observed = TargetHabits() if observed is None else observed
        self.inbox = Inbox(link, exchange)
        self.fencing = Fencing(link, alive)
        self.expectations = Expectations(
            link=link,
            exchange=exchange,
            deadlines=deadlines,
            observed=self.observed,
            inbox=self.inbox,
            fencing=self.fencing,
            alive=alive,
        )
        self.observations = Observations(
            exchange=exchange,
            deadlines=deadlines,
            observed=self.observed,
            inbox=self.inbox,
            fencing=self.fencing,
            expectations=self.expectations,
        )
        self.sender = Sender(link, self.fencing, prefix)
        self.clean_up = CleanUp(link, exchange, self.inbox, self.fencing, self.observations)
