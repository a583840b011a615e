"""Rules about several RMs: each gets what concerns it, and ends nothing of another."""

from collections import defaultdict
from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.memory import Names, Recent
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import recovered_in
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    NodeAccepted,
    NodeRejected,
    Released,
    Termination,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    Action,
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    NodeRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry

_REQUESTS: Final = (
    *(NodeRequest, ApplicationRequest, ApplicationRemoval, AskRequest, AskReleaseRequest),
    *(ReleaseRequest, ExistingAllocationRequest),
)
_FACTS: Final = (
    *(NodeAccepted, NodeRejected, ApplicationAccepted, ApplicationRejected, ApplicationUpdated),
    *(Allocated, Released, AskReleased, AskRejected),
)
_Name = tuple[str, str]  # kind and name


def responses_go_to_their_rm() -> Evaluator:
    """No RM gets a response about a node or an application that only another RM has named.

    An RM whose registration is not in the record may have named anything before.
    """
    named: defaultdict[str, Names] = defaultdict(Names)  # by each RM
    known_from_the_start: dict[str, bool] = {}

    def evaluate(entry: Entry) -> EntryFinding:
        is_call = isinstance(entry.content, RegistrationRequested)
        is_known = known_from_the_start.setdefault(entry.rm, is_call)
        about = _about(entry.content)
        if entry.sent_by_rm:
            for name in about:
                named[entry.rm].add(name)
            return NOTHING_TO_EVALUATE
        if not about or not is_known or len(known_from_the_start) == 1:
            return NOTHING_TO_EVALUATE
        for name in (one for one in about if named[entry.rm].lack(one)):
            owner = next((rm for rm, names in named.items() if name in names), "")
            if owner:
                return f"{entry.rm} is sent {entry.content}, but {name} is of {owner}"
        return ""

    return evaluate


def _about(content: Content) -> list[str]:
    """Return the nodes and applications that an element names."""
    match content:
        case ReleaseRequest(subject=subject) | AskReleaseRequest(subject=subject):
            names = [("application", subject.application)]
        case NodeRequest(node=node, existing=existing):
            names = [("node", node), *(("application", one.application) for one in existing)]
        case NodeAccepted(node=node) | NodeRejected(node=node):
            names = [("node", node)]
        case ExistingAllocationRequest(allocation=one):
            names = [("application", one.application), ("node", one.node)]
        case RegistrationRequested():
            names = []
        case _:
            names = [("application", getattr(content, "application", ""))]
    return [f"{kind} {name}" for kind, name in names if name]


def requests_end_nothing_of_another_rm() -> Evaluator:
    """An allocation that only another RM asked to end does not end as stopped by its own RM."""
    rms: defaultdict[str, _Ends] = defaultdict(_Ends)

    def evaluate(entry: Entry) -> EntryFinding:
        its = rms[entry.rm]
        match entry.content:
            case Released(identity=identity, termination=Termination.STOPPED_BY_RM):
                one = its.placed.pop(key_of(identity), None)
                if one is None or len(rms) == 1:
                    return NOTHING_TO_EVALUATE
                if its.has_ended(one):
                    return ""
                others = [rm for rm, theirs in rms.items() if theirs.has_named_the_end_of(one)]
                message = f"{identity} of {entry.rm} has ended, as {', '.join(others)} asked for"
                return violated_if(others, message) if others else NOTHING_TO_EVALUATE
            case RegistrationRequested() | RegistrationAnswered():
                its.placed.clear()
            case content:
                its.observe(content)
        return NOTHING_TO_EVALUATE

    return evaluate


class _Ends:
    """What one RM has, and what it asked to end."""

    def __init__(self) -> None:
        self.placed: dict[str, Allocated] = {}  # by identity
        self._ended: Recent[_Name, bool] = Recent()

    def observe(self, content: Content) -> None:
        for one in (content,) if isinstance(content, Allocated) else recovered_in(content):
            self.placed[key_of(one.identity)] = one
        for name in _ended_by(content):
            self._ended[name] = True

    def has_ended(self, one: Allocated) -> bool:
        """Return whether this RM asked for anything that may end its allocation."""
        names = [*_names_of(one), ("key", key_of(one.key)), ("everything", "")]
        return any(name in self._ended for name in names)

    def has_named_the_end_of(self, one: Allocated) -> bool:
        """Return whether this RM asked for the end of this allocation of another."""
        return any(name in self._ended for name in _names_of(one))


def _names_of(one: Allocated) -> list[_Name]:
    identity = key_of(one.identity)
    return [("identity", identity), ("node", one.node), ("application", one.application)]


def _ended_by(content: Content) -> list[_Name]:
    match content:
        case NodeRequest(node=node, action=Action.DECOMMISSION):
            return [("node", node)]
        case ApplicationRemoval(application=name):
            return [("application", name)]
        case ReleaseRequest(subject=subject) | AskReleaseRequest(subject=subject):
            return _ended_with(subject)
        case _:
            return []


def _ended_with(subject: OneAllocation | OneAsk | AllOf | AllThereIs) -> list[_Name]:
    match subject:
        case OneAllocation(identity=name):
            return [("identity", key_of(name)), ("key", key_of(name))]
        case OneAsk(key=name):
            return [("key", key_of(name))]
        case AllOf(application=name):
            return [("application", name)]
        case AllThereIs():
            return [("everything", "")]


MONITORS: Final = (
    Monitor(
        responses_go_to_their_rm,
        ("SI-CONN-004",),
        observes=(RegistrationRequested, *_REQUESTS, *_FACTS),
        outlives_registrations=True,
        of_all_rms=True,
        about_new_names=True,
    ),
    Monitor(
        requests_end_nothing_of_another_rm,
        ("SI-CONN-003",),
        observes=(RegistrationRequested, RegistrationAnswered, *_REQUESTS, Allocated, Released),
        outlives_registrations=True,
        of_all_rms=True,
        about_new_names=True,
    ),
)
