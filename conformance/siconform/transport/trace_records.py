"""What passes between RMs and a scheduler, as the lines of a trace (docs/trace-format.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import DecodeError, Message
from siwire import Revision, rpc

from siconform.protocol.notifications import StreamEnded, Unreadable, UpdateKind
from siconform.protocol.requests import StreamOpening
from siconform.recording.history import Content, Entry, kind_of_content
from siconform.transport.callback_records import CALLBACKS_PATH, CallbackRecords
from siconform.transport.dialects import dialect_for
from siconform.transport.forwarding import Passed
from siconform.transport.name_hashing import NameHashing

_ENDS_OF_THE_RM: Final = {"OK": "half-closes", "CANCELLED": "cancels"}
_OK: Final = "OK"

Record = Mapping[str, Any]


@dataclass(slots=True)
class _Call:
    method: rpc.Method
    kinds: Sequence[UpdateKind]  # the conversations of its stream; none for the registration
    rm: str = ""


class TraceRecords:
    """Turns what passes into records; calls of other services give none.

    A message is one raw line, not decoded here. Elements are written for what no message states:
    the opening and the end of a stream, and callbacks. The first number is 1 only if nothing was
    before, as far as that is known: the record does not continue another one, and begins with a
    registration.
    """

    def __init__(
        self, revision: Revision, hashing: NameHashing | None = None, *, continues: bool = False
    ) -> None:
        dialect = dialect_for(revision)
        self._schema = dialect.schema
        self._hashing = hashing
        self._methods = {method.path: method for method in rpc.methods(revision).values()}
        self._kinds = {
            name: [kind for kind in UpdateKind if dialect.method(kind) == name]
            for name in rpc.methods(revision)
        }
        self._callbacks = CallbackRecords(dialect, hashing)
        self._calls: dict[int, _Call] = {}
        self._continues = continues
        self._number = 0

    def records(self, path: str) -> bool:
        """Return whether calls of this method are recorded."""
        return path in self._methods or path == CALLBACKS_PATH

    def of(self, passed: Passed) -> Iterator[Record]:
        """Yield the records of one message, or of the end of one side of a call with messages."""
        if passed.data is not None and not self._number and not self._begins(passed):
            self._number = 1
        if passed.method == CALLBACKS_PATH:
            for rm, by_rm, content, message in self._callbacks.of(passed):
                yield self._element(passed, rm, content, message, by_rm=by_rm)
            return
        method = self._methods[passed.method]
        call = self._calls.get(passed.call) or _Call(method, self._kinds[method.name])
        if passed.data is not None:
            self._calls[passed.call] = call
            yield self._of_message(passed, passed.data, call)
        elif passed.call in self._calls:
            yield from self._of_end(passed, call)
            if not (passed.by_rm and passed.status == _OK):  # after a half-close the call goes on
                self._calls.pop(passed.call, None)

    def _begins(self, passed: Passed) -> bool:
        """Return whether a record that begins with this shows all that was before it."""
        method = self._methods.get(passed.method)
        is_registration = method is not None and not self._kinds[method.name]
        return is_registration and passed.opens and not self._continues

    def _of_message(self, passed: Passed, data: bytes, call: _Call) -> Record:
        kind = call.method.request if passed.by_rm else call.method.response
        name = kind.DESCRIPTOR.name
        try:
            if self._hashing is not None:
                data = self._hashing.hashed(name, data)
            if passed.opens:
                message = self._schema.read(name, data)
                call.rm = getattr(message, "rmID", "")
                if call.kinds and all(field.name == "rmID" for field, _ in message.ListFields()):
                    opening = StreamOpening(call.kinds[0])
                    return {**self._element(passed, call.rm, opening, message), "hex": data.hex()}
        except DecodeError as error:
            if self._hashing is not None:  # the bytes may contain names
                return self._unreadable(passed, call, str(error))
        return {
            **self._start(passed, call.rm, call.kinds[0] if call.kinds else None),
            "message": kind.DESCRIPTOR.full_name,
            "hex": data.hex(),
        }

    def _unreadable(self, passed: Passed, call: _Call, problem: str) -> Record:
        if call.kinds:
            return self._element(passed, call.rm, Unreadable(call.kinds[0], problem), None)
        return {**self._start(passed, call.rm, None), "message": None, "hex": None}

    def _of_end(self, passed: Passed, call: _Call) -> Iterator[Record]:
        details = passed.details.encode("utf-8", "backslashreplace").decode()
        if self._hashing is not None:
            details = self._hashing.text(details)
        if passed.by_rm:
            for kind in call.kinds[:1]:
                text = f"{_ENDS_OF_THE_RM[passed.status]} the {kind.value} stream"
                start = self._start(passed, call.rm, kind)
                yield {**start, "says": text, "element": None, "message": None, "hex": None}
        elif call.kinds:
            for kind in call.kinds:
                ended = StreamEnded(kind, passed.status, details)
                yield self._element(passed, call.rm, ended, None)
        elif passed.status != _OK:  # else the response states it
            yield {
                **self._start(passed, call.rm, None),
                "message": call.method.response.DESCRIPTOR.full_name,
                "hex": None,
                "error": f"{passed.status} {details}".rstrip(),
            }

    def _element(
        self,
        passed: Passed,
        rm: str,
        content: Content,
        message: Message | None,
        *,
        by_rm: bool | None = None,
    ) -> Record:
        from_rm = passed.by_rm if by_rm is None else by_rm
        kind = kind_of_content(content)
        self._number += 1
        entry = Entry(
            passed.at, rm, from_rm, kind, content, message, self._number, moment=passed.at
        )
        record = entry.received()
        return {
            **{key: record[key] for key in ("at", "rm", "from", "stream", "number")},
            "says": record["says"],
            "element": record["element"],
            "message": message.DESCRIPTOR.full_name if message is not None else None,
            "hex": message.SerializeToString().hex() if message is not None else None,
            "call": passed.call,
        }

    def _start(self, passed: Passed, rm: str, kind: UpdateKind | None) -> dict[str, Any]:
        self._number += 1
        return {
            "at": round(passed.at, 6),
            "from": "rm" if passed.by_rm else "scheduler",
            "rm": rm,
            "stream": kind.value if kind else None,
            "number": self._number,
            "call": passed.call,
        }
