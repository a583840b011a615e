"""Rules about the verdicts on applications: which have to be accepted, and which rejected."""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.certainty import Certainty
from siconform.monitors.cluster import FORCED, PARTITION, Cluster
from siconform.monitors.content_types import CERTAINTY, REGISTRATION
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    of_each,
    violated_if,
)
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.application_states import COMPLETED, FAILED
from siconform.protocol.configuration import ConfigurationSent
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import ApplicationRemoval, ApplicationRequest
from siconform.recording.history import Entry

_MOST_SHAPES: Final = 1000  # of accepted applications that are remembered


def new_applications_are_accepted() -> Evaluator:
    """An application with an unused ID for a usable queue is not rejected."""
    return _VERDICTS.rule("new_applications_are_accepted")


def applications_need_no_groups() -> Evaluator:
    """An application is not rejected because its user comes without groups."""
    return _VERDICTS.rule("applications_need_no_groups")


def unknown_application_tags_do_not_hurt() -> Evaluator:
    """An application is not rejected because of tags without a meaning."""
    return _VERDICTS.rule("unknown_application_tags_do_not_hurt")


def applications_without_queue_are_rejected() -> Evaluator:
    """An application to which the policy offers no queue is not accepted."""
    return _VERDICTS.rule("applications_without_queue_are_rejected")


def applications_of_unknown_partitions_are_rejected() -> Evaluator:
    """An application for a partition that is not configured is not accepted."""
    return _VERDICTS.rule("applications_of_unknown_partitions_are_rejected")


def forced_applications_are_accepted() -> Evaluator:
    """A new application with the forced-creation tag is not rejected."""
    return _VERDICTS.rule("forced_applications_are_accepted")


def removed_applications_can_be_added_again() -> Evaluator:
    """An application that certainly was removed is not rejected when it is added as before."""
    return _VERDICTS.rule("removed_applications_can_be_added_again")


def completed_applications_can_be_added_again() -> Evaluator:
    """An application that was reported completed is not rejected when it is added as before."""
    return _VERDICTS.rule("completed_applications_can_be_added_again")


def failed_applications_can_be_added_again() -> Evaluator:
    """An application that was reported failed is not rejected when it is added as before."""
    return _VERDICTS.rule("failed_applications_can_be_added_again")


@dataclass(slots=True)
class _Addition:
    request: ApplicationRequest
    is_first: bool  # whether its ID was never used
    again: str = ""  # the rule for one that is over


@dataclass(slots=True)
class _Application:
    open: list[_Addition] = field(default_factory=list)
    accepted: ApplicationRequest | None = None
    over: str = ""  # the rule for its next addition


