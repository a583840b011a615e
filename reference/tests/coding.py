"""Reading and writing messages of a revision through its codec."""

from typing import Any

from sireference.codec import codec_for
from sireference.core import model
from siwire import Revision


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
