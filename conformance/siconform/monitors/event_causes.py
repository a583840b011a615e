"""Rules about the causes of event records: a record never comes before what it reports.

Records and answers come on different streams. So a record is only compared with what the RM has
sent by then, which every effect follows, and with answers that rule it out for good.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from siconform.monitors.content_types import REGISTRATION
from siconform.monitors.event_objects import Application, Node, Objects, Request
from siconform.monitors.monitor import EntryFinding, Evaluator, Monitor
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import Placed, Updated
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.events import Detail, EventChange, EventReceived, Subject
from siconform.protocol.matchers import agree
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    Released,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.recording.history import Content, Entry

_STARTS: Final = (Detail.APP_STARTING, Detail.APP_RUNNING)
_STATES: Final = (
    *(Detail.APP_ACCEPTED, *_STARTS, Detail.APP_COMPLETING, Detail.APP_COMPLETED),
    Detail.APP_RESUMING,
)
_USAGE: Final = (Detail.USER_USAGE, Detail.GROUP_USAGE)
_LIMITS_OF_NAMESPACE: Final = "namespace.resource"  # how the tags begin that set limits

_Verdict = tuple[str, str]  # the rule, and the violation or ""


def changes_of_nodes_fit_their_detail() -> Evaluator:
    """The end of a node is reported as removed, its capacity not before its end."""
    return _CAUSES.rule("changes_of_nodes_fit_their_detail")


def application_records_fit_the_verdict() -> Evaluator:
    """Records of a rejection are of rejected applications, those of states are of others."""
    return _CAUSES.rule("application_records_fit_the_verdict")


def application_records_follow_the_states() -> Evaluator:
    """No application runs before it asked, and none resumes that is not a gang."""
    return _CAUSES.rule("application_records_follow_the_states")


def records_of_ends_show_their_cause() -> Evaluator:
    """An end by the RM, by timeout, with the node or by replacement is reported only if it was."""
    return _CAUSES.rule("records_of_ends_show_their_cause")


def records_of_removed_nodes_follow_the_decommission() -> Evaluator:
    """No node is reported as removed before the RM decommissions it."""
    return _CAUSES.rule("records_of_removed_nodes_follow_the_decommission")


def records_name_the_second_object_and_the_amount() -> Evaluator:
    """An allocation on a node is named, and a changed capacity is one that the RM sent."""
    return _CAUSES.rule("records_name_the_second_object_and_the_amount")


def records_of_requests_and_allocations_follow_an_ask() -> Evaluator:
    """No request or allocation of an application is reported before the RM has sent one."""
    return _CAUSES.rule("records_of_requests_and_allocations_follow_an_ask")


def records_of_users_are_about_applications() -> Evaluator:
    """A link names an application, and usage is that of an application's user, with an amount."""
    return _CAUSES.rule("records_of_users_are_about_applications")


def quota_preemption_follows_a_new_configuration() -> Evaluator:
    """The enforcement of a quota is a record of a queue, and follows a change of the limits."""
    return _CAUSES.rule("quota_preemption_follows_a_new_configuration")


class _Causes:
    def __init__(self) -> None:
        self._objects = Objects()
        self._is_complete = False  # whether the registration was seen
        self._users: set[str] | None = None  # None if one was not named
        self._may_enforce = True  # whether limits changed, or existing allocations may exceed them

    def __call__(self, entry: Entry) -> Findings:
        match entry.content:
            case EventReceived() as event:
                found: dict[str, EntryFinding] = {}
                for rule, finding in self._evaluated(event):
                    found[rule] = found.get(rule) or finding
                return found
            case RegistrationAnswered(status="OK") if not self._is_complete:
                self._is_complete, self._users, self._may_enforce = True, set(), False
            case ConfigurationSent():
                self._may_enforce = True
            case ApplicationRequest(user=user):
                if not user:
                    self._users = None
                elif self._users is not None:
                    self._users.add(user)
        self._may_enforce |= bool(recovered_in(entry.content)) or _may_lower(entry.content)
        self._objects.observe(entry)
        return NO_FINDINGS

    def _evaluated(self, event: EventReceived) -> Iterator[_Verdict]:
        node = self._objects.nodes.get(event.about)
        if event.subject is Subject.NODE and node is not None:
            yield from _of_node(event, node)
        application = self._objects.applications.get(event.about)
        if event.subject is Subject.APPLICATION and application is not None:
            yield from self._of_application(event, application)
        names = [event.about, event.reference]
        if event.detail is Detail.ALLOC_REPLACED:  # the other may be what replaced it
            names.sort(key=self._is_real)
        request = self._objects.request(*names)
        if request is not None:
            yield from self._of_end(event, request)
        if event.subject is Subject.USERS:
            yield from self._of_users(event)
        if event.detail is Detail.QUEUE_PREEMPTION:
            is_right = event.subject is Subject.QUEUE and self._may_enforce
            message = f"{event.about} is reported as {event.detail.value} without a new limit"
            yield "quota_preemption_follows_a_new_configuration", "" if is_right else message

    def _is_real(self, name: str) -> bool:
        request = self._objects.request(name)
        return request is not None and not request.placeholder

    def _of_application(self, event: EventReceived, of: Application) -> Iterator[_Verdict]:
        name, detail = event.about, event.detail
        if not of.added_again and not of.open:
            rule = "application_records_fit_the_verdict"
            if detail is Detail.APP_REJECT:
                wrong = "" if of.rejected else f"{name} is reported as rejected, but was accepted"
                yield rule, wrong
            elif detail in _STATES:
                was = f"{name} is reported as {detail.value}, but was rejected"
                yield rule, was if of.rejected else ""
        if detail in (Detail.APP_ALLOC, Detail.APP_REQUEST):
            early = f"{detail.value} is reported of {name}, which asked for nothing"
            rule = "records_of_requests_and_allocations_follow_an_ask"
            yield rule, "" if of.asked else early
        if detail in _STATES and not of.added_again:
            rule = "application_records_follow_the_states"
            wrong = f"{name} is reported as {detail.value}, but "
            if detail is Detail.APP_RESUMING:
                yield rule, "" if of.gang else f"{wrong}is not a gang"
            elif detail in _STARTS:
                yield rule, "" if of.asked else f"{wrong}asked for nothing"

    def _of_end(self, event: EventReceived, of: Request) -> Iterator[_Verdict]:
        application = self._objects.applications.get(of.application)
        if application is None:
            return
        detail = event.detail
        timeless = not (of.may_time_out or application.has_timeout or application.gang)
        removed = self._objects.any_removed
        if of.node:
            node = self._objects.nodes.get(of.node)
            removed = node is None or node.removed
        wrong: Mapping[Detail, bool] = {
            Detail.REQUEST_CANCEL: not (of.cancelled or application.removed),
            Detail.ALLOC_CANCEL: not (of.cancelled or application.removed),
            Detail.REQUEST_TIMEOUT: timeless and bool(of.node),  # what waits may be given up
            Detail.ALLOC_TIMEOUT: timeless,
            Detail.ALLOC_REPLACED: not of.placeholder,
            Detail.ALLOC_NODE_REMOVED: not removed,
        }
        if detail in wrong:
            message = (
                f"detail {detail.value} of {event.about} ({event.reference}) without the cause"
            )
            yield "records_of_ends_show_their_cause", message if wrong[detail] else ""

    def _of_users(self, event: EventReceived) -> Iterator[_Verdict]:
        rule = "records_of_users_are_about_applications"
        if event.detail is Detail.GROUP_LINK and self._is_complete:
            applications = self._objects.applications
            named = any(map(applications.may_exist, (event.about, event.reference)))
            yield rule, "" if named else f"the link of {event.about} names no application"
        elif event.detail is Detail.USER_USAGE and self._users is not None:
            is_user = event.about in self._users
            yield rule, "" if is_user else f"usage of {event.about}, the user of no application"
        if event.detail in _USAGE and event.change is EventChange.ADD:
            missing = not any((event.resource or {}).values())
            yield rule, f"added usage of {event.about} without an amount" if missing else ""


