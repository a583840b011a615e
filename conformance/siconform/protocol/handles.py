"""Handles: ids that carry what the RM sent about their objects."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from siconform.protocol.requests import AskRequest


class Node(str):
    """A node's id, with the capacity the RM gave it."""

    __slots__ = ("capacity",)

    capacity: Mapping[str, int]

    def __new__(cls, name: str, capacity: Mapping[str, int]) -> Self:
        """Create the id ``name`` with its capacity."""
        node = super().__new__(cls, name)
        node.capacity = capacity
        return node


class Application(str):
    """An application's id, with the queue it was submitted to."""

    __slots__ = ("queue",)

    queue: str

    def __new__(cls, name: str, queue: str) -> Self:
        """Create the id ``name`` with its queue."""
        application = super().__new__(cls, name)
        application.queue = queue
        return application


class Ask(str):
    """An ask's allocation key, with the ask as last sent."""

    __slots__ = ("sent",)

    sent: AskRequest

    def __new__(cls, sent: AskRequest) -> Self:
        """Create the key of the ask."""
        ask = super().__new__(cls, sent.key)
        ask.sent = sent
        return ask


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a gang waits for its placeholders, and the timeout its application sends."""

    seconds: float
    timeout_ms: int = 0  # 0: the scheduler's default


class Gang(Application):
    """An application's id, with the size of its gang and its placeholder timeout."""

    __slots__ = ("limit", "member", "members")

    members: int
    member: Mapping[str, int]  # resources of each
    limit: Limit | None  # None: irrelevant to the test

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
        """Create the id ``name`` with the properties of the gang."""
        gang = cls(name, queue)
        gang.members = members
        gang.member = member
        gang.limit = limit
        return gang
