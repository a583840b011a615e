"""Running slots: applications wait while as many applications run as a queue or limit allows.

A queue may limit the applications that run in it and below, and so may the limits of users and
groups (`maxapplications`). An application that does not run yet waits for a slot in each of them.
The RM is notified once when the wait begins, and once when it ends (SI-EVT-015).
"""

from typing import Any

from sireference.core.state.application import Application
from sireference.core.state.partition import Partition
from sireference.core.state.slots_lacked import LACKS_NOTHING, SlotsLacked
from sireference.core.state.user_quota import UserQuota
from sireference.core.state.wait_queue import WaitQueue


def closed_gate(application: Application) -> WaitQueue[Any] | None:
    """Return the quota with no free slot that an application waits for, None if there is none."""
    if application.is_counted:
        return None
    return next((quota.slots_taken for quota in application.quotas if not quota.has_slot()), None)


def notice(partition: Partition, application: Application) -> None:
    """Report a change in the slots that ``application`` lacks."""
    log = partition.event_log
    if not log.is_read or (application.is_counted and not partition.slots_lacked):
        return
    before = partition.slots_lacked.pop(application, LACKS_NOTHING)
    now = _lacked_by(application)
    if now != LACKS_NOTHING:
        partition.slots_lacked[application] = now
    if now != before:
        log.slots(application, before, now)


def _lacked_by(application: Application) -> SlotsLacked:
    if application.is_counted:
        return LACKS_NOTHING
    lacked = [quota for quota in application.quotas if not quota.has_slot()]
    of_user = sum(isinstance(quota, UserQuota) for quota in lacked)
    return SlotsLacked(of_queue=len(lacked) > of_user, of_user=of_user > 0)