class _Verdicts:
    def __init__(self) -> None:
        self._cluster = Cluster()
        self._is_complete = False
        self._late: set[str] = set()  # whose verdicts from before a registration may still come
        self._known: dict[str, _Application] = {}
        self._removed: Certainty[str] = Certainty()
        self._shapes: dict[tuple[object, ...], None] = {}  # of accepted applications

    def __call__(self, entry: Entry) -> Findings:
        for name in self._removed.observe(entry):
            self._is_over(name, "removed_applications_can_be_added_again")
        return NO_FINDINGS if entry.barrier else self._observe(entry)

    def _observe(self, entry: Entry) -> Findings:
        self._cluster.observe(entry)
        match entry.content:
            case RegistrationAnswered(status="OK"):
                self._registers()
            case ApplicationRequest() as request:
                self._adds(request)
            case ApplicationRemoval() as removal:
                self._removes(removal)
            case ApplicationUpdated(application=name, state=state) if COMPLETED.accepts(state):
                self._is_over(name, "completed_applications_can_be_added_again")
            case ApplicationUpdated(application=name, state=state) if FAILED.accepts(state):
                self._is_over(name, "failed_applications_can_be_added_again")
            case ApplicationAccepted(application=name) if name in self._known:
                return self._accepts(self._known[name])
            case ApplicationRejected(application=name) if name in self._known:
                return self._rejects(self._known[name])
        return NO_FINDINGS

    def _registers(self) -> None:
        self._is_complete = True
        self._late |= self._known.keys()
        self._known.clear()
        self._removed.forgets(lambda _: True)

    def _adds(self, request: ApplicationRequest) -> None:
        name = request.application
        if name in self._late:
            return
        is_first = self._is_complete and name not in self._known
        known = self._known.setdefault(name, _Application())
        is_as_before = request == known.accepted and not known.open
        known.open.append(_Addition(request, is_first, known.over if is_as_before else ""))
        known.over = ""
        self._removed.forgets(lambda removed: removed == name)

    def _removes(self, removal: ApplicationRemoval) -> None:
        known = self._known.get(removal.application)
        accepted = known.accepted if known else None
        if accepted is not None and accepted.partition == removal.partition:
            self._removed.send(removal.application, UpdateKind.APPLICATIONS)

    def _is_over(self, name: str, rule: str) -> None:
        known = self._known.get(name)
        if known is not None and known.accepted is not None and not known.open:
            known.over = known.over or rule

    def _accepts(self, known: _Application) -> Findings:
        if not known.open:
            return NO_FINDINGS
        addition = known.open.pop(0)
        request = known.accepted = addition.request
        if len(self._shapes) < _MOST_SHAPES:
            self._shapes[_shape(request)] = None
        name = request.application
        found: dict[str, EntryFinding] = {}
        if addition.again:
            found[addition.again] = ""
        if self._cluster.lacks_queue_for(request):
            found["applications_without_queue_are_rejected"] = (
                f"{name} was accepted for {request.queue}, which does not exist"
            )
        if self._cluster.lacks_partition(request.partition):
            found["applications_of_unknown_partitions_are_rejected"] = (
                f"{name} was accepted for the partition {request.partition}, which does not exist"
            )
        return found | dict.fromkeys(self._acceptable(addition), "")

    def _rejects(self, known: _Application) -> Findings:
        if not known.open:
            return NO_FINDINGS
        addition = known.open.pop(0)
        request, is_alone = addition.request, not known.open
        name = request.application
        found: dict[str, EntryFinding] = {}
        if self._cluster.lacks_queue_for(request):
            found["applications_without_queue_are_rejected"] = ""
        if self._cluster.lacks_partition(request.partition):
            found["applications_of_unknown_partitions_are_rejected"] = ""
        if is_alone:
            message = f"the new application {name} was rejected"
            found |= dict.fromkeys(self._acceptable(addition), message)
            if addition.again and self._cluster.has_place_for(request):
                found[addition.again] = f"{name}, which was over, was rejected when added again"
        return found

    def _acceptable(self, addition: _Addition) -> list[str]:
        """Return the rules by which a new application has to be accepted."""
        request = addition.request
        if not addition.is_first:
            return []
        rules = []
        if self._cluster.has_place_for(request) and not request.placeholder_ask:
            rules.append("new_applications_are_accepted")
            if not request.groups and self._accepts_with(request, "groups"):
                rules.append("applications_need_no_groups")
            untagged = _shape(replace(request, tags={}))
            has_meaning = any(_has_meaning(tag) for tag in request.tags)
            if request.tags and not has_meaning and untagged in self._shapes:
                rules.append("unknown_application_tags_do_not_hurt")
        if self._cluster.is_known and _is_forced(request):
            rules.append("forced_applications_are_accepted")
        return rules

    def _accepts_with(self, request: ApplicationRequest, name: str) -> bool:
        """Return whether one was accepted that differs in nothing but this field."""
        position = _FIELDS.index(name)
        shape = _shape(request)
        return any(
            other[position]
            and other[:position] == shape[:position]
            and other[position + 1 :] == shape[position + 1 :]
            for other in self._shapes
        )


_FIELDS: Final = ("queue", "partition", "user", "groups", "timeout_ms", "gang_style", "tags")


def _shape(request: ApplicationRequest) -> tuple[object, ...]:
    """Return everything that may matter for a verdict, without the ID."""
    *plain, _ = _FIELDS
    return (*(getattr(request, name) for name in plain), frozenset(request.tags.items()))


