"""What passes between RMs and a scheduler, as records of a history."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from siwire import Revision, rpc

from siconform.protocol.notifications import StreamEnded, UpdateKind
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.recording.history import Content, Entry, kind_of_content
from siconform.transport.dialects import Dialect, dialect_for
from siconform.transport.dialects.decoding import decode
from siconform.transport.forwarding import Passed

_ENDS_OF_THE_RM: Final = {"OK": "half-closes", "CANCELLED": "cancels"}


@dataclass(slots=True)
class _Call:
    method: rpc.Method
    kinds: Sequence[UpdateKind]  # the conversations of its stream; none for the registration
    rm: str = ""


class TraceRecords:
    """Turns what passes into records; calls of other services give none."""

    def __init__(self, revision: Revision) -> None:
        self._revision = revision
        self._dialect = dialect_for(revision)
        self._methods = {method.path: method for method in rpc.methods(revision).values()}
        self._registrations: dict[str, Dialect] = {}  # of each RM, the last one
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
        name = kind.DESCRIPTOR.full_name
        try:
            message = self._dialect.schema.read(kind.DESCRIPTOR.name, data)
        except DecodeError as error:
            unreadable = self._plain(passed, call, f"unreadable: {error}")
            yield {**unreadable, "message": name, "hex": data.hex()}
            return
        opens = not call.rm
        call.rm = call.rm or getattr(message, "rmID", "")
        shown = {"message": name, "json": json_format.MessageToDict(message), "hex": data.hex()}
        for content in self._contents(passed, data, call, opens=opens):
            yield {**self._entry(passed, call, content), **shown}

    def _contents(
        self, passed: Passed, data: bytes, call: _Call, *, opens: bool
    ) -> Sequence[Content]:
        if call.kinds:
            dialect = self._registrations.get(call.rm, self._dialect)
            return decode(
                dialect, call.kinds[0], data, sent_by_rm=passed.by_rm, opens=opens
            ).contents
        if passed.by_rm:
            return [RegistrationRequested(call.rm)]
        self._registrations[call.rm] = dialect_for(self._revision)
        return [RegistrationAnswered(call.rm, "OK", "")]

    def _of_end(self, passed: Passed, call: _Call) -> Iterator[Mapping[str, Any]]:
        if passed.by_rm:
            for kind in call.kinds[:1]:
                text = f"{_ENDS_OF_THE_RM[passed.status]} the {kind.value} stream"
                yield self._plain(passed, call, text)
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

    def _plain(self, passed: Passed, call: _Call, text: str) -> dict[str, Any]:
        """Return a record without an element."""
        at = round(passed.at, 6)
        return {
            "at": at,
            "moment": at,
            "rm": call.rm,
            "from": "rm" if passed.by_rm else "scheduler",
            "stream": call.kinds[0].value if call.kinds else None,
            "says": text,
            "brief": text,
            "same": text,
            "fence": False,
            "number": self._number,
            "element": None,
            "message": None,
            "json": None,
            "hex": None,
            "aside": False,
            "call": passed.call,
        }
