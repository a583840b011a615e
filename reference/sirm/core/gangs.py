"""Gangs: placeholders for every member first, real containers once all of them are allocated."""

from collections.abc import Iterable

from sirm.core import containers
from sirm.core.cluster import Application, Cluster
from sirm.core.model import Group, Resource


def placeholder_sum(groups: Iterable[Group]) -> Resource | None:
    """Return members times resource over all task groups; None without one (SI-GANG-001)."""
    members = [group for group in groups if group.task_group]
    if not members:
        return None
    total: dict[str, int] = {}
    for group in members:
        for name, amount in group.resource.items():
            total[name] = total.get(name, 0) + group.members * amount
    return total


def create_members(cluster: Cluster, application: Application) -> None:
    """Create the placeholders of all groups, then the real containers (SI-GANG-029)."""
    for group in application.workload.groups:
        if group.task_group:
            for _ in range(group.members):
                containers.create(cluster, application, group, placeholder=True)
    for group in application.workload.groups:
        for _ in range(group.real_containers if group.task_group else group.members):
            containers.create(cluster, application, group)


def may_request(application: Application, *, placeholders: bool) -> bool:
    """Return whether the placeholders or the real containers of an application may be requested.

    Placeholders come first, all of them; a real container waits for the last of them (SI-GANG-013,
    SI-GANG-014). Because it starts with its own allocation, none starts before the gang is
    complete (SI-GANG-050).
    """
    return placeholders or application.is_resumed or is_complete(application)


def is_complete(application: Application) -> bool:
    """Return whether every placeholder has been allocated; true of an application without any."""
    return application.missing_placeholders == 0