def _may_lower(content: Content) -> bool:
    """Return whether this may leave a queue with more than its limit."""
    match content:
        case Updated():
            return True
        case ApplicationRequest(tags=tags):
            return any(tag.startswith(_LIMITS_OF_NAMESPACE) for tag in tags)
        case _:
            return False


def _of_node(event: EventReceived, node: Node) -> Iterator[_Verdict]:
    name, change = event.about, event.change.value
    if event.detail is Detail.NODE_DECOMMISSION:
        rule = "records_of_removed_nodes_follow_the_decommission"
        yield rule, "" if node.removed else f"{name} is reported as removed, but was not"
        is_right = event.change is EventChange.REMOVE
        wrong = f"the end of {name} is reported as {change}"
        yield "changes_of_nodes_fit_their_detail", "" if is_right else wrong
    elif event.detail is Detail.NODE_CAPACITY:
        goes = event.change is EventChange.REMOVE and not node.removed
        wrong = f"the capacity of {name} is reported as {change}"
        yield "changes_of_nodes_fit_their_detail", wrong if goes else ""
        if event.change is EventChange.SET:
            amount = event.resource or {}
            is_sent = any(agree(sent, amount) for sent in node.amounts)
            never = f"the capacity of {name} is reported as {amount}, which the RM never sent"
            yield "records_name_the_second_object_and_the_amount", "" if is_sent else never
    elif event.detail is Detail.NODE_ALLOC:
        missing = f"an allocation on {name} is reported without naming it"
        named = bool(event.reference)
        yield "records_name_the_second_object_and_the_amount", "" if named else missing


_CAUSES: Final = SharedAnalysis(_Causes)
_OBSERVED: Final = (
    *(NodeRequest, ApplicationRequest, ApplicationRemoval, ApplicationAccepted),
    *(ApplicationRejected, AskRequest, Updated, AskReleaseRequest, ReleaseRequest),
    *(ExistingAllocationRequest, Placed, Allocated, Released, ConfigurationSent, EventReceived),
    *REGISTRATION,
)
_FINDS: Final = (EventReceived,)

_CauseMonitor = partial(Monitor, observes=_FINDS, outlives_registrations=True, about_new_names=True)

MONITORS: Final = (
    Monitor(
        changes_of_nodes_fit_their_detail,
        ("SI-EVT-005",),
        observes=_OBSERVED,
        outlives_registrations=True,
        about_new_names=True,
    ),
    _CauseMonitor(application_records_fit_the_verdict, ("SI-EVT-007",)),
    _CauseMonitor(application_records_follow_the_states, ("SI-EVT-007",)),
    _CauseMonitor(records_of_ends_show_their_cause, ("SI-EVT-008",)),
    _CauseMonitor(records_of_removed_nodes_follow_the_decommission, ("SI-EVT-009",)),
    _CauseMonitor(records_name_the_second_object_and_the_amount, ("SI-EVT-011",)),
    _CauseMonitor(records_of_requests_and_allocations_follow_an_ask, ("SI-EVT-012",)),
    _CauseMonitor(records_of_users_are_about_applications, ("SI-EVT-014",)),
    _CauseMonitor(quota_preemption_follows_a_new_configuration, ("SI-EVT-016",)),
)
