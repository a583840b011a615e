"""Names a test holds in its hands: ids that remember what the RM said about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from siconform.protocol.requests import AskRequest


class Node(str):
    """A node's id, with the capacity the RM gave it."""

    __slots__ = ("capacity",)

    capacity: Mapping[str, int]

    def __new__(cls, name: str, capacity: Mapping[str, int]) -> Self:
        """The id ``name`` with its capacity."""
        node = super().__new__(cls, name)
        node.capacity = capacity
        return node


class Application(str):
    """An application's id, with the queue it was submitted to."""

    __slots__ = ("queue",)

    queue: str

    def __new__(cls, name: str, queue: str) -> Self:
        """The id ``name`` with its queue."""
        application = super().__new__(cls, name)
        application.queue = queue
        return application


class Ask(str):
    """An ask's allocation key, with the ask as it was last said."""

    __slots__ = ("sent",)

    sent: AskRequest

    def __new__(cls, sent: AskRequest) -> Self:
        """The key of the ask, with the ask."""
        ask = super().__new__(cls, sent.key)
        ask.sent = sent
        return ask


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a gang waits for its placeholders, and how its application says so."""

    seconds: float
    timeout_ms: int = 0  # 0: it leaves it to the scheduler


class Gang(Application):
    """An application's id, with the size of its gang and how long it waits for its placeholders."""

    __slots__ = ("limit", "member", "members")

    members: int
    member: Mapping[str, int]  # resources of each
    limit: Limit | None  # None: a test that is not about it

    @classmethod
    def of(
        cls,
        name: str,
        queue: str,
        *,
        members: int,
        member: Mapping[str, int],
        limit: Limit | None = None,
    ) -> Self:
        """The id ``name`` with what was said about the gang."""
        gang = cls(name, queue)
        gang.members = members
        gang.member = member
        gang.limit = limit
        return gang
