"""Quotas: what the configuration of an RM lets its queues hold, and who is in them."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from siconform import plain_yaml
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.queue_configurations import POLICY_GROUP, conformance_queues
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import ApplicationRequest
from siconform.recording.history import Entry

_THOUSANDTHS: Final = 1000  # in which vcore counts on the wire
_NO_LIMITS: Final[Mapping[str, Mapping[str, int]]] = {}


class Quotas:
    """The limits in force for one RM; none once its configuration has been changed on the way.

    Only the cluster of all tests is known well enough to be judged: there an application goes to
    the queue it names.
    """

    def __init__(self) -> None:
        self._limits = self._wanted = _NO_LIMITS
        self._queue_of: dict[str, str] = {}

    def observe(self, entry: Entry) -> None:
        """The registration, a change of it, the submission of an application."""
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

    def limited(self, application: str) -> list[str]:
        """The queue of the application and those above it, as far as they have a maximum."""
        queue = self._queue_of.get(application, "")
        return [q for q in _path(queue) if q in self._limits]

    def most(self, queue: str, resource: str) -> int | None:
        """The maximum of a resource in a queue; None where it has none."""
        return self._limits.get(queue, {}).get(resource)


def _in_the_cluster(registration: Entry) -> bool:
    """Whether this configuration is asked for, by its text or where that cannot be, its group."""
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
    """Queue to resource to maximum, on the wire's scale."""
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
