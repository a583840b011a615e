"""Rules about the existing allocations that an RM reports."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from google.protobuf.message import Message

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import recovered_in
from siconform.monitors.restated import Placed, Updated
from siconform.monitors.rm_streams import STREAMS, CurrentStreams
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.matchers import ANY, agree
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    AskRejected,
    NodeAccepted,
    Released,
    Termination,
)
from siconform.protocol.registration import RegistrationAnswered, is_registered
from siconform.protocol.requests import (
    ApplicationRemoval,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry

_REPORTS: Final = (ExistingAllocationRequest, NodeRequest)
_OBSERVED: Final = (
    *(RegistrationAnswered, AskRequest, Updated, Placed, Allocated, AskRejected, Released),
    *(ReleaseRequest, AskReleaseRequest, ApplicationRemoval, *_REPORTS),
)
_ALWAYS: Final = ("application", "tags", "priority", "priority_class")
_SINCE_2023_12: Final = ("originator", "preemption_policy")


@dataclass(slots=True)
class _Original:
    """An allocation as it was asked for and made; ``ask`` is None if that is not certain."""

    ask: AskRequest | None
    allocated: Allocated
    registration: int


class _Originals:
    """What the RM has asked for and got, in which of its registrations."""

    def __init__(self) -> None:
        self._asks: dict[tuple[str, str], AskRequest | None] = {}  # None: asked in several ways
        self._made: dict[str, _Original] = {}  # by identity
        self._made_for: dict[str, dict[str, None]] = {}  # identities, by application
        self._reported: set[str] = set()  # identities, since the registration
        self._registrations = 0

    def of(self, reported: Allocated) -> _Original | None:
        """Return the allocation of an earlier registration that this one recovers."""
        original = self._made.get(key_of(reported.identity))
        if original is None or original.registration == self._registrations:
            return None
        is_the_one = key_of(original.allocated.key) == key_of(reported.key)
        return original if is_the_one else None

    def observe(self, content: Content) -> None:
        match content:
            case RegistrationAnswered(status="OK"):
                self._registrations += 1
                self._asks.clear()
                self._reported.clear()
            case AskRequest(key=key, application=name) as ask:
                former = self._asks.get((name, key_of(key)), ask)
                self._asks[name, key_of(key)] = ask if former == ask else None
            case Allocated():
                self._allocates(content)
            case Updated():
                self._updates(content)
            case Placed(allocation=one):
                self._forgets(key_of(one.identity))
            case AskRejected(key=key, application=name):
                self._asks.pop((name, key_of(key)), None)
            case Released(identity=name, termination=Termination.STOPPED_BY_RM):
                self._forgets(key_of(name))
            case ReleaseRequest(subject=subject) | AskReleaseRequest(subject=subject):
                self._ends(subject)
            case ApplicationRemoval(application=name):
                self._ends(AllOf(name))
            case _:
                self._reported |= {key_of(one.identity) for one in recovered_in(content)}

    def _allocates(self, allocated: Allocated) -> None:
        ask = self._asks.pop((allocated.application, key_of(allocated.key)), None)
        identity = key_of(allocated.identity)
        if identity not in self._reported:  # else it is echoed
            self._forgets(identity)
            self._made[identity] = _Original(ask, allocated, self._registrations)
            self._made_for.setdefault(allocated.application, {})[identity] = None

    def _updates(self, update: Updated) -> None:
        key, application = key_of(update.key), update.application
        original = self._made.get(key)
        if original is not None:
            original.ask = update.ask
            if update.node:
                self._forgets(key)
        if (application, key) in self._asks:
            self._asks[application, key] = None

    def _forgets(self, identity: str) -> None:
        ended = self._made.pop(identity, None)
        if ended is not None:
            its = self._made_for[ended.allocated.application]
            del its[identity]
            if not its:
                del self._made_for[ended.allocated.application]

    def _ends(self, subject: OneAllocation | OneAsk | AllOf | AllThereIs) -> None:
        match subject:
            case OneAllocation(identity=name):
                self._forgets(key_of(name))
            case OneAsk(application=name, key=key):
                self._asks.pop((name, key_of(key)), None)
            case AllOf(application=name):
                for identity in list(self._made_for.get(name, ())):
                    self._forgets(identity)


def recovered_members_keep_their_role() -> Evaluator:
    """A recovered member of a task group has the group and the placeholder flag of the original."""
    return _RECOVERED.rule("recovered_members_keep_their_role")


def _role(reported: Allocated, original: _Original | None) -> EntryFinding:
    name = f"recovered {key_of(reported.key)}"
    ask = None if original is None else original.ask
    if ask is None or not (ask.task_group or reported.task_group):
        return NOTHING_TO_EVALUATE
    was, is_now = (
        f"{'placeholder of' if one.placeholder else 'member of'} {one.task_group or 'no group'}"
        for one in (ask, reported)
    )
    return violated_if(was != is_now, f"{name} is {is_now}, it was {was}")


def recovered_allocations_repeat_the_original() -> Evaluator:
    """A recovered allocation repeats what was asked for, and where it was placed.

    Where an allocation may be updated, its amounts may have changed in the meantime.
    """
    return _RECOVERED.rule("recovered_allocations_repeat_the_original")


class _Recovered:
    def __init__(self) -> None:
        self._originals = _Originals()

    def __call__(self, entry: Entry) -> Findings:
        found: Findings = NO_FINDINGS
        if isinstance(entry.content, _REPORTS) and (reported := recovered_in(entry.content)):
            pairs = [(one, self._originals.of(one)) for one in reported]
            roles = [_role(one, original) for one, original in pairs]
            others = [_differs(one, original, entry.message) for one, original in pairs]
            found = {
                "recovered_members_keep_their_role": _worst(roles),
                "recovered_allocations_repeat_the_original": _worst(others),
            }
        self._originals.observe(entry.content)
        return found


def _worst(findings: list[EntryFinding]) -> EntryFinding:
    """Return the first violation, else whether anything was evaluated."""
    return next((one for one in findings if one), "" if "" in findings else NOTHING_TO_EVALUATE)


def _differs(
    reported: Allocated, original: _Original | None, message: Message | None
) -> EntryFinding:
    if original is None:
        return NOTHING_TO_EVALUATE
    name = f"recovered {key_of(reported.key)}"
    allocated, ask = original.allocated, original.ask
    if reported.node != allocated.node:
        return f"{name} is on {reported.node}, it was allocated on {allocated.node}"
    if ask is None:
        return violated_if(
            reported.application != allocated.application,
            f"{name} is of {reported.application}, it was of {allocated.application}",
        )
    for one in _compared(reported, message):
        now, asked, given = (getattr(of, one) for of in (reported, ask, allocated))
        if now is not ANY and not (agree(asked, now) or agree(given, now)):
            return f"{name} has {one} {now!r}, it was {asked!r}"
    return ""


def _compared(reported: Allocated, message: Message | None) -> Iterator[str]:
    """Yield the fields of an allocation that this RM repeats."""
    yield from _ALWAYS
    if reported.identity != reported.key:
        yield "resource"
    known = message.DESCRIPTOR.file.message_types_by_name if message is not None else {}
    if "Allocation" in known and "originator" in known["Allocation"].fields_by_name:
        yield from _SINCE_2023_12


def existing_allocations_wait_for_verdicts() -> Evaluator:
    """An existing allocation comes after its node and its application were accepted.

    In a later registration only on a stream that was opened since.
    """
    accepted: set[tuple[str, str]] = set()  # kind and name
    streams = CurrentStreams()

    def evaluate(entry: Entry) -> EntryFinding:
        streams.observe(entry)
        if is_registered(entry.content):
            accepted.clear()
        match entry.content:
            case NodeAccepted(node=node):
                accepted.add(("node", node))
            case ApplicationAccepted(application=name):
                accepted.add(("application", name))
            case ExistingAllocationRequest(allocation=one) if streams.include(entry):
                needed = [("node", one.node), ("application", one.application)]
                early = [f"{kind} {name}" for kind, name in needed if (kind, name) not in accepted]
                message = f"existing allocation {key_of(one.key)} comes before the acceptance of"
                return violated_if(early, f"{message} {' and '.join(early)}")
        return NOTHING_TO_EVALUATE

    return evaluate


_RECOVERED: Final = SharedAnalysis(_Recovered)

_LastingMonitor = partial(Monitor, outlives_registrations=True)

MONITORS: Final = (
    _LastingMonitor(recovered_members_keep_their_role, ("SI-REC-010",), observes=_OBSERVED),
    _LastingMonitor(recovered_allocations_repeat_the_original, ("SI-REC-018",), observes=_REPORTS),
    _LastingMonitor(
        existing_allocations_wait_for_verdicts,
        ("SI-REC-024",),
        observes=(*STREAMS, NodeAccepted, ApplicationAccepted),
        identity=Identity.KEY_OF_THE_ASK,
    ),
)
