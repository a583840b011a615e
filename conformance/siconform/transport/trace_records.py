"""What passes between RMs and a scheduler, as records of a history."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from siwire import Revision, rpc

from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.recording.history import Content, Entry, kind_of_content
from siconform.transport.dialects import dialect_for
from siconform.transport.forwarding import Passed

Decode = Callable[[UpdateKind, bool, Message], Sequence[Content]]
"""Returns the elements of a message of a stream; the flag states whether the RM sent it."""


def not_decoded(_: Revision) -> Decode:
    """Decode nothing."""
    return lambda _kind, _by_rm, _message: ()


_ENDS_OF_THE_RM: Final = {"OK": "half-closes", "CANCELLED": "cancels"}


@dataclass(slots=True)
class _Call:
    method: rpc.Method
    kinds: Sequence[UpdateKind]  # the conversations of its stream; none for the registration
    rm: str = ""


class TraceRecords:
    """Turns what passes into records; calls of other services give none."""

    def __init__(
        self, revision: Revision, decoder: Callable[[Revision], Decode] = not_decoded
    ) -> None:
        self._revision = revision
        self._dialect = dialect_for(revision)
        self._methods = {method.path: method for method in rpc.methods(revision).values()}
        self._decoder = decoder
        self._decoders: dict[str, Decode] = {}  # by RM: the meaning of a key depends on the RM
        self._calls: dict[int, _Call] = {}
        self._number = 0

    def of(self, passed: Passed) -> list[Mapping[str, Any]]:
        """Return the records of one message, or of the end of one side of a call."""
        method = self._methods.get(passed.method)
        if method is None:
            return []
        kinds = [kind for kind in UpdateKind if self._dialect.method(kind) == method.name]
        call = self._calls.setdefault(passed.call, _Call(method, kinds))
        self._number += 1
        if passed.data is not None:
            return list(self._of_message(passed, passed.data, call))
        return list(self._of_end(passed, call))

    def _of_message(self, passed: Passed, data: bytes, call: _Call) -> Iterator[Mapping[str, Any]]:
        kind = call.method.request if passed.by_rm else call.method.response
        try:
            message = self._dialect.schema.read(kind.DESCRIPTOR.name, data)
        except DecodeError as error:
            yield {**self._plain(passed, call, f"unreadable: {error}"), "hex": data.hex()}
            return
        if passed.by_rm:
            call.rm = call.rm or getattr(message, "rmID", "")
        contents = self._contents(passed, call, message)
        for content in contents:
            yield {**self._entry(passed, call, content), **_shown(message, data)}
        if not contents:
            yield {**self._plain(passed, call, ""), **_shown(message, data)}

    def _contents(self, passed: Passed, call: _Call, message: Message) -> Sequence[Content]:
        if call.kinds:
            decode = self._decoders.setdefault(call.rm, self._decoder(self._revision))
            return decode(call.kinds[0], passed.by_rm, message)
        if passed.by_rm:
            return [RegistrationRequested(call.rm)]
        return [RegistrationAnswered(call.rm, "OK", "")]

    def _of_end(self, passed: Passed, call: _Call) -> Iterator[Mapping[str, Any]]:
        if passed.by_rm:
            for kind in call.kinds[:1]:
                says = f"{_ENDS_OF_THE_RM[passed.status]} the {kind.value} stream"
                yield self._plain(passed, call, says)
        elif not call.rm:
            yield self._plain(passed, call, f"ends a call without messages: {passed.status}")
        elif call.kinds:
            for kind in call.kinds:
                yield self._entry(passed, call, StreamEnded(kind, passed.status, passed.details))
        elif passed.status != "OK":  # else the response states it
            answered = RegistrationAnswered(call.rm, passed.status, passed.details)
            yield self._entry(passed, call, answered)

    def _entry(self, passed: Passed, call: _Call, content: Content) -> dict[str, Any]:
        entry = Entry(
            passed.at,
            call.rm,
            passed.by_rm,
            kind_of_content(content),
            content,
            message=None,
            number=self._number,
            moment=passed.at,
        )
        return {**entry.record(), "aside": False, "call": passed.call}

    def _plain(self, passed: Passed, call: _Call, says: str) -> dict[str, Any]:
        """Return a record without an element."""
        at = round(passed.at, 6)
        return {
            "at": at,
            "moment": at,
            "rm": call.rm,
            "from": "rm" if passed.by_rm else "scheduler",
            "stream": call.kinds[0].value if call.kinds else None,
            "says": says,
            "brief": says,
            "same": says,
            "fence": False,
            "number": self._number,
            "element": None,
            "message": None,
            "json": None,
            "hex": None,
            "aside": False,
            "call": passed.call,
        }


def _shown(message: Message, data: bytes) -> dict[str, Any]:
    """Return the message of a record, with its bytes as they were sent."""
    return {
        "message": message.DESCRIPTOR.full_name,
        "json": json_format.MessageToDict(message),
        "hex": data.hex(),
    }
