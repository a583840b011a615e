"""Rules about an RM's registration and streams, where the kit is the scheduler."""

from typing import Final

from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.rm_wire import SENT_BY_RM
from siconform.protocol.registration import RegistrationRequested
from siconform.recording.history import Entry

_ID: Final = "rmID"


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


MONITORS: Final = (
    Monitor(
        every_request_names_the_registered_rm,
        ("SI-CONN-020",),
        hears=SENT_BY_RM,
        outlives_registrations=True,  # so that a trace is not checked whose registration is unknown
    ),
)
