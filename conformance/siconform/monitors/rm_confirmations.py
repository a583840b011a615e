"""Rules about an RM's answers to the releases and confirmations of its scheduler."""

from collections import defaultdict
from functools import partial
from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.memory import Recent
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.protocol.application_states import OVER
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    ApplicationRejected,
    ApplicationUpdated,
    AskReleased,
    Released,
    Termination,
)
from siconform.protocol.requests import (
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, OneAllocation, OneAsk
from siconform.recording.history import Content, Entry

_Subject = OneAllocation | OneAsk | AllOf | AllThereIs
_Key = tuple[str, str]  # application and key
_APPLICATIONS: Final = (
    *(ApplicationRequest, ApplicationRemoval, ApplicationRejected, ApplicationUpdated),
)


def confirmations_repeat_the_release() -> Evaluator:
    """The confirmation of a release has its type and names its application.

    One for all of an application, from the scheduler or from the RM, covers any of it; one without
    an application names none.
    """
    begun = _Begun()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Released() as release:
                begun.begins(release.subject, release.termination)
            case ReleaseRequest(subject=subject, termination=kind) as sent:
                return begun.wrong(subject, kind, str(sent))
        return NOTHING_TO_EVALUATE

    return evaluate


def confirmations_repeat_the_ask_release() -> Evaluator:
    """The confirmation of an ask's release has its type and names its application.

    One for all of an application covers any of it. In 2021-02 these releases have no type.
    """
    begun = _Begun()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskReleased() as release:
                begun.begins(release.subject, release.termination)
            case AskReleaseRequest(subject=subject, termination=kind) as sent:
                return begun.wrong(subject, kind, f"{sent} {kind.value}")
        return NOTHING_TO_EVALUATE

    return evaluate


class _Begun:
    """The releases that the scheduler began, by what they name."""

    def __init__(self) -> None:
        self._ones: Recent[str, frozenset[tuple[str, Termination]]] = Recent()
        self._wholes: Recent[str, frozenset[Termination]] = Recent()  # by application

    def begins(self, subject: _Subject, kind: Termination) -> None:
        if kind not in BY_THE_SCHEDULER:
            return
        application, name = subject.application, _name(subject)
        if name:
            begun = self._ones.get(name, frozenset())
            self._ones[name] = begun | {(application, kind)}
        else:
            self._wholes[application] = self._wholes.get(application, frozenset()) | {kind}

    def wrong(self, subject: _Subject, kind: Termination, sent: str) -> EntryFinding:
        """Return what is wrong with this confirmation; other releases are not evaluated."""
        application, begun = subject.application, self._ones.get(_name(subject), frozenset())
        if kind not in BY_THE_SCHEDULER or not begun:
            return NOTHING_TO_EVALUATE
        if not application or kind in self._wholes.get(application, ()):
            return NOTHING_TO_EVALUATE
        released = " and ".join(sorted(f"{kind.value} of {name}" for name, kind in begun))
        is_right = {(application, kind), ("", kind)} & begun
        return violated_if(
            not is_right, f"{sent} of {application} confirms, but the release was {released}"
        )


def _name(subject: _Subject) -> str:
    match subject:
        case OneAllocation(identity=name) | OneAsk(key=name):
            return key_of(name)
        case _:
            return ""


def confirmations_of_all_stay_in_the_application() -> Evaluator:
    """What an RM confirms after a release of all of an application belongs to that application."""
    begun: defaultdict[Termination, set[str]] = defaultdict(set)  # applications released as a whole
    ones: Recent[tuple[str, Termination], bool] = Recent()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Released(termination=kind) | AskReleased(termination=kind) as released:
                name = _name(released.subject)
                if kind in BY_THE_SCHEDULER and name:
                    ones[name, kind] = True
                elif kind in BY_THE_SCHEDULER:
                    begun[kind].add(released.application)
            case ReleaseRequest(subject=OneAllocation() as one, termination=kind):
                if not begun[kind] or (_name(one), kind) in ones or not one.application:
                    return NOTHING_TO_EVALUATE
                wholes = ", ".join(sorted(begun[kind]))
                return violated_if(
                    one.application not in begun[kind] and "" not in begun[kind],
                    f"{entry.content} of {one.application}, released was all of {wholes}",
                )
        return NOTHING_TO_EVALUATE

    return evaluate


def withdrawn_placeholders_are_given_up() -> Evaluator:
    """An RM that has confirmed the release of a waiting placeholder does not ask for it again.

    It may in a later application under the same id.
    """
    released: set[_Key] = set()
    given_up: Recent[_Key, int] = Recent()  # and the number of the message

    def forget(application: str) -> None:
        for one in [one for one in given_up if one[0] == application]:
            del given_up[one]

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskReleased(key=key, application=name, termination=Termination.TIMEOUT) if key:
                released.add((name, key_of(key)))
            case AskReleaseRequest(subject=OneAsk(application=name, key=key)):
                one = name, key_of(key)
                if one in released:
                    released.discard(one)
                    given_up[one] = entry.number
                    return ""
            case AskRequest(key=key, application=name, placeholder=True):
                if given_up.get((name, key_of(key)), entry.number) < entry.number:
                    return f"{entry.content}: the RM had confirmed its release"
            case content:
                if name := _renewed_by(content):
                    forget(name)
        return NOTHING_TO_EVALUATE

    return evaluate


def _renewed_by(content: Content) -> str:
    """Return the application that begins or ends with this, or ""."""
    match content:
        case ApplicationUpdated(application=name, state=state):
            return name if OVER.accepts(state) else ""
        case (
            ApplicationRequest(application=name)
            | ApplicationRemoval(application=name)
            | ApplicationRejected(application=name)
        ):
            return name
        case _:
            return ""


_LastingMonitor = partial(Monitor, outlives_registrations=True)

MONITORS: Final = (
    _LastingMonitor(
        confirmations_repeat_the_release, ("SI-REL-008",), observes=(Released, ReleaseRequest)
    ),
    _LastingMonitor(
        confirmations_repeat_the_ask_release,
        ("SI-REL-024",),
        observes=(AskReleased, AskReleaseRequest),
    ),
    _LastingMonitor(
        confirmations_of_all_stay_in_the_application,
        ("SI-REL-022",),
        observes=(Released, AskReleased, ReleaseRequest),
    ),
    Monitor(
        withdrawn_placeholders_are_given_up,
        ("SI-REL-024",),
        observes=(AskReleased, AskReleaseRequest, AskRequest, *_APPLICATIONS),
    ),
)
