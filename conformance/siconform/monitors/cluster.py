"""The queue configuration that an RM registered with, as far as its meaning is known.

The specification leaves the format to the scheduler. Known is the configuration of the kit's own
cluster, and nothing once the RM has changed it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from siconform import plain_yaml
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.queue_configurations import POLICY_GROUP, conformance_queues, leaf_queues
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import ApplicationRequest
from siconform.recording.history import Entry

PARTITION: Final = "default"
FORCED: Final = "application.create.force"
"""The tag that has an application accepted in any case."""

_BY_TAG: Final = "root.namespaces"  # the parent of queues that are created on demand
_ROOT: Final = "root."
_SORTING: Final = "application.sort.policy"
_LIMITS: Final = {"resources", "maxapplications", "limits"}


class Cluster:
    """Whether the configuration of the kit's cluster is in force for an RM."""

    def __init__(self) -> None:
        self.is_known = False
        self._is_asked_for = False

    def observe(self, entry: Entry) -> None:
        """Note registrations and configuration changes."""
        match entry.content:
            case RegistrationRequested():
                self._is_asked_for = _asks_for_the_cluster(entry)
            case RegistrationAnswered(status="OK"):
                self.is_known = self._is_asked_for
            case ConfigurationSent():
                self.is_known = False

    def lacks_partition(self, name: str) -> bool:
        """Return whether there certainly is no such partition."""
        return self.is_known and name not in ("", PARTITION) and not name.endswith(f"]{PARTITION}")

    def lacks_queue_for(self, request: ApplicationRequest) -> bool:
        """Return whether the policy certainly offers no queue to an application."""
        queue, tags = request.queue, request.tags
        return (
            self.is_known
            and request.partition == PARTITION
            and queue.startswith(_ROOT)
            and not queue.startswith(_BY_TAG)
            and queue.lower() not in _all_queues()
            and "namespace" not in tags
            and FORCED not in tags
        )

    def has_place_for(self, request: ApplicationRequest) -> bool:
        """Return whether a usable queue without any limit is free for an application."""
        return (
            self.is_known
            and request.queue in _unlimited_queues()
            and request.partition == PARTITION
            and bool(request.application and request.user)
        )


def _asks_for_the_cluster(registration: Entry) -> bool:
    request: Any = registration.message
    config = getattr(request, "config", "")
    group = getattr(request, "policyGroup", "")
    return bool(config == conformance_queues() or (not config and group == POLICY_GROUP))


@cache
def _unlimited_queues() -> frozenset[str]:
    [partition] = plain_yaml.load(conformance_queues())["partitions"]
    return frozenset(name for queue in partition["queues"] for name in _without_limit(queue, ""))


def _without_limit(queue: Mapping[str, Any], above: str) -> Iterator[str]:
    """Yield the leaves without a limit of their own or above them.

    A FAIR one may take no application at all (SI-GANG-008).
    """
    name = f"{above}{queue['name']}"
    if _LIMITS & queue.keys() or queue.get("properties", {}).get(_SORTING) == "fair":
        return
    for child in queue.get("queues", ()):
        yield from _without_limit(child, f"{name}.")
    if not ("queues" in queue or queue.get("parent")):
        yield name


@cache
def _all_queues() -> frozenset[str]:
    names: set[str] = set()
    for leaf in leaf_queues():
        parts = leaf.lower().split(".")
        names |= {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return frozenset(names)
