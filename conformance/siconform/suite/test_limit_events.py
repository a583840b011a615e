"""Events about limits of users and groups, applications waiting for a slot, and quotas (SI-EVT).

They are optional (SI-EVT-013); those sent are checked. The change type of a limit or a usage is not
specified, except that an addition is not reported as a removal, nor the reverse.
"""

from collections.abc import Sequence

import pytest

from siconform.catalogue.features import Feature
from siconform.marks import requirement, waits
from siconform.protocol.events import WAITING_TURNS, Detail, EventChange, EventReceived, Subject
from siconform.protocol.matchers import OneOf
from siconform.protocol.notifications import Released, Termination
from siconform.protocol.queue_configurations import queue_with_limits, queues_with_enforced_quotas
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.unregistered_rm import UnregisteredRM

pytestmark = waits  # events come in batches; the last one takes a while

USER_DETAILS = [Detail.USER_LIMIT, Detail.USER_USAGE]
GROUP_DETAILS = [Detail.GROUP_LIMIT, Detail.GROUP_USAGE, Detail.GROUP_LINK]
USAGE = [Detail.USER_USAGE, Detail.GROUP_USAGE]
OF_THE_QUEUE = [Detail.APP_CANNOT_RUN_QUEUE, Detail.APP_RUNNABLE_QUEUE]
OF_THE_OWNER = [Detail.APP_CANNOT_RUN_QUOTA, Detail.APP_RUNNABLE_QUOTA]


def with_details(events: Sequence[EventReceived], *details: Detail) -> list[EventReceived]:
    """Return those with one of these details."""
    return [event for event in events if event.detail in details]


def about(name: str, events: Sequence[EventReceived]) -> list[EventReceived]:
    """Return those about the user or group of this name."""
    return [event for event in events if event.about == name]


