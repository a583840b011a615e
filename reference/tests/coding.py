"""Reading and writing messages of a revision through its codec."""

from typing import Any

from sireference.codec import codec_for
from sireference.core import model
from sireference.core.states import TerminationType
from siwire import Revision

TERMINATIONS = [
    (0, TerminationType.UNSET),
    (1, TerminationType.STOPPED_BY_RM),
    (2, TerminationType.TIMEOUT),
    (3, TerminationType.PREEMPTED_BY_SCHEDULER),
    (4, TerminationType.PLACEHOLDER_REPLACED),
    (77, TerminationType.UNRECOGNISED),
    (-1, TerminationType.UNRECOGNISED),
]
"""The numbers of termination types since 2023-04, and what is meant."""


def resource(si: Any, **amounts: int) -> Any:
    """Return a Resource of that revision."""
    return si.Resource(resources={name: si.Quantity(value=v) for name, v in amounts.items()})


def read(revision: Revision, method: str, **fields: Any) -> Any:
    """Return the one event in a request with these fields."""
    message = getattr(revision.si, method.removeprefix("Update") + "Request")(rmID="rm", **fields)
    (event,) = codec_for(revision).events(method, message)
    assert event.rm_id == "rm"
    return event


def write(revision: Revision, *answers: model.Answer) -> list[Any]:
    """Return the responses that carry these answers of one stream."""
    codec = codec_for(revision)
    (method,) = {codec.method_of(answer) for answer in answers}
    return list(codec.responses(method, answers))
