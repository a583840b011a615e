"""Rules about an RM's registration and streams, where the kit is the scheduler."""

from typing import Final

from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.rm_streams import REGISTRATIONS
from siconform.monitors.rm_wire import SENT_BY_RM
from siconform.protocol.notifications import (
    BY_THE_SCHEDULER,
    Allocated,
    ApplicationUpdated,
    RegistrationWanted,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    ApplicationRemoval,
    ApplicationRequest,
    AskReleaseRequest,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
    ReleaseRequest,
    StreamOpening,
)
from siconform.protocol.subjects import OneAllocation
from siconform.recording.history import Entry

_ID: Final = "rmID"
_UPDATES: Final = (
    *(NodeRequest, ApplicationRequest, ApplicationRemoval, AskRequest, AskReleaseRequest),
    *(ReleaseRequest, ExistingAllocationRequest, ForeignAllocationRequest),
)
_NOT_ABORTED: Final = ("OK", "CANCELLED")  # ended in good order, or by the RM itself
_PERHAPS_REGISTERED: Final = ("OK", "CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE", "UNKNOWN")
_GOES_ON: Final = 2  # releases that are confirmed after RESYNC, the second one after the first


def every_request_names_the_registered_rm() -> Evaluator:
    """Each message on an update stream has the rmID of the registration before it."""
    registered: str | None = None

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal registered
        if isinstance(entry.content, RegistrationRequested):
            registered = entry.content.rm
            return NOTHING_TO_EVALUATE
        message = entry.message
        if not entry.sent_by_rm or message is None or _ID not in message.DESCRIPTOR.fields_by_name:
            return NOTHING_TO_EVALUATE
        sent = getattr(message, _ID)
        return violated_if(sent != registered, f'the rmID "{sent}" did not register')

    return evaluate


def updates_follow_a_registration() -> Evaluator:
    """An RM whose first message is the call to register sends no update before the answer.

    What was sent before the record began is unknown, so any other record is not evaluated; after a
    call whose outcome is unknown the RM may be registered.
    """
    begun = registers = registered = False

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal begun, registers, registered
        if not begun:
            begun, registers = True, isinstance(entry.content, RegistrationRequested)
        if isinstance(entry.content, RegistrationAnswered):
            held = registers and not registered and entry.content.status == "OK"
            registered = registered or entry.content.status in _PERHAPS_REGISTERED
            return "" if held else NOTHING_TO_EVALUATE
        if registered or not registers or not isinstance(entry.content, _UPDATES):
            return NOTHING_TO_EVALUATE
        return f"{entry.content}: sent before the RM was registered"

    return evaluate


def a_wanted_registration_ends_the_updates() -> Evaluator:
    """After RESYNC an RM does not go on with its stream without a new registration.

    It certainly goes on if it confirms a release that came after RESYNC, and then another one that
    was sent after that confirmation.
    """
    wanted = False
    sent: dict[str, Termination] = {}  # releases after RESYNC that are not confirmed
    confirmed = 0

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal wanted, confirmed
        match entry.content:
            case RegistrationWanted():
                wanted = True
                return ""
            case RegistrationRequested():
                wanted, confirmed = False, 0
                sent.clear()
            case Released(identity=name, termination=kind) if wanted and kind in BY_THE_SCHEDULER:
                sent[name] = kind
            case ReleaseRequest(OneAllocation(identity=name), kind) if sent.get(name) is kind:
                sent.clear()
                confirmed += 1
                message = f"{entry.content}: the RM continues after RESYNC without registering"
                return violated_if(confirmed >= _GOES_ON, message)
        return NOTHING_TO_EVALUATE

    return evaluate


def aborted_streams_reopen_after_a_registration() -> Evaluator:
    """An RM opens a stream that the scheduler aborted only after it has registered again.

    A stream that the RM itself had half-closed may have another one in its place already.
    """
    aborted: dict[UpdateKind, str] = {}
    half_closed: set[UpdateKind] = set()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case RegistrationRequested() | RegistrationAnswered():
                aborted.clear()
                half_closed.clear()
            case StreamEnded(kind=kind) if entry.sent_by_rm:
                half_closed.add(kind)
            case StreamEnded(kind=kind, status=status) if status not in _NOT_ABORTED:
                if kind not in half_closed:
                    aborted[kind] = status
                    return ""
            case StreamOpening(kind=kind) if kind in aborted:
                return (
                    f"the {kind.value} stream is opened again without a registration, after it was"
                    f" aborted with {aborted[kind]}"
                )
        return NOTHING_TO_EVALUATE

    return evaluate


MONITORS: Final = (
    Monitor(
        every_request_names_the_registered_rm,
        ("SI-CONN-020",),
        observes=SENT_BY_RM,
        outlives_registrations=True,  # so that a trace is not checked whose registration is unknown
    ),
    Monitor(
        updates_follow_a_registration,
        ("SI-REG-011",),
        observes=(*REGISTRATIONS, *_UPDATES, Allocated, ApplicationUpdated, Released),
        outlives_registrations=True,
    ),
    Monitor(
        a_wanted_registration_ends_the_updates,
        ("SI-CONN-011",),
        observes=(RegistrationWanted, RegistrationRequested, Released, ReleaseRequest),
    ),
    Monitor(
        aborted_streams_reopen_after_a_registration,
        ("SI-CONN-013",),
        observes=(*REGISTRATIONS, StreamEnded, StreamOpening),
    ),
)
