"""Rules about allocations: asked for, unique, within capacity, and over when they are over."""

from collections import defaultdict
from collections.abc import Callable, Iterator

from siconform.monitors.existing import TakenOver, existing_in
from siconform.monitors.finding import Era, Observation, monitors
from siconform.rm.facts import ANY, Allocated, AllocationRejected, Released, Termination
from siconform.rm.history import Entry
from siconform.rm.resource_manager import CONFIRMED
from siconform.rm.sayings import (
    Action,
    Amounts,
    ApplicationRemoval,
    AskSaying,
    NodeSaying,
    ReleaseSaying,
)


@monitors("SI-ALLOC-002")
def allocations_carry_their_ask(era: Era) -> Iterator[Observation]:
    """A new allocation names an ask of this RM, its application, and its amount per allocation."""
    asks: dict[str, list[AskSaying]] = defaultdict(list)
    recovered: set[str] = set()
    for index, entry in era.entries:
        match entry.content:
            case AskSaying() as ask:
                asks[ask.key].append(ask)
            case Allocated() as new if new.identity not in recovered:
                yield Observation(index, _ask_of(new, asks[new.key]))
            case content:
                recovered |= {existing.identity for existing in existing_in(content)}


def _ask_of(new: Allocated, asks: list[AskSaying]) -> str:
    if not asks:
        return f"allocation {new.identity} has the key {new.key}, which nobody asked for"
    if all(ask.application != new.application for ask in asks):
        return f"allocation {new.identity} names application {new.application}, not its ask's"
    if all(_nonzero(ask.resource or {}) != _nonzero(new.resource) for ask in asks):
        return f"allocation {new.identity} is {dict(new.resource)}, asked was {asks[-1].resource}"
    return ""


def _nonzero(amounts: Amounts) -> dict[str, int]:
    return {name: amount for name, amount in amounts.items() if amount}


@monitors("SI-ALLOC-005", "SI-ALLOC-008")
def identities_are_unique(era: Era) -> Iterator[Observation]:
    """Every new allocation has an identity of its own, announced once."""
    announced: set[str] = set()
    recovered: dict[str, str] = {}  # identity to key
    for index, entry in era.entries:
        match entry.content:
            case Allocated(identity="", key=key):
                yield Observation(index, f"an allocation of {key} has no identity")
            case Allocated(identity=identity, key=key) if identity in recovered:
                echo = key == recovered[identity]
                yield Observation(
                    index, "" if echo else f"{key} got {identity}, the identity of a recovered one"
                )
            case Allocated(identity=identity) if identity in announced:
                yield Observation(index, f"allocation {identity} was announced twice")
            case Allocated(identity=identity):
                announced.add(identity)
                yield Observation(index)
            case content:
                recovered |= {existing.identity: existing.key for existing in existing_in(content)}


@monitors("SI-ALLOC-001")
def nodes_of_allocations_exist(era: Era) -> Iterator[Observation]:
    """The node of a new allocation is registered by this RM (gone: decommissioned and fenced)."""
    known: set[str] = set()
    leaving: set[str] = set()
    for index, entry in era.entries:
        match entry.content:
            case NodeSaying(action=Action.CREATE | Action.CREATE_DRAINING, node=node):
                known.add(node)
                leaving.discard(node)
            case NodeSaying(action=Action.DECOMMISSION, node=node):
                leaving.add(node)
            case Allocated(node=node, identity=identity):
                unknown = node not in known
                yield Observation(
                    index,
                    f"allocation {identity} is on {node}, no node of this RM" if unknown else "",
                )
            case _ if _fences_nodes(entry):
                known -= leaving
                leaving.clear()


def _fences_nodes(entry: Entry) -> bool:
    return entry.fence and not entry.said_by_rm and hasattr(entry.content, "node")


@monitors("SI-NODE-006")
def nodes_are_not_overfilled(era: Era) -> Iterator[Observation]:
    """No new allocation takes a node above the largest capacity it may have at that moment.

    A capacity counts as soon as it is said; a smaller one replaces it only behind a fence. Room
    counts as free as soon as the RM says a release, a removal or a decommission. What exists
    counts once it is certain that it was taken over, and as far as it fits: that it counts beyond
    the capacity is only a SHOULD (SI-REC-013).
    """
    books = _Books()
    for index, entry in era.entries:
        match entry.content:
            case Allocated() as echo if books.existing.knows(echo):
                books.takes_if_it_fits(echo)
            case Allocated() as new:
                yield Observation(index, books.takes(new))
            case _:
                books.hears(entry)