@requirement("SI-EVT-014")
def test_a_limit_is_reported_of_the_user_or_the_group_that_has_it(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    user, group = rm.new_name("user"), rm.new_name("group")
    rm.has_registered(config=queue_with_limits("shared"))
    rm.observes_events()
    rm.events_so_far()

    rm.has_been_reconfigured_with(
        "limits of users",
        queue_with_limits(
            "shared",
            {"users": [user], "maxresources": {"memory": 5}},
            {"groups": [group], "maxresources": {"memory": 7}},
        ),
    )
    limited = rm.events_of_this_step(OneOf([user, group]), Subject.USERS)
    rm.has_been_reconfigured(queue_with_limits("shared"))
    freed = rm.events_of_this_step(OneOf([user, group]), Subject.USERS)

    rm.presupposes_some([*limited, *freed], "the limits of users and groups")
    for who, detail in ((user, Detail.USER_LIMIT), (group, Detail.GROUP_LIMIT)):
        rm.only_reports(about(who, [*limited, *freed]), detail)
    rm.never_reports(limited, EventChange.REMOVE)
    rm.never_reports(freed, EventChange.ADD)


@requirement("SI-EVT-014")
def test_usage_and_links_are_reported_of_the_owner_of_an_application(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    user, group = rm.new_name("user"), rm.new_name("group")
    limits = (
        {"users": [user], "maxresources": {"memory": 50}},
        {"groups": [group], "maxresources": {"memory": 50}},
    )
    rm.has_registered_with_limits(queue_with_limits("shared", *limits))
    rm.observes_events()
    rm.has_node()

    owner = OneOf([user, group])
    app = rm.has_application(queue="root.shared", user=user, groups=(group,))
    joined = rm.events_of_this_step(owner, Subject.USERS)
    allocation = rm.has_allocation(app, memory=3)
    came = rm.events_of_this_step(owner, Subject.USERS)
    rm.releases(allocation)
    rm.expect(Released(identity=allocation.identity))
    released = rm.events_of_this_step(owner, Subject.USERS)
    rm.removes_application(app)
    removed = rm.events_of_this_step(owner, Subject.USERS)

    everything = [*joined, *came, *released, *removed]
    rm.presupposes_some(with_details(everything, *USAGE, Detail.GROUP_LINK), "users and groups")
    rm.only_reports(about(user, everything), *USER_DETAILS)
    rm.only_reports(about(group, everything), *GROUP_DETAILS)
    for link in with_details(everything, Detail.GROUP_LINK):
        rm.agrees(link, EventReceived(reference=app))
    rm.never_reports(with_details([*joined, *came], *USAGE, Detail.GROUP_LINK), EventChange.REMOVE)
    rm.never_reports(with_details(released, *USAGE), EventChange.ADD)
    rm.never_reports(with_details(removed, Detail.GROUP_LINK), EventChange.ADD)
    # Unspecified: whether the amount is the change, with or without its sign, or the total.
    less = {name: -amount for name, amount in allocation.resource.items()}
    rm.reports_amounts(with_details(came, *USAGE), allocation.resource)
    rm.reports_amounts(with_details(released, *USAGE), allocation.resource, less, {})


@requirement("SI-EVT-015")
def test_waiting_for_a_slot_of_the_queue_is_reported_of_who_waits(rm: ResourceManager) -> None:
    rm.needs(Feature.APPLICATION_LIMIT)
    rm.observes_events()
    rm.has_node()
    first = rm.has_application(queue="root.single")
    rm.has_allocation(first)
    second = rm.has_application_held_back(queue="root.single")
    waiting = rm.events_of_this_step(second.application, Subject.APPLICATION)

    rm.removes_application(first)
    rm.is_let_in(second, after=rm.deadlines.place)

    let_in = rm.events_of_this_step(second.application, Subject.APPLICATION)
    never = rm.events_of_this_step(first, Subject.APPLICATION)
    rm.presupposes_some(with_details([*waiting, *let_in], *WAITING_TURNS), "a slot of the queue")
    rm.does_not_report(never, *WAITING_TURNS)
    rm.does_not_report([*waiting, *let_in], *OF_THE_OWNER)
    rm.does_not_report(waiting, Detail.APP_RUNNABLE_QUEUE)
    rm.reports_nothing_after(let_in, Detail.APP_RUNNABLE_QUEUE, Detail.APP_CANNOT_RUN_QUEUE)


@pytest.mark.parametrize("whose", ["users", "groups"])
@requirement("SI-EVT-015")
def test_waiting_for_a_slot_of_the_owner_is_reported_of_who_waits(
    unregistered_rm: UnregisteredRM, whose: str
) -> None:
    rm = unregistered_rm
    rm.needs(Feature.APPLICATION_LIMIT)
    user, group = rm.new_name("user"), rm.new_name("group")
    limit = {whose: [user if whose == "users" else group], "maxapplications": 1}
    rm.has_registered_with_limits(queue_with_limits("shared", limit))
    rm.observes_events()
    rm.has_node()
    first = rm.has_application(queue="root.shared", user=user, groups=(group,))
    rm.has_allocation(first)
    second = rm.has_application_held_back(queue="root.shared", user=user, groups=(group,))
    waiting = rm.events_of_this_step(second.application, Subject.APPLICATION)

    rm.removes_application(first)
    rm.is_let_in(second, after=rm.deadlines.place)

    let_in = rm.events_of_this_step(second.application, Subject.APPLICATION)
    never = rm.events_of_this_step(first, Subject.APPLICATION)
    rm.presupposes_some(
        with_details([*waiting, *let_in], *WAITING_TURNS), "a slot of a user or group"
    )
    rm.does_not_report(never, *WAITING_TURNS)
    rm.does_not_report([*waiting, *let_in], *OF_THE_QUEUE)
    rm.does_not_report(waiting, Detail.APP_RUNNABLE_QUOTA)
    rm.reports_nothing_after(let_in, Detail.APP_RUNNABLE_QUOTA, Detail.APP_CANNOT_RUN_QUOTA)


@requirement("SI-EVT-016")
def test_quota_preemption_is_reported_of_the_queue_whose_maximum_was_lowered(
    unregistered_rm: UnregisteredRM,
) -> None:
    rm = unregistered_rm
    rm.has_registered(config=queues_with_enforced_quotas(2, lowered=10, kept=10))
    rm.observes_events()
    rm.has_node(memory=100)
    app = rm.has_application(queue="root.lowered")
    for _ in range(5):
        rm.has_allocation(app, memory=2)
    rm.has_allocation(rm.has_application(queue="root.kept"), memory=10)
    before = rm.events_so_far()

    rm.has_been_reconfigured(queues_with_enforced_quotas(2, lowered=5, kept=10))
    preempted = Released(application=app, termination=Termination.PREEMPTED_BY_SCHEDULER)
    rm.receive_if_any(preempted, window=rm.deadlines.place)
    rm.settles()

    received = with_details(rm.events_so_far(), Detail.QUEUE_PREEMPTION)
    rm.presupposes_some(received, "quota preemption")
    rm.does_not_report(before, Detail.QUEUE_PREEMPTION)
    for event in received:
        rm.agrees(event, EventReceived("root.lowered", Subject.QUEUE))
