"""What has to be remembered of a trace: the entries about what is still live.

Monitors remember what they saw. So that they do not remember all that ever passed, they are begun
again from time to time, with the entries about what is still live, and about what ended a short
while ago. Everything else is forgotten: of that, only a few bits remain, to tell it from what never
was.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from operator import itemgetter
from typing import Any, Final

import msgspec

from siconform.protocol.application_states import OVER
from siconform.protocol.callbacks import SchedulingReported
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    AllocationRejected,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    NodeRejected,
    Released,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry

RETENTION: Final = 20_000  # entries for which something is remembered after its end
_MANY: Final = 64  # entries about one thing, of which only the first and the last are kept
_FIRST, _LAST = 4, 16
_GLOBAL: Final = 64  # entries of each type about nothing in particular
_REGISTRATIONS: Final = 32  # requests and answers, without the last success
_BITS: Final = 1 << 26  # for the names of what was forgotten: 8 MB
_HASHES: Final = 4

Name = tuple[str, ...]
"""("node", id), ("application", id) or ("key", application, key)."""

Numbered = tuple[int, Entry]
"""An entry with its number in the order of reading."""


@dataclass(slots=True)
class _Thing:
    """A node, an application or a key; ``ended_at`` is -1 while it is live."""

    entries: list[Numbered] = field(default_factory=list)
    last: int = 0  # the number of the last entry
    ended: bool = False
    pending: int = 0  # allocations asked for and not announced
    live: set[str] = field(default_factory=set)  # identities
    of_gang: bool = False
    identities: set[str] = field(default_factory=set)


class Forgotten:
    """The names of what was forgotten, in bounded memory: rarely a name is in it by chance."""

    def __init__(self) -> None:
        self._bits = bytearray()  # allocated with the first name
        self.is_empty = True

    def add(self, name: Name) -> None:
        """Add a name."""
        if self.is_empty:
            self._bits, self.is_empty = bytearray(_BITS // 8), False
        for bit in _bits_of(name):
            self._bits[bit >> 3] |= 1 << (bit & 7)

    def __contains__(self, name: Name) -> bool:
        return not self.is_empty and all(
            self._bits[bit >> 3] & (1 << (bit & 7)) for bit in _bits_of(name)
        )


def _bits_of(name: Name) -> Iterator[int]:
    for number in range(_HASHES):
        yield hash((number, name)) % _BITS


class Memory:
    """The entries of one RM that monitors have to see again when they are begun again."""

    def __init__(self, forgotten: Forgotten) -> None:
        self._forgotten = forgotten
        self._things: dict[Name, _Thing] = {}
        self._keys_of: dict[str, set[str]] = {}  # by application
        self._key_of: dict[tuple[str, str], str] = {}  # by application and identity
        self._others: dict[type, deque[Numbered]] = {}
        self._registrations: list[Numbered] = []
        self._registered: list[Numbered] = []  # the last success with its call
        self._now = 0

    def emptied(self) -> "Memory":
        """Return an empty memory, with the same names forgotten."""
        return Memory(self._forgotten)

    def is_forgotten(self, entry: Entry) -> bool:
        """Return whether an entry is about something that was there and was forgotten.

        What the RM begins under such a name is new.
        """
        if self._forgotten.is_empty or isinstance(entry.content, _BEGINNINGS):
            return False
        name = self._name(entry.content)
        return name is not None and name not in self._things and name in self._forgotten

    def note(self, entry: Entry) -> None:
        """Remember an entry."""
        self._now += 1
        content = entry.content
        numbered = (self._now, _without_message(entry))
        name = self._name(content)
        if name is None:
            self._note_other(numbered)
            return
        thing = self._things.get(name)
        if thing is None:
            thing = self._things[name] = _Thing()
            if name[0] == "key":
                self._keys_of.setdefault(name[1], set()).add(name[2])
        thing.entries.append(numbered)
        thing.last = self._now
        self._observe(thing, name, content)
        if len(thing.entries) > _MANY:
            thing.entries = _shortened(thing.entries)

    def _note_other(self, numbered: Numbered) -> None:
        content = numbered[1].content
        if isinstance(content, RegistrationRequested):
            self._note_registration(numbered)
        elif isinstance(content, RegistrationAnswered):
            self._note_registration(numbered)
            if content.status == "OK":
                self._registered = self._registrations[-2:]
                for thing in self._things.values():
                    thing.ended, thing.last = True, self._now
        else:
            of_its_type = self._others.get(type(content))
            if of_its_type is None:
                of_its_type = self._others[type(content)] = deque(maxlen=_GLOBAL)
            of_its_type.append(numbered)

    def _note_registration(self, numbered: Numbered) -> None:
        self._registrations.append(numbered)
        if len(self._registrations) > 2 * _REGISTRATIONS:
            del self._registrations[:-_REGISTRATIONS]

    def _all_registrations(self) -> list[Numbered]:
        """Return the latest, and the last success with its call however long ago it was."""
        first = self._registrations[0][0] if self._registrations else 0
        return [*(one for one in self._registered if one[0] < first), *self._registrations]

    def log(self) -> list[Entry]:
        """Return the entries to be seen again, in order."""
        kept = [numbered for thing in self._things.values() for numbered in thing.entries]
        kept += [one for others in self._others.values() for one in others]
        kept += self._all_registrations()
        kept.sort(key=itemgetter(0))
        return [entry for _, entry in kept]

    def forget(self) -> list[Name]:
        """Drop what ended long ago; return the names."""
        before = self._now - RETENTION
        over = [
            name
            for name, thing in self._things.items()
            if thing.ended and thing.last < before and self._may_go(name, thing)
        ]
        for name in over:
            thing = self._things.pop(name)
            self._forgotten.add(name)
            if name[0] == "key":
                self._drop_key(name[1], name[2], thing)
        return over

    def _may_go(self, name: Name, thing: _Thing) -> bool:
        if name[0] == "application":
            return not self._keys_of.get(name[1])
        if name[0] != "key" or not thing.of_gang:
            return True
        application = self._things.get(("application", name[1]))
        return application is None or application.ended

    def _drop_key(self, application: str, key: str, thing: _Thing) -> None:
        for identity in thing.identities:
            self._key_of.pop((application, identity), None)
            self._forgotten.add(("key", application, identity))
        keys = self._keys_of[application]
        keys.discard(key)
        if not keys:
            del self._keys_of[application]

    def _name(self, content: Any) -> Name | None:
        """Return what an entry is about; None for all there is, and for nothing in particular."""
        name: Name | None = None
        match _ABOUT.get(type(content)):
            case About.NODE:
                name = ("node", content.node)
            case About.APPLICATION:
                name = ("application", content.application)
            case About.ALLOCATION:
                one = content.allocation
                name = ("key", one.application, one.key or one.identity)
            case About.SUBJECT | About.IDENTITY:
                name = self._name_of(content.subject)
            case About.FOREIGN:
                name = ("key", "", content.key)
            case About.KEY:
                application, key = content.application, content.key
                name = ("key", application, key) if key else ("application", application)
        return name

    def _name_of(self, subject: OneAllocation | OneAsk | AllOf | AllThereIs) -> Name | None:
        match subject:
            case OneAllocation(application=application, identity=identity):
                return ("key", application, self._key_of.get((application, identity), identity))
            case OneAsk(application=application, key=key):
                return ("key", application, key)
            case AllOf(application=application):
                return ("application", application)
            case _:
                return None

    def _observe(self, thing: _Thing, name: Name, content: Content) -> None:
        """Note whether it is live."""
        kind = name[0]
        if kind == "node":
            self._observe_node(thing, content)
        elif kind == "application":
            self._observe_application(thing, name[1], content)
        elif isinstance(content, Fact):
            self._observe_answer(thing, name, content)
        else:
            self._observe_request(thing, name, content)

    def _observe_node(self, thing: _Thing, content: Content) -> None:
        match content:
            case NodeRequest(action=action, existing=existing, node=node):
                thing.ended = action is Action.DECOMMISSION
                self._exist(existing)
                if thing.ended:
                    self._end_foreign(node)
            case NodeRejected():
                thing.ended = thing.ended or not _was_accepted(thing)

    def _observe_application(self, thing: _Thing, name: str, content: Content) -> None:
        match content:
            case ApplicationRequest():
                thing.ended = False
            case ApplicationRejected():
                thing.ended = not _was_accepted(thing)
            case ApplicationRemoval():
                thing.ended = True
                self._end_keys(name)
            case ApplicationUpdated(state=state) if OVER.accepts(state):
                thing.ended = True
            case Released() | ReleaseRequest():
                self._end_keys(name)

    def _observe_request(self, thing: _Thing, name: Name, content: Content) -> None:
        match content:
            case AskRequest(max_allocations=most, task_group=group, placeholder=placeholder):
                thing.pending += max(most, 0)
                thing.ended = False
                thing.of_gang = thing.of_gang or bool(group) or placeholder is True
            case ExistingAllocationRequest(allocation=one):
                self._lifecycles(thing, name, one)
            case ForeignAllocationRequest():
                thing.ended = False
            case ReleaseRequest(subject=OneAllocation(identity=identity)):
                thing.live.discard(identity)
                thing.ended = not thing.live
            case AskReleaseRequest():
                thing.pending = 0
                thing.ended = not thing.live

    def _observe_answer(self, thing: _Thing, name: Name, content: Content) -> None:
        match content:
            case Allocated():
                thing.pending -= 1
                self._lifecycles(thing, name, content)
            case Released(identity=identity, termination=kind) if kind not in BY_THE_SCHEDULER:
                thing.live.discard(identity)
                thing.ended = not thing.live and (thing.pending <= 0 or identity == name[2])
            case AskReleased() | AskRejected():
                thing.pending = 0
                thing.ended = not thing.live
            case AllocationRejected():
                thing.ended = not thing.live

    def _lifecycles(self, thing: _Thing, name: Name, one: Allocated) -> None:
        thing.live.add(one.identity)
        thing.ended = False
        thing.of_gang = thing.of_gang or bool(one.task_group) or one.placeholder is True
        if one.identity != name[2]:
            self._key_of[name[1], one.identity] = name[2]
            thing.identities.add(one.identity)

    def _exist(self, existing: tuple[Allocated, ...]) -> None:
        """Note the allocations that a node was reported with; they live and end as others do."""
        for one in existing:
            name = ("key", one.application, one.key)
            thing = self._things.setdefault(name, _Thing())
            self._keys_of.setdefault(name[1], set()).add(name[2])
            thing.last = self._now
            self._lifecycles(thing, name, one)

    def _end_keys(self, application: str) -> None:
        for key in self._keys_of.get(application, ()):
            thing = self._things["key", application, key]
            thing.ended, thing.last = True, self._now
            thing.live.clear()

    def _end_foreign(self, node: str) -> None:
        for key in self._keys_of.get("", ()):
            thing = self._things["key", "", key]
            latest = thing.entries[-1][1].content if thing.entries else None
            if isinstance(latest, (Allocated, ForeignAllocationRequest)) and latest.node == node:
                thing.ended, thing.last = True, self._now


class About(Enum):
    """What an entry is about, by its fields."""

    NODE = auto()
    APPLICATION = auto()
    KEY = auto()  # without a key: all of the application
    ALLOCATION = auto()
    IDENTITY = auto()  # without an identity: all of the application
    SUBJECT = auto()
    FOREIGN = auto()


_ABOUT: Final[Mapping[type, About]] = {
    NodeRequest: About.NODE,
    NodeAccepted: About.NODE,
    NodeRejected: About.NODE,
    ApplicationRequest: About.APPLICATION,
    ApplicationRemoval: About.APPLICATION,
    ApplicationAccepted: About.APPLICATION,
    ApplicationRejected: About.APPLICATION,
    ApplicationUpdated: About.APPLICATION,
    AskRequest: About.KEY,
    Allocated: About.KEY,
    AskReleased: About.KEY,
    AskRejected: About.KEY,
    AllocationRejected: About.KEY,
    SchedulingReported: About.KEY,
    Released: About.IDENTITY,
    ExistingAllocationRequest: About.ALLOCATION,
    AllocationUpdate: About.ALLOCATION,
    ReleaseRequest: About.SUBJECT,
    AskReleaseRequest: About.SUBJECT,
    ForeignAllocationRequest: About.FOREIGN,
}

_BEGINNINGS: Final = (
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    ApplicationRequest,
    NodeRequest,
)


def _without_message(entry: Entry) -> Entry:
    """Return the entry without its message, of which only a registration's is looked at again."""
    if entry.message is None or isinstance(entry.content, RegistrationRequested):
        return entry
    return msgspec.structs.replace(entry, message=None)