class _Books:
    """What is on each node, read in the target's favour where the order of things is open."""

    def __init__(self) -> None:
        self.capacities: dict[str, list[dict[str, int]]] = defaultdict(list)
        self.live: dict[str, Allocated] = {}
        self.existing = TakenOver()

    def takes(self, new: Allocated) -> str:
        self.live[new.identity] = new
        capacities = self.capacities.get(new.node)
        if not capacities:
            return ""
        for name in (n for n, amount in new.resource.items() if amount > 0):
            used = sum(a.resource.get(name, 0) for a in self.live.values() if a.node == new.node)
            most = max(c.get(name, 0) for c in capacities)
            if used > most:
                return f"node {new.node} holds {used} of {name} with {new.identity}, it has {most}"
        return ""

    def takes_if_it_fits(self, existing: Allocated) -> None:
        if self.takes(existing):
            del self.live[existing.identity]

    def hears(self, entry: Entry) -> None:
        for existing in self.existing.hears(entry):
            self.takes_if_it_fits(existing)
        match entry.content:
            case NodeSaying(action=Action.DECOMMISSION, node=node):
                self._ends(lambda a: a.node == node)
                self.capacities.pop(node, None)
            case NodeSaying(node=node, capacity=capacity) if capacity is not None:
                self.capacities[node].append(dict(capacity))
            case ApplicationRemoval(application=application):
                self._ends(lambda a: a.application == application)
            case ReleaseSaying(identity="", application=application):
                self._ends(lambda a: a.application == application)
            case AllocationRejected(key=key):
                self._ends(lambda a: a.key == key)
            case ReleaseSaying(identity=identity):
                self._ends(lambda a: a.identity == identity)
            case Released(identity=identity, termination=termination):
                if termination not in CONFIRMED:
                    self._ends(lambda a: a.identity == identity)
            case _:
                pass

    def _ends(self, which: Callable[[Allocated], bool]) -> None:
        self.live = {i: a for i, a in self.live.items() if not which(a)}
        self.existing.forgets(which)


@monitors("SI-ALLOC-009")
def ended_allocations_stay_ended(era: Era) -> Iterator[Observation]:
    """An allocation ends once: no release follows its release.

    A release of the scheduler is final only when confirmed. If the RM meanwhile releases the
    allocation itself, removes its application or decommissions its node, STOPPED_BY_RM tells the
    end of it, and the open release was none.
    """
    ended: set[str] = set()
    unconfirmed: dict[str, Termination] = {}
    for index, entry in era.entries:
        match entry.content:
            case Released(identity=identity, termination=Termination.STOPPED_BY_RM) if (
                unconfirmed.pop(identity, None) is not None
            ):
                yield Observation(index)
            case Released(identity=identity) if identity and identity in ended:
                yield Observation(index, f"allocation {identity} was released twice")
            case Released(identity=identity, termination=termination) if identity:
                ended.add(identity)
                if termination in CONFIRMED:
                    unconfirmed[identity] = termination
                yield Observation(index)
            case ReleaseSaying(identity=identity, termination=termination):
                if unconfirmed.pop(identity, termination) is not termination:
                    ended.discard(identity)
            case content:
                ended -= {existing.identity for existing in existing_in(content)}


@monitors("SI-REL-023")
def releases_name_what_was_announced(era: Era) -> Iterator[Observation]:
    """A release names an announced allocation, with that allocation's application and key."""
    owners: dict[str, str] = {}
    keys: dict[str, str] = {}
    for index, entry in era.entries:
        match entry.content:
            case Allocated(identity=identity, application=application, key=key):
                owners[identity], keys[identity] = application, key
            case Released() as release if release.identity:
                yield Observation(index, _wrong_name(release, owners, keys))
            case content:
                owners |= {a.identity: a.application for a in existing_in(content)}
                keys |= {a.identity: a.key for a in existing_in(content)}


def _wrong_name(release: Released, owners: dict[str, str], keys: dict[str, str]) -> str:
    identity = release.identity
    if identity not in owners:
        return f"release of {identity}, which was never announced"
    if release.application != owners[identity]:
        return f"release of {identity} names application {release.application!r}"
    if release.key not in ("", ANY, keys[identity]):
        return f"release of {identity} names key {release.key!r}"
    return ""
