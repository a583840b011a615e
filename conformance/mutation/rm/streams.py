"""Mutants: how an RM reads and writes its streams, and the messages on them."""

from collections import Counter, deque
from collections.abc import Callable
from typing import Any, TypeAlias

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from sirm.codec import r2021_02
from sirm.core.model import RequestAllocation
from sirm.shell.connection import Connection
from sirm.shell.instance import Instance

from mutation.mutant import rm_mutant
from mutation.patching import Patch, instead_of

Send: TypeAlias = Callable[[Connection, str, Message], None]
Receive: TypeAlias = Callable[[Instance, str, Any], None]


@rm_mutant(
    "rm-reads-one-response-for-each-request",
    "On a stream no more responses are taken than messages were sent.",
    breaks=("SI-WIRE-005",),
)
def _(patch: Patch) -> None:
    left: Counter[tuple[Connection | None, str]] = Counter()

    def send(original: Send, self: Connection, method: str, message: Message) -> None:
        left[self, method] += 1
        original(self, method, message)

    def receive(original: Receive, self: Instance, method: str, message: Any) -> None:
        if not left[self._connection, method]:
            patch.fires()
            return
        left[self._connection, method] -= 1
        original(self, method, message)

    patch.instead_of(Connection.send, send)
    patch.instead_of(Instance.receive, receive)


@rm_mutant(
    "rm-waits-for-each-response",
    "The next message on a stream is sent after the response to the one before.",
    breaks=("SI-WIRE-005",),
)
def _(patch: Patch) -> None:
    waiting: dict[tuple[Connection, str], deque[Message]] = {}

    def send(original: Send, self: Connection, method: str, message: Message) -> None:
        if (self, method) in waiting:
            patch.fires()
            waiting[self, method].append(message)
        else:
            waiting[self, method] = deque()
            original(self, method, message)

    def receive(original: Receive, self: Instance, method: str, message: Any) -> None:
        original(self, method, message)
        connection = self._connection
        if connection is not None and (due := waiting.pop((connection, method), None)):
            connection.send(method, due.popleft())
            waiting[connection, method].extend(due)

    patch.instead_of(Connection.send, send)
    patch.instead_of(Instance.receive, receive)


@rm_mutant(
    "rm-drops-what-has-unknown-fields",
    "A message with a field that the revision does not declare is ignored.",
    breaks=("SI-WIRE-007",),
)
@instead_of(Instance.receive)
def _(patch: Patch, original: Receive, self: Instance, method: str, message: Any) -> None:
    unknown: Any = UnknownFieldSet(message)
    if len(unknown):
        patch.fires()
    else:
        original(self, method, message)


@rm_mutant(
    "rm-sends-an-empty-constraint",
    "An ask has a placement constraint without the simple variant.",
    breaks=("SI-WIRE-012",),
    revision="2021-02",
)
def _(patch: Patch) -> None:
    def ask(
        original: Callable[[RequestAllocation, Any], None], update: RequestAllocation, request: Any
    ) -> None:
        original(update, request)
        request.asks[-1].placementConstraint.SetInParent()
        patch.fires()

    patch.instead_of(r2021_02.ask, ask)
