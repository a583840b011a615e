"""User quotas: what one user or group may use in one queue and below."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from sireference.configuration.model import Limit
from sireference.core.resources import Resource
from sireference.core.state.quota import Quota


class HolderKind(Enum):
    """The kind of holder of a limit."""

    USER = "user"
    GROUP = "group"


class Holder(NamedTuple):
    """A user or a group, by name."""

    kind: HolderKind
    name: str


class UserQuota(Quota):
    """The quota of a limit for ``holder``; ``unused`` is called with its last application gone."""

    __slots__ = ("_unused", "applications", "holder")

    def __init__(self, holder: Holder, limit: Limit, unused: Callable[[], None]) -> None:
        super().__init__()
        self.holder = holder
        self._unused = unused
        self.applications = 0  # that count against it, running or not
        self.maximum = None if limit.max_resources is None else Resource(limit.max_resources)
        self.most_applications = limit.max_applications

    def join(self) -> None:
        """Count one more application."""
        self.applications += 1

    def leave(self) -> None:
        """Count an application less; without any the quota is dropped, as users may be many."""
        self.applications -= 1
        if not self.applications:
            self._unused()
            self.let_go()
