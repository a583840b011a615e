"""Quotas: the limits of the queues in an RM's configuration, and the applications in them."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from siconform import plain_yaml
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.queue_configurations import POLICY_GROUP, conformance_queues
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import ApplicationRequest
from siconform.recording.history import Entry

_THOUSANDTHS: Final = 1000  # vcore on the wire
_NO_LIMITS: Final[Mapping[str, Mapping[str, int]]] = {}


QUOTAS: Final = (RegistrationRequested, RegistrationAnswered, ConfigurationSent, ApplicationRequest)
"""What Quotas observes."""


class Quotas:
    """The limits in force for one RM; none once its configuration has been changed.

    Limits are known only for the common test cluster, in which an application goes to the queue it
    names.
    """

    def __init__(self) -> None:
        self._limits = self._wanted = _NO_LIMITS
        self._queue_of: dict[str, str] = {}

    def observe(self, entry: Entry) -> None:
        """Note registrations, configuration changes and submitted applications."""
        match entry.content:
            case RegistrationRequested():
                self._wanted = limits_of_the_cluster() if _in_the_cluster(entry) else _NO_LIMITS
            case RegistrationAnswered(status="OK"):
                self._limits = self._wanted
            case ConfigurationSent():
                self._limits = _NO_LIMITS
            case ApplicationRequest(application=application, queue=queue):
                known = self._queue_of.setdefault(application, queue)
                if known != queue:
                    self._queue_of[application] = ""  # it may be in either

    @property
    def may_limit(self) -> bool:
        """Whether there are limits, or will be if the registration is accepted."""
        return bool(self._limits or self._wanted)

    def limited(self, application: str) -> list[str]:
        """Return the application's queue and its ancestors, if they have a maximum."""
        if not self._limits:
            return []
        queue = self._queue_of.get(application, "")
        return [q for q in _path(queue) if q in self._limits]

    def most(self, queue: str, resource: str) -> int | None:
        """Return the maximum of a resource in a queue; None if there is none."""
        return self._limits.get(queue, {}).get(resource)


def _in_the_cluster(registration: Entry) -> bool:
    """Return whether the test configuration is requested, by content or by policy group."""
    request: Any = registration.message
    config = getattr(request, "config", "")
    return bool(
        config == conformance_queues() or (not config and request.policyGroup == POLICY_GROUP)
    )


def _path(queue: str) -> Iterator[str]:
    while queue:
        yield queue
        queue = queue.rpartition(".")[0]


@cache
def limits_of_the_cluster() -> Mapping[str, Mapping[str, int]]:
    """Return the maxima by queue and resource, in wire units."""
    [partition] = plain_yaml.load(conformance_queues())["partitions"]
    return dict(_limits(partition["queues"], ""))


def _limits(queues: list[dict[str, Any]], parent: str) -> Iterator[tuple[str, Mapping[str, int]]]:
    for queue in queues:
        name = f"{parent}.{queue['name']}".lstrip(".")
        most = queue.get("resources", {}).get("max", {})
        if most:
            yield name, {r: _amount(r, amount) for r, amount in most.items()}
        yield from _limits(queue.get("queues", []), name)


def _amount(resource: str, amount: int) -> int:
    return amount * (_THOUSANDTHS if resource == "vcore" else 1)
