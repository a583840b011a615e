"""Rules for limits: within themselves, against their queue and against parent queues.

Source: yunikorn-core 1.5.1 `common/configs/configvalidator.go`.
"""

from collections import ChainMap
from dataclasses import dataclass

from sireference.configuration.fields import Report
from sireference.configuration.names import WILDCARD
from sireference.configuration.problems import quoted
from sireference.configuration.quantities import written_quantity
from sireference.configuration.written import (
    Amounts,
    WrittenLimit,
    WrittenName,
    WrittenPartition,
    WrittenQueue,
)


@dataclass(frozen=True, slots=True)
class _Allowance:
    """What the limits from the root down to one queue leave to one user or group."""

    resources: Amounts
    applications: int


# By "user" or "group" and the name; a queue's own, then those of the parent queues.
_Allowances = ChainMap[tuple[str, str], _Allowance]


def check_limits(partition: WrittenPartition, report: Report) -> None:
    """Report all problems with the limits of a partition and its queues."""
    root = partition.root
    if partition.limits and root.limits and _sent(partition.limits) != _sent(root.limits):
        path = f"{partition.path}.limits"
        report.refuse(path, "differ from the limits of the root queue; write one of the two")
    limits = root.limits or partition.limits
    _check_queue(root, limits, ChainMap(), report)


def _sent(limits: tuple[WrittenLimit, ...]) -> list[tuple[object, ...]]:
    return [
        (
            limit.description,
            [user.name for user in limit.users],
            [group.name for group in limit.groups],
            limit.max_resources or {},
            limit.max_applications,
        )
        for limit in limits
    ]


def _check_queue(
    queue: WrittenQueue, limits: tuple[WrittenLimit, ...], above: _Allowances, report: Report
) -> None:
    _check_names("user", [user for limit in limits for user in limit.users], report)
    groups = [group for limit in limits for group in limit.groups]
    _check_names("group", groups, report)
    if groups and all(group.name == WILDCARD for group in groups):
        problem = "* alone would limit the queue, not a group: name a group before it"
        report.refuse(groups[0].path, problem)
    here = above.new_child() if limits else above
    for limit in limits:
        _check_limit(limit, queue, report)
        here.update(_check_against(limit, above, report))
    for child in queue.queues:
        _check_queue(child, child.limits, here, report)


def _check_names(kind: str, names: list[WrittenName], report: Report) -> None:
    seen: set[str] = set()
    for named in names:
        if named.name in seen:
            report.refuse(named.path, f"{kind} {quoted(named.name)} has a limit here already")
        elif WILDCARD in seen:
            problem = f"{kind} {quoted(named.name)} stands after *, which must be the last"
            report.refuse(named.path, problem)
        seen.add(named.name)


def _check_limit(limit: WrittenLimit, queue: WrittenQueue, report: Report) -> None:
    path = limit.path
    if not limit.users and not limit.groups:
        causes = (f"{path}.users", f"{path}.groups")
        report.refuse_again(path, "a limit must have users or groups", causes)
    resources = limit.max_resources or {}
    if resources and not any(resources.values()):
        report.refuse_again(f"{path}.maxresources", "must not all be 0")
    if not resources and not limit.max_applications:
        causes = (f"{path}.maxresources", f"{path}.maxapplications")
        report.refuse_again(path, "a limit must have maxresources or maxapplications", causes)
    for kind, amount in resources.items():
        most = (queue.max or {}).get(kind)
        if most is not None and amount > most:
            problem = f"{_than(kind, amount, most)} of the queue"
            report.refuse(f"{path}.maxresources.{kind}", problem)
    if queue.max_applications and limit.max_applications > queue.max_applications:
        problem = f"{limit.max_applications} is more than the {queue.max_applications} of the queue"
        report.refuse(f"{path}.maxapplications", problem)


def _check_against(
    limit: WrittenLimit, above: _Allowances, report: Report
) -> dict[tuple[str, str], _Allowance]:
    """Check a limit against those of the parent queues; return what it leaves to each name."""
    names = [("user", user.name) for user in limit.users]
    names += [("group", group.name) for group in limit.groups]
    resources = limit.max_resources or {}
    here: dict[tuple[str, str], _Allowance] = {}
    for kind, name in names:
        same = above.get((kind, name))
        wider = same or above.get((kind, WILDCARD))
        if wider is not None:
            _check_within(limit, wider, f"{kind} {quoted(name)}", report)
        narrowed = resources
        if same is not None:
            narrowed = dict(resources)
            for resource_type, amount in same.resources.items():
                narrowed[resource_type] = min(amount, narrowed.get(resource_type, amount))
        here[kind, name] = _Allowance(narrowed, limit.max_applications)
    return here


def _check_within(limit: WrittenLimit, wider: _Allowance, whom: str, report: Report) -> None:
    for kind, amount in (limit.max_resources or {}).items():
        most = wider.resources.get(kind)
        if most is not None and amount > most:
            problem = f"{_than(kind, amount, most)} a queue above allows {whom}"
            report.refuse(f"{limit.path}.maxresources.{kind}", problem)
    most = wider.applications
    path = f"{limit.path}.maxapplications"
    if most and not limit.max_applications:
        report.refuse_again(path, f"must be set, as a queue above allows {whom} {most}")
    elif most and limit.max_applications > most:
        problem = f"{limit.max_applications} is more than the {most} a queue above allows {whom}"
        report.refuse(path, problem)


def _than(kind: str, amount: int, most: int) -> str:
    return f"{written_quantity(kind, amount)} is more than the {written_quantity(kind, most)}"
