"""An RM of a revision with all details of event records."""

from collections.abc import Iterable

from sireference.configuration.parsing import parse_configuration
from sireference.core.model import ChangeDetail, Effect, Identification, Register, Rules
from sireference.core.resources import Resource
from sireference.core.states import WITHOUT_STARTING
from tests.driving import RM
from tests.test_event_records import EVENTS, records

RULES = Rules(Identification.BY_KEY, WITHOUT_STARTING, frozenset(ChangeDetail))
AMOUNT = Resource({"memory": 1})

Sent = tuple[str, str, str, str]  # object, change, detail, reference


def sent(effects: Iterable[Effect], *details: ChangeDetail) -> list[Sent]:
    """Return what records with these details contain."""
    return [
        (r.object_id, r.change.name, r.detail.name, r.reference_id)
        for r in records(effects)
        if r.detail in details
    ]


class Later(RM):
    """Takes event records from its registration on; has node n1 and no application."""

    def __init__(self, *, queues: str, rules: Rules = RULES, memory: int = 100) -> None:
        super().__init__(queues=queues, rules=rules)
        event = Register("rm", parse_configuration(queues), rules=rules, callbacks=EVENTS)
        self.registered = self.scheduler.handle(event, self.now)
        self.creates("n1", memory=memory)

    def starts(self, application_id: str, queue: str, **more: object) -> list[Effect]:
        """Add an application that asks for an allocation under its own id as key."""
        effects = self.submits(application_id, f"root.{queue}", **more)
        return effects + self.asks(application_id, application_id, memory=1)
