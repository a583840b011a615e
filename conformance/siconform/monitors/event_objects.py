"""What records can be about: the nodes, applications and requests of an RM, as it sent them.

Only a number of each is remembered, the latest ones. Those from before a registration are not
known any more: records about them may come late.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import Updated
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    Released,
    Termination,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    Action,
    Amounts,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry

_MOST: Final = 20_000
_MOST_AMOUNTS: Final = 50  # of a node

T = TypeVar("T")


@dataclass(slots=True)
class Node:
    """A node; ``amounts`` are all its capacities."""

    removed: bool = False
    amounts: list[Amounts] = field(default_factory=list)


@dataclass(slots=True)
class Application:
    """An application; ``open`` counts additions without verdict."""

    has_timeout: bool
    gang: bool
    asked: bool = False  # whether it had any ask or existing allocation
    removed: bool = False
    added_again: bool = False
    open: int = 1
    accepted: int = 0
    rejected: int = 0


@dataclass(slots=True)
class Request:
    """An ask or an existing allocation."""

    application: str
    placeholder: bool
    may_time_out: bool
    node: str = ""
    cancelled: bool = False  # by the RM
    started: Termination | None = None  # the scheduler's release of it
    unclear: bool = False  # whether it was sent again with other values


class _Latest(Generic[T]):
    """The latest objects by name."""

    def __init__(self) -> None:
        self.known: dict[str, T] = {}
        self.old: set[str] = set()  # from before a registration
        self._has_lost_any = False

    def may_exist(self, name: str) -> bool:
        """Return whether the RM may have sent one of this name."""
        return self._has_lost_any or name in self.known or name in self.old

    def add(self, name: str, one: T) -> T:
        if len(self.known) >= _MOST:
            del self.known[next(iter(self.known))]
            self._has_lost_any = True
        self.known[name] = one
        return one

    def get(self, name: str) -> T | None:
        return None if name in self.old else self.known.get(name)

    def registers(self) -> None:
        self.old |= self.known.keys()
        self.known.clear()


class Objects:
    """The objects of one RM."""

    def __init__(self) -> None:
        self.nodes: _Latest[Node] = _Latest()
        self.applications: _Latest[Application] = _Latest()
        self.requests: _Latest[Request] = _Latest()  # by key
        self.any_removed = False  # of the nodes
        self._keys: _Latest[str] = _Latest()  # by identity

    def request(self, *names: str) -> Request | None:
        """Return the request with one of these keys or identities, if it is clear which."""
        for name in filter(None, names):  # no name is not that of a request without key
            found = self.requests.get(name) or self.requests.get(self._keys.get(name) or name)
            if found is not None:
                return None if found.unclear else found
        return None

    def observe(self, entry: Entry) -> None:
        """Note what the RM sends and is answered."""
        content = entry.content
        match content:
            case RegistrationAnswered(status="OK"):
                for latest in (self.nodes, self.applications, self.requests, self._keys):
                    latest.registers()
            case NodeRequest():
                self._is_node(content)
            case ApplicationRequest():
                self._is_added(content)
            case ApplicationRemoval() | ApplicationAccepted() | ApplicationRejected():
                self._is_about_application(content)
            case _:
                self._observe_request(content)
        for existing in recovered_in(content):
            self._is_reported(existing)

    def _observe_request(self, content: Content) -> None:
        match content:
            case AskRequest():
                self._asks(content)
            case Updated(key=key):
                for request in _one(self.requests.get(key_of(key))):
                    request.unclear = True
            case Allocated() | Released():
                self._is_allocated(content)
            case ReleaseRequest() | AskReleaseRequest():
                self._is_cancelled(content)

    def _is_about_application(
        self, content: ApplicationRemoval | ApplicationAccepted | ApplicationRejected
    ) -> None:
        for application in _one(self.applications.get(content.application)):
            match content:
                case ApplicationRemoval():
                    application.removed = True
                case ApplicationAccepted():
                    application.open -= 1
                    application.accepted += 1
                case ApplicationRejected():
                    application.open -= 1
                    application.rejected += 1

    def _is_node(self, request: NodeRequest) -> None:
        node = self.nodes.get(request.node)
        if node is None:
            node = self.nodes.add(request.node, Node())
        if request.action is Action.DECOMMISSION:
            node.removed = self.any_removed = True
        if request.capacity is not None and request.capacity not in node.amounts:
            node.amounts.append(request.capacity)
            del node.amounts[:-_MOST_AMOUNTS]

    def _is_added(self, request: ApplicationRequest) -> None:
        known = self.applications.get(request.application)
        if known is not None:
            known.open += 1
            known.added_again = True
            known.has_timeout |= request.timeout_ms > 0
            known.gang |= bool(request.placeholder_ask)
            return
        added = Application(request.timeout_ms > 0, bool(request.placeholder_ask))
        self.applications.add(request.application, added)

    def _asks(self, ask: AskRequest) -> None:
        application = self.applications.get(ask.application)
        may_time_out = ask.placeholder or ask.timeout_ms > 0
        if application is not None:
            application.asked = True
            application.gang |= ask.placeholder or bool(ask.task_group)
        sent = Request(ask.application, ask.placeholder, may_time_out)
        self._is_sent(key_of(ask.key), sent)

    def _is_reported(self, existing: Allocated) -> None:
        application = self.applications.get(existing.application)
        if application is not None:
            application.asked = True
            application.gang |= bool(existing.task_group or existing.placeholder)
        may_time_out = bool(existing.placeholder)
        sent = Request(existing.application, may_time_out, may_time_out, existing.node)
        self._is_sent(key_of(existing.key), sent)
        self._keys.add(existing.identity, key_of(existing.key))

    def _is_sent(self, key: str, request: Request) -> None:
        if self.requests.get(key) is not None:
            request.unclear = True
        self.requests.add(key, request)

    def _is_allocated(self, received: Allocated | Released) -> None:
        if isinstance(received, Allocated):
            key = key_of(received.key)
            self._keys.add(received.identity, key)
            for request in _one(self.requests.get(key)):
                request.unclear |= request.node not in ("", received.node)
                request.node = received.node
        else:
            for request in _one(self.request(key_of(received.identity))):
                request.started = received.termination

    def _is_cancelled(self, sent: ReleaseRequest | AskReleaseRequest) -> None:
        match sent.subject:
            case OneAllocation(identity=name) | OneAsk(key=name):
                for request in _one(self.request(key_of(name))):
                    is_confirmation = sent.termination is request.started
                    request.cancelled |= not is_confirmation
            case AllOf(application=name):
                for application in _one(self.applications.get(name)):
                    application.removed = True
            case AllThereIs():
                self.requests.registers()


def _one(found: T | None) -> Iterator[T]:
    if found is not None:
        yield found
