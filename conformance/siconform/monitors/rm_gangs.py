"""Rules about the gangs of an RM: placeholders first, then the real members.

An application is evaluated as long as its placeholders run the usual course. Once one has ended in
any other way, has lost its node, was rejected or is reported by the RM, once the application goes
on without them, and after a new registration, what the RM asks for may fill gaps that no history
shows. A placeholder is an ask with the flag and a task group: without a group the flag is ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.memory import Names
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import Placed, Updated, UpdateRejected
from siconform.protocol.application_states import OVER, RESUMING
from siconform.protocol.notifications import (
    Allocated,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Released,
)
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import OneAllocation
from siconform.recording.history import Content, Entry

_BASIC: Final = ("memory", "vcore")  # a member has no more of these than its group states
_OBSERVED: Final = (
    *(RegistrationAnswered, ApplicationRequest, ApplicationRemoval, ApplicationRejected),
    *(ApplicationUpdated, AskRequest, AskRejected, AskReleased, AskReleaseRequest),
    *(Allocated, Released, ReleaseRequest, ExistingAllocationRequest, NodeRequest),
    *(Updated, Placed, UpdateRejected, ForeignAllocationRequest),
)


@dataclass(slots=True)
class _Gang:
    sum: Mapping[str, int] | None = None  # placeholderAsk; None before the application is added
    asked: dict[str, int] = field(default_factory=dict)  # amounts of all placeholders
    pending: dict[str, int] = field(default_factory=dict)  # placeholders and their allocations
    placeholders: set[str] = field(default_factory=set)
    real: set[str] = field(default_factory=set)  # real members that were asked for
    last_real: int = 0  # the message with the last new one
    nodes: set[str] = field(default_factory=set)  # with allocations of it
    is_usual: bool = True


class _Gangs:
    """The gangs of the RM since its registration, by application."""

    def __init__(self) -> None:
        self._gangs: dict[str, _Gang] = {}
        self._plain: set[str] = set()  # applications that were added without placeholderAsk
        self._earlier: set[str] = set()  # applications of earlier registrations
        self._foreign = Names()  # keys of foreign allocations
        self._begun = 0  # the message of the last ask

    def begin(self, entry: Entry) -> None:
        """Observe the releases of the message before its first ask: together they have no order."""
        if entry.number == self._begun:
            return
        self._begun = entry.number
        releases = getattr(entry.message, "releases", None)
        for _, released in () if releases is None else releases.ListFields():
            for one in released:
                self._disturbs(one.applicationID)

    def of(self, application: str) -> _Gang:
        gang = self._gangs.get(application)
        if gang is None:
            is_usual = application not in self._earlier
            total: Mapping[str, int] | None = {} if application in self._plain else None
            gang = self._gangs[application] = _Gang(total, is_usual=is_usual)
        return gang

    def known(self, application: str) -> _Gang | None:
        """Return the gang if anything of it was asked for."""
        return self._gangs.get(application)

    def adds_placeholder(self, ask: AskRequest) -> bool:
        """Note an ask for a placeholder; return whether it is one that was not asked for yet."""
        gang, key = self.of(ask.application), key_of(ask.key)
        if key in gang.placeholders:
            return False
        gang.placeholders.add(key)
        gang.pending[key] = ask.max_allocations
        for name, amount in (ask.resource or {}).items():
            gang.asked[name] = gang.asked.get(name, 0) + amount * ask.max_allocations
        return True

    def adds_real(self, ask: AskRequest, entry: Entry) -> bool:
        """Note an ask for a real member; return whether it is one that was not asked for yet."""
        gang, key = self.of(ask.application), key_of(ask.key)
        if key in gang.real:
            return False
        gang.real.add(key)
        gang.last_real = entry.number
        return True

    def observe(self, entry: Entry) -> None:
        """Observe whatever is not an ask."""
        match entry.content:
            case ApplicationRequest(application=name, placeholder_ask=total):
                self._adds(name, total or {})
            case ForeignAllocationRequest(key=key):
                self._foreign.add(key)
            case ApplicationUpdated(application=name, state=state) if RESUMING.accepts(state):
                self._disturbs(name)
            case ApplicationUpdated(state=state) if not OVER.accepts(state):
                pass
            case (
                ApplicationRemoval(application=name)
                | ApplicationRejected(application=name)
                | ApplicationUpdated(application=name)
            ):
                self._gangs.pop(name, None)
                self._plain.discard(name)
                self._earlier.discard(name)
            case RegistrationAnswered(status="OK"):
                self._earlier |= set(self._gangs)
                self._gangs.clear()
                self._plain.clear()
            case content if self._gangs:
                self._goes_on(content)

    def _adds(self, application: str, total: Mapping[str, int]) -> None:
        if total or application in self._gangs:
            is_usual = self.of(application).is_usual
            self._gangs[application] = _Gang(total, is_usual=is_usual)
        else:
            self._plain.add(application)

    def _goes_on(self, content: Content) -> None:
        match content:
            case Allocated(key=key, application=name, node=node):
                if name in self._gangs:
                    self._allocates(self._gangs[name], key_of(key))
                    self._gangs[name].nodes.add(node)
            case NodeRequest(node=node, action=Action.DECOMMISSION):
                for name in [name for name, gang in self._gangs.items() if node in gang.nodes]:
                    self._disturbs(name)
            case ReleaseRequest(OneAllocation(application="", identity=name)):
                if self._foreign.lack(key_of(name)):
                    self._disturbs("")
            case _:
                for name in _disturbed_by(content):
                    self._disturbs(name)

    def _allocates(self, gang: _Gang, key: str) -> None:
        left = gang.pending.get(key, 0) - 1
        if left > 0:
            gang.pending[key] = left
        else:
            gang.pending.pop(key, None)

    def _disturbs(self, application: str) -> None:
        """Note that a gang does not run its usual course; without a name none does."""
        for name in [application] if application else [*self._gangs]:
            if name in self._gangs:
                self._gangs[name] = _Gang(is_usual=False)


def _disturbed_by(content: Content) -> list[str]:
    match content:
        case ReleaseRequest(subject=subject) | AskReleaseRequest(subject=subject):
            return [subject.application]
        case (
            Released(application=name)
            | AskReleased(application=name)
            | AskRejected(application=name)
            | UpdateRejected(application=name)
        ):
            return [name]
        case _:
            return [one.application for one in recovered_in(content)]


def placeholders_come_first() -> Evaluator:
    """No placeholder is asked for after a real member of the application was.

    In one message asks have no order.
    """
    gangs = _Gangs()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(placeholder=True) as ask if ask.task_group:
                gangs.begin(entry)
                gang = gangs.of(ask.application)
                if gangs.adds_placeholder(ask) and gang.is_usual:
                    late = gang.real and gang.last_real < entry.number
                    return violated_if(late, f"{ask} comes after a real ask of {ask.application}")
            case AskRequest() as ask if ask.task_group:
                gangs.begin(entry)
                gangs.adds_real(ask, entry)
            case _:
                gangs.observe(entry)
        return NOTHING_TO_EVALUATE

    return evaluate


def real_members_wait_for_the_placeholders() -> Evaluator:
    """No real member is asked for while a placeholder of the application is pending."""
    gangs = _Gangs()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(placeholder=True, application=name) as ask if ask.task_group:
                gangs.begin(entry)
                gang = gangs.of(name)
                is_new = gangs.adds_placeholder(ask) and gang.is_usual
                if is_new and gang.last_real == entry.number:
                    return f"{ask} comes with a real ask of {name}"
            case AskRequest(application=name) as ask if ask.task_group:
                gangs.begin(entry)
                gang = gangs.of(name)
                if gangs.adds_real(ask, entry) and gang.is_usual and gang.placeholders:
                    pending = ", ".join(sorted(gang.pending))
                    return violated_if(pending, f"{ask} comes while {pending} is not allocated")
            case _:
                gangs.observe(entry)
        return NOTHING_TO_EVALUATE

    return evaluate


def placeholders_are_within_their_sum() -> Evaluator:
    """The placeholders of an application have no more than its placeholderAsk.

    A member may have types of resources that its group does not state.
    """
    gangs = _Gangs()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(placeholder=True, application=name) as ask if ask.task_group:
                gangs.begin(entry)
                if gangs.adds_placeholder(ask):
                    return _beyond_the_sum(name, gangs.of(name))
            case AskRequest():
                pass
            case ApplicationRequest(application=name, placeholder_ask=total):
                gang = gangs.known(name)
                if gang is not None and gang.placeholders and gang.sum is None:  # they overtook it
                    gang.sum = total or {}
                    return _beyond_the_sum(name, gang)
                gangs.observe(entry)
            case _:
                gangs.observe(entry)
        return NOTHING_TO_EVALUATE

    return evaluate


def _beyond_the_sum(application: str, gang: _Gang) -> EntryFinding:
    total = gang.sum
    if total is None or not gang.is_usual:
        return NOTHING_TO_EVALUATE
    compared = {*total, *_BASIC}
    beyond = [name for name in sorted(compared) if gang.asked.get(name, 0) > total.get(name, 0)]
    asked = {name: gang.asked[name] for name in beyond}
    return violated_if(
        beyond, f"the placeholders of {application} have {asked}, its placeholderAsk is {total}"
    )


def members_have_an_ask_each() -> Evaluator:
    """An ask for a member of a task group is for one allocation."""

    def evaluate(entry: Entry) -> EntryFinding:
        if not isinstance(entry.content, AskRequest) or not entry.content.task_group:
            return NOTHING_TO_EVALUATE
        many = entry.content.max_allocations > 1
        return violated_if(many, f"{entry.content}: one ask for several members")

    return evaluate


def gang_asks_name_group_and_role() -> Evaluator:
    """An ask for a member of a task group that is repeated has the same group and role."""
    pending: dict[tuple[str, str], tuple[str, bool]] = {}

    def forget(application: str) -> None:
        for one in [one for one in pending if application in (one[0], "")]:
            del pending[one]

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest() as ask:
                return _wrong_role(ask, pending)
            case Updated(ask=AskRequest() as ask):
                return _wrong_role(ask, pending)
            case (
                Allocated(key=key, application=name)
                | AskRejected(key=key, application=name)
                | UpdateRejected(key=key, application=name)
            ):
                pending.pop((name, key), None)
            case AskReleased() | AskReleaseRequest() | ReleaseRequest() as release:
                forget(release.subject.application)
            case ApplicationRequest(application=name) | ApplicationRemoval(application=name):
                forget(name)
        return NOTHING_TO_EVALUATE

    return evaluate


def _wrong_role(ask: AskRequest, pending: dict[tuple[str, str], tuple[str, bool]]) -> EntryFinding:
    if not ask.task_group:
        return NOTHING_TO_EVALUATE
    role = ask.task_group, ask.placeholder
    former = pending.setdefault((ask.application, ask.key), role)
    message = f"{ask}: was of group {former[0]} and {'' if former[1] else 'no '}placeholder before"
    return violated_if(former != role, message)


_MemberMonitor = partial(
    Monitor, observes=_OBSERVED, outlives_registrations=True, about_new_names=True
)

MONITORS: Final = (
    _MemberMonitor(placeholders_are_within_their_sum, ("SI-GANG-001",)),
    _MemberMonitor(placeholders_come_first, ("SI-GANG-013",)),
    _MemberMonitor(real_members_wait_for_the_placeholders, ("SI-GANG-014",)),
    Monitor(
        members_have_an_ask_each, ("SI-GANG-029",), observes=(AskRequest,), about_one_message=True
    ),
    Monitor(
        gang_asks_name_group_and_role,
        ("SI-GANG-049",),
        observes=(
            *(AskRequest, Updated, Allocated, AskRejected, AskReleased, AskReleaseRequest),
            *(UpdateRejected, ReleaseRequest, ApplicationRequest, ApplicationRemoval),
        ),
    ),
)
