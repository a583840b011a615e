"""Rules about asks: no more than requested, complete rejections, nothing after the end."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from siconform.monitors.certainty import Certainty
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    Barriers,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
    without_reason,
)
from siconform.monitors.recovered_allocations import REPORTING, Unnamed, recovered_in
from siconform.monitors.restated import Updated, UpdateRejected
from siconform.protocol.notifications import (
    Allocated,
    AskRejected,
    AskReleased,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import ApplicationRequest, AskReleaseRequest, AskRequest
from siconform.protocol.subjects import AllOf, AllThereIs, OneAsk
from siconform.recording.history import Entry


def asks_are_not_served_too_often() -> Evaluator:
    """A key never yields more allocations than all its asks together requested.

    Asks for zero or fewer are left to another, weaker rule (SI-ASK-007), and so are existing
    allocations that get their identity from the target (SI-REC-004).
    """
    wanted: Counter[str] = Counter()
    served: Counter[str] = Counter()
    recovered: set[str] = set()
    unnamed = Unnamed()
    unclear: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(key=key, max_allocations=most) if most <= 0:
                unclear.add(key)
            case AskRequest() as ask:
                wanted[ask.key] += ask.max_allocations
            case Allocated(key=key) if key in unclear:
                pass
            case Allocated(key=key, identity=identity) as new if identity not in recovered:
                if unnamed.is_named_by(new):
                    return NOTHING_TO_EVALUATE
                served[key] += 1
                surplus = served[key] > wanted[key]
                message = f"{served[key]} allocations of {key}, asked were {wanted[key]}"
                return violated_if(surplus, message)
            case content:
                recovered.update(existing.identity for existing in recovered_in(content))
                unnamed.observe(content)
        return NOTHING_TO_EVALUATE

    return evaluate


def rejections_of_asks_are_complete() -> Evaluator:
    """A rejection names key and application of an ask, once for each ask.

    Rejections of asks from before a new registration may arrive after it.
    """
    asked: dict[str, list[str]] = defaultdict(list)
    rejected: Counter[str] = Counter()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest() as ask:
                asked[ask.key].append(ask.application)
            case AskRejected(key=key) as rejection:
                rejected[key] += 1
                return _incomplete(rejection, asked[key], rejected[key])
        return NOTHING_TO_EVALUATE

    return evaluate


def _incomplete(rejection: AskRejected, applications: list[str], times: int) -> str:
    if not applications:
        return f"rejection of {rejection.key!r}, which was never asked for"
    if rejection.application not in applications:
        return f"rejection of {rejection.key} names application {rejection.application!r}"
    if times > len(applications):
        return f"{times} rejections of {rejection.key}, asked was {len(applications)} times"
    return ""


def rejections_of_asks_give_a_reason() -> Evaluator:
    """A rejection, also one of an update, has a reason that is not empty."""

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRejected() | UpdateRejected() as rejection:
                return without_reason(rejection)
        return NOTHING_TO_EVALUATE

    return evaluate


def rejected_asks_stay_rejected() -> Evaluator:
    """After its only ask was rejected, a key is not allocated until it is asked for again.

    The echo of an existing allocation is not one of the ask.
    """
    open_asks: Counter[str] = Counter()
    rejected: set[str] = set()
    recovered: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(key=key):
                open_asks[key] += 1
                rejected.discard(key)
            case AskRejected(key=key):
                open_asks[key] -= 1
                if open_asks[key] <= 0:
                    rejected.add(key)
                    return ""
            case Allocated(key=key, identity=identity):
                if key in rejected and identity not in recovered:
                    return f"{key} was allocated after its rejection"
            case content:
                recovered.update(existing.identity for existing in recovered_in(content))
        return NOTHING_TO_EVALUATE

    return evaluate


def withdrawn_asks_are_not_allocated() -> Evaluator:
    """A certainly withdrawn ask is not allocated until it is asked for again.

    Real asks of a task group may wait for a placeholder's end; those are left to another, weaker
    rule (SI-GANG-059).
    """
    asks: dict[str, AskRequest] = {}
    certainty: Certainty[str] = Certainty()
    withdrawn: set[str] = set()
    recovered: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        withdrawn.update(certainty.observe(entry))
        match entry.content:
            case AskRequest(key=key) as ask:
                asks[key] = ask
                withdrawn.discard(key)
                certainty.forgets(lambda name: name == key)
            case Updated(key=key, ask=AskRequest(task_group=group, placeholder=False)) if group:
                asks.pop(key, None)  # may be parked from now on
            case AskReleaseRequest() as withdrawal:
                keys = [
                    key for key in _meant(withdrawal, asks) if _withdraws(withdrawal, asks[key])
                ]
                for key in keys:
                    certainty.send(key, UpdateKind.ALLOCATIONS)
                return "" if keys else NOTHING_TO_EVALUATE
            case Allocated(key=key, identity=identity):
                if key in withdrawn and identity not in recovered:
                    return f"{key} was allocated after it was withdrawn"
            case content:
                recovered.update(existing.identity for existing in recovered_in(content))
        return NOTHING_TO_EVALUATE

    return evaluate


def _meant(withdrawal: AskReleaseRequest, asks: dict[str, AskRequest]) -> Iterable[str]:
    """Return the keys that a withdrawal may be about."""
    if isinstance(withdrawal.subject, OneAsk):
        return {withdrawal.subject.key} & asks.keys()
    return asks


def _withdraws(withdrawal: AskReleaseRequest, ask: AskRequest) -> bool:
    return (
        withdrawal.termination is Termination.STOPPED_BY_RM
        and withdrawal.partition == ask.partition
        and withdrawal.subject in (OneAsk(ask.application, ask.key), AllOf(ask.application))
        and (ask.placeholder or not ask.task_group)
    )


def allocated_asks_are_not_rejected() -> Evaluator:
    """An ask that was allocated in full is not rejected afterwards.

    The echo of an existing allocation serves no ask.
    """
    wanted: Counter[str] = Counter()
    served: Counter[str] = Counter()
    recovered: set[str] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest() as ask:
                wanted[ask.key] += max(ask.max_allocations, 0)
            case Allocated(key=key, identity=identity) if identity not in recovered:
                served[key] += 1
                if served[key] == wanted[key]:
                    return ""
            case AskRejected(key=key) if wanted[key] and served[key] >= wanted[key]:
                return f"{key} was rejected after it had been allocated"
            case content:
                recovered.update(existing.identity for existing in recovered_in(content))
        return NOTHING_TO_EVALUATE

    return evaluate


def released_asks_were_asked_for() -> Evaluator:
    """The release of an ask names one of this RM and its application, or echoes the RM's request.

    The key of an existing allocation counts as that of an ask. Releases of asks from before a new
    registration may arrive after it.
    """
    owners: dict[str, set[str]] = defaultdict(set)
    applications: set[str] = set()
    sent: set[OneAsk | AllOf | AllThereIs] = set()  # in withdrawals of the RM

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case ApplicationRequest(application=application):
                applications.add(application)
            case AskRequest(key=key, application=application):
                owners[key].add(application)
            case AskReleaseRequest(subject=subject):
                sent.add(subject)
            case AskReleased(key=key, application=application) as received:
                if received.subject in sent:
                    return ""
                if not key:
                    message = f"release of every ask of {application!r}, which was never added"
                    return violated_if(application not in applications, message)
                if key not in owners:
                    return f"release of ask {key!r}, which was never asked for"
                message = f"release of ask {key} names application {application!r}"
                return violated_if(application not in owners[key], message)
            case content:
                for existing in recovered_in(content):
                    owners[existing.key].add(existing.application)
        return NOTHING_TO_EVALUATE

    return evaluate


_VERDICTS: Final = (AskRequest, AskRejected, Allocated, *REPORTING)
MONITORS: Final = (
    Monitor(
        asks_are_not_served_too_often,
        ("SI-ASK-005", "SI-ASK-027"),
        observes=(AskRequest, Allocated, *REPORTING),
    ),
    Monitor(
        rejections_of_asks_are_complete,
        ("SI-ASK-022",),
        observes=(AskRequest, AskRejected),
        outlives_registrations=True,
    ),
    Monitor(
        rejections_of_asks_give_a_reason,
        ("SI-ASK-026",),
        observes=(AskRejected, UpdateRejected),
        about_one_message=True,
    ),
    Monitor(rejected_asks_stay_rejected, ("SI-ASK-017",), observes=_VERDICTS),
    Monitor(
        withdrawn_asks_are_not_allocated,
        ("SI-ASK-018", "SI-CONN-015"),
        observes=(
            *(AskRequest, Updated, AskReleaseRequest, Allocated, *REPORTING),
            *(StreamEnded, Barriers),
        ),
    ),
    Monitor(allocated_asks_are_not_rejected, ("SI-ASK-019",), observes=_VERDICTS),
    Monitor(
        released_asks_were_asked_for,
        ("SI-ASK-002",),
        observes=(ApplicationRequest, AskRequest, AskReleaseRequest, AskReleased, *REPORTING),
        outlives_registrations=True,
    ),
)
