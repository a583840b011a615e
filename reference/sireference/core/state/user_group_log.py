"""Event records of users and groups: limits, applications and usage.

The records exist from 2024-10 on (SI-EVT-014). Their objects are names; limits for `*` have none.
Usage is recorded for every user, and for the group that an application counts for.
"""

from collections.abc import Iterable
from typing import Final

from sireference.configuration.model import Limit
from sireference.core.model import ChangeDetail, ChangeType, RecordType
from sireference.core.resources import Resource
from sireference.core.state.application import Application
from sireference.core.state.event_log import EventLog, Subject
from sireference.core.state.queue import Queue
from sireference.core.state.user_quota import Holder, HolderKind, UserQuota

_WILDCARD: Final = "*"
_LIMIT: Final = {
    HolderKind.USER: ChangeDetail.UG_USER_LIMIT,
    HolderKind.GROUP: ChangeDetail.UG_GROUP_LIMIT,
}
_USAGE: Final = {
    HolderKind.USER: ChangeDetail.UG_USER_RESOURCE,
    HolderKind.GROUP: ChangeDetail.UG_GROUP_RESOURCE,
}


def limits_changed(
    log: EventLog, queue: Queue, before: Iterable[Limit], after: Iterable[Limit]
) -> None:
    """Record changes of the limits of ``queue``."""
    if not log.is_read:
        return
    old, new = _by_holder(before), _by_holder(after)
    for holder, limit in old.items():
        if holder not in new:
            _limit(log, queue, holder, ChangeType.REMOVE, limit)
    for holder, limit in new.items():
        if holder not in old or _allowed(old[holder]) != _allowed(limit):
            _limit(log, queue, holder, ChangeType.SET, limit)


def _by_holder(limits: Iterable[Limit]) -> dict[Holder, Limit]:
    """Return the limit of each user and group, which is the first that names it."""
    by_holder: dict[Holder, Limit] = {}
    for limit in limits:
        named = [Holder(HolderKind.USER, name) for name in limit.users]
        named += [Holder(HolderKind.GROUP, name) for name in limit.groups]
        for holder in named:
            by_holder.setdefault(holder, limit)
    return by_holder


def _allowed(limit: Limit) -> tuple[object, ...]:
    return limit.max_resources, limit.max_applications


def _limit(log: EventLog, queue: Queue, holder: Holder, change: ChangeType, limit: Limit) -> None:
    amounts = limit.max_resources
    resource = None if amounts is None else Resource(amounts)
    message = "limited" if change is ChangeType.SET else "not limited any more"
    detail = _LIMIT[holder.kind]
    _write(log, holder, change, (detail, message), other=queue.name, resource=resource)


def group_of(application: Application) -> Holder | None:
    """Return the group that ``application`` counts for, if any."""
    for quota in application.quotas:
        if isinstance(quota, UserQuota) and quota.holder.kind is HolderKind.GROUP:
            return quota.holder
    return None


def linked(log: EventLog, application: Application) -> None:
    """Record that ``application`` counts for its group from now on."""
    _link(log, application, ChangeType.SET, "an application counts for it")


def unlinked(log: EventLog, application: Application) -> None:
    """Record that ``application`` no longer counts for its group."""
    _link(log, application, ChangeType.REMOVE, "an application does not count for it any more")


def _link(log: EventLog, application: Application, change: ChangeType, message: str) -> None:
    group = group_of(application) if log.is_read else None
    if group is not None:
        what = ChangeDetail.UG_APP_LINK, message
        _write(log, group, change, what, other=application.application_id)


def group_changed(log: EventLog, application: Application, before: Holder | None) -> None:
    """Record that ``application``, with all its usage, may count for another group."""
    after = group_of(application)
    if not log.is_read or before == after:
        return
    for group, change in ((before, ChangeType.REMOVE), (after, ChangeType.SET)):
        if group is None:
            continue
        what = ChangeDetail.UG_APP_LINK, "the limits of groups have changed"
        _write(log, group, change, what, other=application.application_id)
        comes = ChangeType.ADD if change is ChangeType.SET else change
        _usage(log, application, group, comes, application.used)


def used(log: EventLog, application: Application, change: ChangeType, amount: Resource) -> None:
    """Record that user and group of ``application`` use ``amount`` more (ADD) or less (REMOVE)."""
    if log.is_read:
        user = Holder(HolderKind.USER, application.submitted.user)
        _usage(log, application, user, change, amount)
        group = group_of(application)
        if group is not None:
            _usage(log, application, group, change, amount)


def usage_changed(
    log: EventLog, application: Application, before: Resource, after: Resource
) -> None:
    """Record that an allocation of ``application`` changed from ``before`` to ``after``."""
    used(log, application, ChangeType.REMOVE, _more(before, after))
    used(log, application, ChangeType.ADD, _more(after, before))


def _more(one: Resource, other: Resource) -> Resource:
    """Return by how much ``one`` exceeds ``other``, for the types where it does."""
    left = one - other
    return Resource({name: amount for name, amount in left.amounts.items() if amount > 0})


def _usage(
    log: EventLog, application: Application, holder: Holder, change: ChangeType, amount: Resource
) -> None:
    if not amount.is_zero():
        message = "uses more" if change is ChangeType.ADD else "uses less"
        what = _USAGE[holder.kind], message
        _write(log, holder, change, what, other=application.leaf.name, resource=amount)


def _write(
    log: EventLog,
    holder: Holder,
    change: ChangeType,
    what: tuple[ChangeDetail, str],
    *,
    other: str,
    resource: Resource | None = None,
) -> None:
    """Write one record; ``other`` is the queue or application that is also concerned."""
    if holder.name not in ("", _WILDCARD):
        about = Subject(RecordType.USERGROUP, holder.name)
        log.write(about, change, *what, reference_id=other, resource=resource)