def _was_accepted(thing: _Thing) -> bool:
    return any(isinstance(e.content, (ApplicationAccepted, NodeAccepted)) for _, e in thing.entries)


def _shortened(entries: list[Numbered]) -> list[Numbered]:
    """Return the first and the last, and of those between what still counts.

    That are the requests that outnumber answers, and what a node was changed by last.
    """
    between = entries[_FIRST:-_LAST]
    sent = [one for one in between if one[1].sent_by_rm]
    unanswered = len(sent) - (len(between) - len(sent))
    kept = sent[-unanswered:] if unanswered > 0 else []
    counts = {one[0]: one for one in (*kept[-_LAST:], *_last_changes(between))}
    return [*entries[:_FIRST], *(counts[number] for number in sorted(counts)), *entries[-_LAST:]]


def _last_changes(entries: list[Numbered]) -> Iterable[Numbered]:
    """Return the last entry about a node with each action, verdict and kind of amounts."""
    last: dict[object, Numbered] = {}
    for one in entries:
        match one[1].content:
            case NodeRequest(action=action, capacity=capacity, occupied=occupied):
                if action is not Action.UPDATE:
                    last[action] = one
                if capacity is not None:
                    last["capacity"] = one
                if occupied is not None:
                    last["occupied"] = one
            case NodeAccepted() | NodeRejected() as verdict:
                last[type(verdict)] = one
    return last.values()
