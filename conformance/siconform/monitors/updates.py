"""Rules about updates: of what lives, and of what waits (revisions where the key is the identity).

Nothing answers an update. What it changes is seen where room is given away (``room.py``), and in
what is allocated afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.monitor import NOTHING_TO_JUDGE, EntryJudgement, Judge, Monitor, violated_if
from siconform.monitors.retold import Echoed, Placed, Updated, UpdateRejected
from siconform.protocol.notifications import Allocated, UpdateKind
from siconform.protocol.requests import Amounts, AskRequest
from siconform.protocol.subjects import Identity
from siconform.recording.history import Entry


def updates_are_no_further_allocations() -> Judge:
    """What is updated is told as new once more at most where it is, and for its application."""

    def judge(entry: Entry) -> EntryJudgement:
        match entry.content:
            case Updated(announced=True):
                return ""
            case Echoed(allocation=told, node=node):
                says = f"{told.identity} is told on {told.node}, and had been allocated on {node}"
                return violated_if(told.node != node, says)
        return NOTHING_TO_JUDGE

    return judge


def updates_move_nothing() -> Judge:
    """What is updated with another node is not told as allocated there."""
    elsewhere: dict[str, set[str]] = {}
    placed: dict[str, str] = {}

    def judge(entry: Entry) -> EntryJudgement:
        match entry.content:
            case Allocated(identity=identity, node=node):
                placed[identity] = node
            case Updated(key=key, node=node, announced=True) if node and placed.get(key) != node:
                elsewhere.setdefault(key, set()).add(node)
                return ""
            case Echoed(allocation=told) if told.node in elsewhere.get(told.identity, ()):
                return f"{told.identity} was moved to {told.node} by an update"
        return NOTHING_TO_JUDGE

    return judge


def requests_are_given_the_amount_last_asked_for() -> Judge:
    """A pending request that was updated for certain is allocated with the new amount or more.

    Where one of its updates was rejected nothing is judged: which one is not said.
    """
    waiting = _WaitingUpdates()

    def judge(entry: Entry) -> EntryJudgement:
        waiting.hears(entry)
        match entry.content:
            case Allocated(identity=identity, resource=given):
                wanted = waiting.wanted.pop(identity, None)
                waiting.given.add(identity)
                if wanted is not None:
                    says = f"allocation {identity} is {dict(given)}, asked was {dict(wanted)}"
                    return violated_if(not _covers(given, wanted), says)
        return NOTHING_TO_JUDGE

    return judge


@dataclass(slots=True, eq=False)
class _Said:
    key: str
    amounts: Amounts


@dataclass(slots=True)
class _WaitingUpdates:
    """What pending requests are to be given, where that is certain."""

    wanted: dict[str, Amounts] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)  # what has been allocated
    _asked: set[str] = field(default_factory=set)
    _last: dict[str, _Said] = field(default_factory=dict)
    _unclear: set[str] = field(default_factory=set)
    _certainty: Certainty[_Said] = field(default_factory=Certainty)

    def hears(self, entry: Entry) -> None:
        for said in self._certainty.hears(entry):
            if self._last[said.key] is said and said.key not in self.given | self._unclear:
                self.wanted[said.key] = said.amounts
        match entry.content:
            case AskRequest(key=key):
                self._asked.add(key)
            case Updated(key=key, resource=resource) if key in self._asked - self.given:
                said = self._last[key] = _Said(key, resource)
                self.wanted.pop(key, None)
                self._certainty.says(said, UpdateKind.ALLOCATIONS)
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
    Monitor(updates_are_no_further_allocations, ("SI-ALLOC-013",), identity=_BY_KEY),
    Monitor(updates_move_nothing, ("SI-ALLOC-015",), identity=_BY_KEY),
    Monitor(requests_are_given_the_amount_last_asked_for, ("SI-ASK-032",), identity=_BY_KEY),
)
