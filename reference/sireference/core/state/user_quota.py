"""What one user, or one group, may use in one queue and below."""

from collections.abc import Callable

from sireference.configuration.model import Limit
from sireference.core.resources import Resource
from sireference.core.state.quota import Quota


class UserQuota(Quota):
    """The quota of a limit for one user or group; ``unused`` is called when nobody needs it."""

    __slots__ = ("_unused", "applications")

    def __init__(self, limit: Limit, unused: Callable[[], None]) -> None:
        super().__init__()
        self._unused = unused
        self.applications = 0  # that count against it, running or not
        self.maximum = None if limit.max_resources is None else Resource(limit.max_resources)
        self.most_applications = limit.max_applications

    def join(self) -> None:
        """One application more."""
        self.applications += 1

    def leave(self) -> None:
        """Count an application less; without any the quota is forgotten: users may be many."""
        self.applications -= 1
        if not self.applications:
            self._unused()
            self.let_go()
