"""Rules about updates of live and pending keys (revisions where the key is the identity).

Updates are not answered. Their effect shows in the use of capacity (``node_limits.py``) and in
later allocations.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    Barriers,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.restated import Echoed, Placed, Updated, UpdateRejected
from siconform.protocol.notifications import Allocated, StreamEnded, UpdateKind
from siconform.protocol.requests import Amounts, AskRequest
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry


def updates_are_no_further_allocations() -> Evaluator:
    """An updated allocation may be announced again only on its node and for its application."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Updated(announced=True):
                return ""
            case Echoed(allocation=received, node=node):
                message = f"{received.identity} is on {received.node}, but was allocated on {node}"
                return violated_if(received.node != node, message)
        return NOTHING_TO_EVALUATE

    return evaluate


def updates_move_nothing() -> Evaluator:
    """An allocation updated with another node is not announced on that node."""
    elsewhere: dict[str, set[str]] = {}
    placed: dict[str, str] = {}

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Allocated(identity=identity, node=node):
                placed[identity] = node
            case Updated(key=key, node=node, announced=True) if node and placed.get(key) != node:
                elsewhere.setdefault(key, set()).add(node)
                return ""
            case Echoed(allocation=received) if received.node in elsewhere.get(
                received.identity, ()
            ):
                return f"{received.identity} was moved to {received.node} by an update"
        return NOTHING_TO_EVALUATE

    return evaluate


def requests_are_given_the_amount_last_asked_for() -> Evaluator:
    """A certainly updated pending request is allocated with the new amount or more.

    Requests with a rejected update are ignored: the rejection does not tell which update it means.
    """
    waiting = _WaitingUpdates()

    def evaluate(entry: Entry) -> EntryFinding:
        waiting.observe(entry)
        match entry.content:
            case Allocated(identity=identity, resource=given):
                wanted = waiting.wanted.pop(identity, None)
                waiting.given.add(identity)
                if wanted is not None:
                    message = f"allocation {identity} is {dict(given)}, asked was {dict(wanted)}"
                    return violated_if(not _covers(given, wanted), message)
        return NOTHING_TO_EVALUATE

    return evaluate


@dataclass(slots=True, eq=False)
class _Sent:
    key: str
    amounts: Amounts


@dataclass(slots=True)
class _WaitingUpdates:
    """The amounts that pending requests are certainly to be given."""

    wanted: dict[str, Amounts] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)  # allocated keys
    _asked: set[str] = field(default_factory=set)
    _last: dict[str, _Sent] = field(default_factory=dict)
    _unclear: set[str] = field(default_factory=set)
    _certainty: Certainty[_Sent] = field(default_factory=Certainty)

    def observe(self, entry: Entry) -> None:
        for sent in self._certainty.observe(entry):
            if self._last[sent.key] is sent and sent.key not in self.given | self._unclear:
                self.wanted[sent.key] = sent.amounts
        match entry.content:
            case AskRequest(key=key):
                self._asked.add(key)
            case Updated(key=key, resource=resource) if key in self._asked - self.given:
                sent = self._last[key] = _Sent(key, resource)
                self.wanted.pop(key, None)
                self._certainty.send(sent, UpdateKind.ALLOCATIONS)
            case UpdateRejected(key=key):
                self._is_unclear(key)
            case Placed(allocation=placed):
                self._is_unclear(placed.identity)

    def _is_unclear(self, key: str) -> None:
        self._unclear.add(key)
        self.wanted.pop(key, None)


def _covers(given: Mapping[str, int], wanted: Amounts) -> bool:
    return all(given.get(name, 0) >= amount for name, amount in wanted.items())


_BY_KEY: Final = Identity.KEY_OF_THE_ASK
MONITORS: Final = (
    Monitor(
        updates_are_no_further_allocations, ("SI-ALLOC-013",), (Updated, Echoed), identity=_BY_KEY
    ),
    Monitor(
        updates_move_nothing,
        ("SI-ALLOC-015",),
        observes=(Allocated, Updated, Echoed),
        identity=_BY_KEY,
    ),
    Monitor(
        requests_are_given_the_amount_last_asked_for,
        ("SI-ASK-032",),
        observes=(AskRequest, Allocated, Updated, UpdateRejected, Placed, StreamEnded, Barriers),
        identity=_BY_KEY,
    ),
)
