"""Limits of users and groups: the quotas an application counts against in addition to its queues.

A user has a separate quota in each queue that limits it by name or by `*`. A group has one quota
shared by its members. An application counts for one group only, the first that a queue limits, from
its leaf up to the root; within a queue the order of the limits decides.
Source: yunikorn-core 1.5 ``scheduler/ugm``.
"""

from collections.abc import Collection, Iterable
from functools import partial
from typing import Final

from sireference.configuration.model import Limit
from sireference.core.state import user_group_log
from sireference.core.state.application import Application
from sireference.core.state.partition import Partition
from sireference.core.state.queue import Queue
from sireference.core.state.quota import Quota, Quotas
from sireference.core.state.user_quota import Holder, HolderKind, UserQuota
from sireference.core.states import TerminationType

_WILDCARD: Final = "*"


def join(leaf: Queue, user: str, groups: Collection[str]) -> Quotas:
    """Return the quotas that an application of ``user`` in ``leaf`` counts against, leaf first."""
    group = _group(leaf, groups)
    user_quotas: list[Quota] = []
    for queue in leaf.path:
        of_user = _limit(queue, user=user) or _limit(queue, user=_WILDCARD)
        if of_user is not None:
            user_quotas.append(_user_quota(queue, Holder(HolderKind.USER, user), of_user))
        of_group = None if group is None else _limit(queue, group=group)
        if of_group is not None and group is not None:
            user_quotas.append(_user_quota(queue, Holder(HolderKind.GROUP, group), of_group))
    return Quotas((*leaf.path, *user_quotas))


def leave(quotas: Iterable[Quota]) -> None:
    """Stop counting an application against ``quotas``."""
    for quota in quotas:
        if isinstance(quota, UserQuota):
            quota.leave()


def renew(partition: Partition) -> None:
    """Recompute the quotas of all applications after a change of limits."""
    for queue in partition.root.all():
        queue.forget_user_quotas()
    for application in partition.applications.values():
        new, group = application.submitted, user_group_log.group_of(application)
        application.quotas = join(application.leaf, new.user, new.member_of)
        user_group_log.group_changed(partition.event_log, application, group)
        for user_quota in _user_quotas(application):
            user_quota.book(application.used)
            if application.is_counted:
                user_quota.application_runs()
        for allocation in partition.allocations.of(application).values():
            if allocation.open_release is TerminationType.PREEMPTED_BY_SCHEDULER:
                for user_quota in _user_quotas(application):
                    user_quota.yielding += allocation.record.ask.resource
    for preemption in partition.preemptions.open:
        for user_quota in _user_quotas(preemption.pending.application):
            user_quota.reserve(preemption.pending.ask.resource)


def _user_quotas(application: Application) -> list[UserQuota]:
    return [quota for quota in application.quotas if isinstance(quota, UserQuota)]


def _group(leaf: Queue, groups: Collection[str]) -> str | None:
    """Return the group that the application counts for, `*` for groups without their own limit."""
    for queue in leaf.path:
        for limit in queue.config.limits:
            for group in limit.groups:
                if group in groups or group == _WILDCARD:  # which comes last
                    return group
    return None


def _limit(queue: Queue, *, user: str | None = None, group: str | None = None) -> Limit | None:
    """Return the limit of ``queue`` that names ``user`` or ``group``."""
    for limit in queue.config.limits:
        if user in limit.users or group in limit.groups:
            return limit
    return None


def _user_quota(queue: Queue, holder: Holder, limit: Limit) -> UserQuota:
    user_quotas = queue.user_quotas
    if holder not in user_quotas:
        unused = partial(user_quotas.__delitem__, holder)
        user_quotas[holder] = UserQuota(holder, limit, unused)
    user_quotas[holder].join()
    return user_quotas[holder]