def _has_meaning(tag: str) -> bool:
    return tag.startswith(("namespace", "application.", "creationTime", "yunikorn"))


def _is_forced(request: ApplicationRequest) -> bool:
    return (
        request.tags.get(FORCED) == "true"
        and request.partition == PARTITION
        and bool(request.application and request.user)
        and not request.placeholder_ask
    )


def rejected_applications_get_nothing() -> Evaluator:
    """Nothing is allocated to an application of which every addition was rejected.

    Without the registration it is unknown which applications exist.
    """
    is_complete = False
    open_additions: Counter[str] = Counter()
    accepted: set[str] = set()
    rejected: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_complete
        if entry.barrier:
            return NOTHING_TO_EVALUATE
        match entry.content:
            case RegistrationAnswered(status="OK"):
                is_complete = True
            case ApplicationRequest(application=name):
                open_additions[name] += 1
                rejected.discard(name)
            case ApplicationAccepted(application=name):
                accepted.add(name)
            case ApplicationRejected(application=name) if is_complete and name in open_additions:
                open_additions[name] -= 1
                if open_additions[name] == 0 and name and name not in accepted:
                    rejected.add(name)
                    return ""
            case Allocated(application=name, identity=identity) if name in rejected:
                return f"allocation {identity} is for {name}, which was rejected"
        return NOTHING_TO_EVALUATE

    return evaluate


def rejections_of_applications_give_a_reason() -> Evaluator:
    """The rejection of an application has a reason that is not empty."""

    def evaluation(rejection: ApplicationRejected) -> str:
        missing = not rejection.reason.strip()
        return violated_if(missing, f"rejection of {rejection.application} gives no reason")

    return of_each(ApplicationRejected, evaluation)


_VERDICTS: Final = SharedAnalysis(_Verdicts)
_APPLICATIONS: Final = (
    *(ApplicationRequest, ApplicationAccepted, ApplicationRejected),
    *(Allocated, RegistrationAnswered),
)
_OBSERVED: Final = (
    *(ApplicationRequest, ApplicationRemoval, ApplicationAccepted, ApplicationRejected),
    *(ApplicationUpdated, ConfigurationSent, *REGISTRATION, *CERTAINTY),
)
_FINDS: Final = (ApplicationAccepted, ApplicationRejected)

_NewNameMonitor = partial(
    Monitor,
    observes=_FINDS,
    outlives_registrations=True,
    presupposes=Feature.QUEUES,
    about_new_names=True,
)

MONITORS: Final = (
    Monitor(
        applications_without_queue_are_rejected,
        ("SI-APP-005",),
        observes=_OBSERVED,
        outlives_registrations=True,
        presupposes=Feature.QUEUES,
    ),
    _NewNameMonitor(new_applications_are_accepted, ("SI-APP-001",)),
    Monitor(
        applications_of_unknown_partitions_are_rejected,
        ("SI-APP-007",),
        observes=_FINDS,
        outlives_registrations=True,
        presupposes=Feature.QUEUES,
    ),
    _NewNameMonitor(applications_need_no_groups, ("SI-APP-008",)),
    _NewNameMonitor(unknown_application_tags_do_not_hurt, ("SI-APP-010",)),
    _NewNameMonitor(removed_applications_can_be_added_again, ("SI-APP-020",)),
    _NewNameMonitor(completed_applications_can_be_added_again, ("SI-APP-031",)),
    _NewNameMonitor(failed_applications_can_be_added_again, ("SI-APP-037",)),
    _NewNameMonitor(forced_applications_are_accepted, ("SI-CONST-006",)),
    Monitor(rejected_applications_get_nothing, ("SI-APP-023",), observes=_APPLICATIONS),
    Monitor(
        rejections_of_applications_give_a_reason,
        ("SI-APP-039",),
        observes=(ApplicationRejected,),
        about_one_message=True,
        about_new_names=True,
    ),
)
