"""How much the RM may have given a node at a time, in different readings of its messages.

The first creation and the updates after it give a node its capacity and what others occupy of it.
Until an update is certainly processed, the amounts before it count as well; once one message about
the node was rejected, all amounts do.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from siconform.monitors.certainty import Certainty
from siconform.protocol.notifications import NodeAccepted, NodeRejected, StreamEnded, UpdateKind
from siconform.protocol.requests import Action, Amounts, NodeRequest
from siconform.recording.history import Entry

_CREATIONS: Final = (Action.CREATE, Action.CREATE_DRAINING)
_MOST: Final = 32  # messages about a node that are told apart
_NOTHING: Final[Amounts] = {}
_OBSERVED: Final = (NodeRequest, NodeAccepted, NodeRejected, StreamEnded)


@dataclass(slots=True, eq=False)
class _Given:
    """What one message gives: its amounts, and those that stay where it names none."""

    action: Action
    capacity: Amounts
    occupied: Amounts
    names_capacity: bool
    names_occupied: bool
    is_duplicate: bool = False  # a creation after the acceptance
    rejected: bool = False

    def free(self, resource: str) -> int:
        return self.capacity.get(resource, 0) - self.occupied.get(resource, 0)


@dataclass(slots=True)
class NodeAmounts:
    """Everything the RM has sent about the amounts of one node since it was created."""

    given: list[_Given] = field(default_factory=list)
    accepted: bool = False
    duplicates: list[_Given] = field(default_factory=list)  # creations after the acceptance
    current: int = 0  # the index of the last one that certainly took effect
    doubtful: bool = False  # whether a message about it was rejected
    derived: dict[str, Any] = field(default_factory=dict)  # emptied when something changes

    @property
    def has_capacity(self) -> bool:
        """Whether some message named its capacity."""
        return any(one.names_capacity for one in self.given)

    def most(self, resource: str) -> int:
        """Return the largest capacity it may have had at any time."""
        return max((one.capacity.get(resource, 0) for one in self.given), default=0)

    def most_of_first_creation(self, resource: str) -> int:
        """Return the largest capacity without those of rejected creations."""
        return self._most(resource, (one for one in self.given if not one.rejected))

    def most_with_action(self, resource: str) -> int:
        """Return the largest capacity without those of messages that have no action."""
        return self._most(resource, (o for o in self.given if o.action is not Action.UNSET))

    def most_now(self, resource: str) -> int:
        """Return the largest capacity it may have now."""
        return self._most(resource, self._possible())

    def most_free_at_creation(self, resource: str) -> int:
        """Return the largest capacity minus the least that others occupied at any time."""
        return self.most(resource) - self._least_occupied(resource, self.given)

    def most_free_now(self, resource: str) -> int:
        """Return the largest free capacity now if an update without an amount may drop it."""
        possible = list(self._possible())
        return self._most(resource, possible) - self._least_occupied(resource, possible)

    def most_free_as_kept(self, resource: str) -> int:
        """Return the largest free capacity now if an update without an amount keeps it."""
        return max((one.free(resource) for one in self._possible()), default=0)

    def merges_the_oldest(self) -> None:
        """Keep of the two oldest only the largest capacity and the least that is occupied."""
        first, second, *rest = self.given
        capacity = {
            name: max(first.capacity.get(name, 0), second.capacity.get(name, 0))
            for name in (*first.capacity, *second.capacity)
        }
        occupied = {
            name: min(amount, second.occupied.get(name, 0))
            for name, amount in first.occupied.items()
        }
        names_both = first.names_occupied and second.names_occupied
        names_one = first.names_capacity or second.names_capacity
        merged = _Given(Action.UPDATE, capacity, occupied, names_one, names_both)
        self.given = [merged, *rest]
        self.current = max(0, self.current - 1)

    def _possible(self) -> Iterator[_Given]:
        given = self.given if self.doubtful else self.given[self.current :]
        return (one for one in given if not one.rejected or self.doubtful)

    @staticmethod
    def _most(resource: str, given: Iterable[_Given]) -> int:
        return max((one.capacity.get(resource, 0) for one in given), default=0)

    @staticmethod
    def _least_occupied(resource: str, given: Iterable[_Given]) -> int:
        return min(
            (one.occupied.get(resource, 0) if one.names_occupied else 0 for one in given), default=0
        )


class SentAmounts:
    """The amounts of all nodes of an RM."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeAmounts] = {}
        self._updates: Certainty[tuple[str, _Given]] = Certainty()

    def of(self, node: str) -> NodeAmounts | None:
        """Return the amounts of a node; None if the RM sent none."""
        return self._nodes.get(node)

    def observe(self, entry: Entry) -> None:
        """Note what this entry sends, makes certain or rejects."""
        if not entry.barrier and not isinstance(entry.content, _OBSERVED):
            return
        for name, update in self._updates.observe(entry):
            node = self._nodes.get(name)
            if node is not None and update in node.given:
                node.current = max(node.current, node.given.index(update))
                node.derived.clear()
        if entry.barrier:
            return
        match entry.content:
            case NodeRequest(action=Action.DECOMMISSION, node=name):
                self._nodes.pop(name, None)
                self._updates.forgets(lambda sent: sent[0] == name)
            case NodeRequest() as request:
                self._is_sent(request)
            case NodeAccepted(node=name) if name in self._nodes:
                self._nodes[name].accepted = True
            case NodeRejected(node=name) if name in self._nodes:
                _is_rejected(self._nodes[name])

    def _is_sent(self, request: NodeRequest) -> None:
        if request.capacity is None and request.occupied is None:
            return
        node = self._nodes.setdefault(request.node, NodeAmounts())
        node.derived.clear()
        before = next((one for one in reversed(node.given) if not one.is_duplicate), None)
        capacity = request.capacity if request.capacity is not None else _kept(before, _capacity)
        occupied = request.occupied if request.occupied is not None else _kept(before, _occupied)
        creates = request.action in _CREATIONS
        given = _Given(
            request.action,
            capacity,
            occupied if not creates else request.occupied or _NOTHING,
            request.capacity is not None,
            request.occupied is not None,
            is_duplicate=creates and node.accepted,
        )
        node.given.append(given)
        if len(node.given) > _MOST:
            node.merges_the_oldest()
        if given.is_duplicate:
            node.duplicates.append(given)
        elif request.action is Action.UPDATE:
            self._updates.send((request.node, given), UpdateKind.NODES)


def _is_rejected(node: NodeAmounts) -> None:
    """Note a rejection: of the creation that was sent again, or of anything."""
    node.derived.clear()
    if node.accepted and node.duplicates:
        node.duplicates.pop(0).rejected = True
    else:
        node.doubtful = True


def _capacity(given: _Given) -> Amounts:
    return given.capacity


def _occupied(given: _Given) -> Amounts:
    return given.occupied


def _kept(before: _Given | None, amounts: Callable[[_Given], Amounts]) -> Amounts:
    return _NOTHING if before is None else amounts(before)
