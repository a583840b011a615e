"""The lines of a trace, decoded to entries of a history as in a run (docs/trace-format.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Final, Literal, get_args

import msgspec
from google.protobuf.message import DecodeError, Message
from siwire import Revision

from siconform.protocol import callbacks, configuration, events
from siconform.protocol.notifications import CONNECTION_FACTS, CONVERSATIONS, Fact, UpdateKind
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import AskReleaseRequest, AskRequest, LegacyRequest, Request
from siconform.recording.elements import Unreplayable
from siconform.recording.history import Content, Entry, kind_of_content
from siconform.transport.dialects import Dialect, dialect_for
from siconform.transport.dialects.callback_payloads import CallbackPayloads
from siconform.transport.dialects.decoding import decode

_REGISTERED: Final = "RegisterResourceManagerResponse"
_FAILED: Final = "UNKNOWN"  # the gRPC status of a failed call of which no other is known
_OFFER: Final = 1  # a trace does not number the offers of callbacks
_PREFIX: Final = "si.v1."


class UnusableLine(ValueError):
    """A line that cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Began:
    """A header; ``began`` is the same in all files of a trace."""

    began: float
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The writer lost this many messages here."""

    messages: int


@dataclass(frozen=True, slots=True)
class Read:
    """What monitors evaluate of a line, and the message that it belongs to."""

    at: float
    rm: str
    number: int
    entries: Sequence[Entry]


class _Line(msgspec.Struct, frozen=True, rename={"sender": "from"}):
    """The keys of all kinds of lines that are read."""

    sender: Literal["rm", "scheduler"] | None = None
    at: float | None = None
    rm: str | None = None
    number: int | None = None
    message: str | None = None
    hex: str | None = None
    element: dict[str, Any] | msgspec.UnsetType | None = msgspec.UNSET
    stream: str | None = None
    moment: float | None = None
    fence: bool = False
    error: str | None = None
    answers: int | None = None
    ok: bool = False
    text: str = ""
    dropped: int | None = None
    began: float | None = None
    revision: str = ""


@dataclass(slots=True)
class _Peer:
    """One registration of an RM."""

    dialect: Dialect
    opened: set[UpdateKind] = field(default_factory=set)


def _facts_in(*modules: Any) -> dict[str, type[Fact]]:
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, Fact) and kind.__module__ == module.__name__
    }


def _members(union: UnionType) -> dict[str, type]:
    return {kind.__name__: kind for kind in get_args(union)}


_FACTS: Final[Mapping[str, type]] = {
    **{kind.__name__: kind for kind in (*CONVERSATIONS, *CONNECTION_FACTS)},
    **_facts_in(callbacks, configuration, events),
}
_SENT_BY_RM: Final[Mapping[str, type]] = {**_members(Request), **_FACTS}


class TraceEntries:
    """Decodes the lines of a trace in order; remembers what each RM's keys stand for."""

    def __init__(self, revision: Revision) -> None:
        self._revision = revision
        plain = dialect_for(revision)
        self.identity: Final = plain.identity
        self._schema = plain.schema
        self._kinds = _conversations(plain)
        self._payloads = {payload.message: payload for payload in plain.payloads.values()}
        self._callbacks = CallbackPayloads(plain.schema, plain.payloads, _OFFER)
        self._peers: dict[str, _Peer] = {}
        self._read = msgspec.json.Decoder(_Line).decode
        self._last: tuple[int, str, Message | None] | None = None

    def restart(self) -> None:
        """Forget what was sent: the trace has a gap here, or begins again."""
        self._peers.clear()

    def forget(self, rm: str, key: str) -> None:
        """Forget what a key of an RM stands for, which ended long ago."""
        peer = self._peers.get(rm)
        if peer is not None:
            peer.dialect.forget(key)

    def of(self, line: bytes) -> Read | Began | Dropped | None:
        """Return what a line contains; None if it is of no kind that is read.

        Raise UnusableLine if it is not a line of a trace.
        """
        try:
            read = self._read(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UnusableLine(str(error)) from None
        if read.sender is None:
            if read.dropped is not None:
                return Dropped(read.dropped)
            return None if read.began is None else Began(read.began, read.revision)
        if read.element is None and not read.rm:
            return None  # a call without messages
        if read.at is None or read.rm is None or read.number is None:
            missing = next(n for n in ("at", "rm", "number") if getattr(read, n) is None)
            raise UnusableLine(f'no "{missing}" in the record')
        if read.element is msgspec.UNSET:
            message, contents = self._raw(read, read.rm)
        else:
            message, contents = self._decoded(read, read.rm, read.number)
        moment = read.at if read.moment is None else read.moment
        by_rm = read.sender == "rm"
        entries = [
            Entry(
                read.at,
                read.rm,
                by_rm,
                kind_of_content(content),
                content,
                message,
                read.number,
                read.fence,
                moment,
            )
            for content in contents
        ]
        return Read(read.at, read.rm, read.number, entries)

    def _raw(self, line: _Line, rm: str) -> tuple[Message | None, Sequence[Content]]:
        name = (line.message or "").removeprefix(_PREFIX)
        by_rm = line.sender == "rm"
        if name == _REGISTERED and line.hex is None:
            return None, [RegistrationAnswered(rm, _FAILED, line.error or "")]
        if line.hex is None:
            is_answer = by_rm and line.answers is not None
            return None, [callbacks.Answered(line.ok, 0, line.text)] if is_answer else ()
        data = _bytes(line.hex)
        kind = self._kinds.get((name, by_rm))
        if kind is not None:
            peer = self._peer(rm)
            opens = kind not in peer.opened
            if by_rm and opens:
                peer.opened.add(kind)
            decoded = decode(peer.dialect, kind, data, sent_by_rm=by_rm, opens=opens)
            return decoded.message, decoded.contents
        try:
            return self._outside(name, data, rm, by_rm=by_rm)
        except DecodeError:
            return None, ()

    def _outside(
        self, name: str, data: bytes, rm: str, *, by_rm: bool
    ) -> tuple[Message | None, Sequence[Content]]:
        """Decode a message that belongs to no update stream."""
        if by_rm:
            return self._outside_of_rm(name, data, rm)
        if name == _REGISTERED:
            self._peers.pop(rm, None)
            return self._schema.read(name, data), [RegistrationAnswered(rm, "OK", "")]
        if name not in self._payloads:
            return None, ()
        received = list(self._callbacks.read(self._payloads[name], data))
        return received[0][1] if received else None, [fact for fact, _ in received]

    def _outside_of_rm(
        self, name: str, data: bytes, rm: str
    ) -> tuple[Message | None, Sequence[Content]]:
        if name not in self._schema.revision.si.DESCRIPTOR.message_types_by_name:
            return None, ()
        message: Any = self._schema.read(name, data)
        match name:
            case "RegisterResourceManagerRequest":
                return message, [RegistrationRequested(rm)]
            case "UpdateConfigurationRequest":
                return message, [configuration.ConfigurationSent(rm, message.policyGroup)]
            case "PreemptionPredicatesResponse":
                return message, [callbacks.Answered(message.success, message.index, "")]
            case _:
                return None, ()

    def _decoded(
        self, line: _Line, rm: str, number: int
    ) -> tuple[Message | None, Sequence[Content]]:
        sent = line.element
        if isinstance(sent, dict):
            content = _element(sent, _SENT_BY_RM if line.sender == "rm" else _FACTS)
            if content is None:
                return None, ()
            return self._message(line, number), [content]
        if line.stream is not None or not rm:
            return None, ()
        if line.sender == "rm":
            return self._message(line, number), [RegistrationRequested(rm)]
        status = _FAILED if line.hex is None else "OK"
        return self._message(line, number), [RegistrationAnswered(rm, status, "")]

    def _message(self, line: _Line, number: int) -> Message | None:
        """Return the message, the same object for all elements of it."""
        if line.hex is None or line.message is None:
            return None
        known = self._last
        if known is not None and known[0] == number and known[1] == line.hex:
            return known[2]
        name = line.message.removeprefix(_PREFIX)
        try:
            message = self._schema.read(name, _bytes(line.hex))
        except AttributeError:
            raise UnusableLine(f"SI {self._revision} has no message {name}") from None
        except DecodeError:
            return None  # the element states that it is unreadable
        self._last = (number, line.hex, message)
        return message

    def _peer(self, rm: str) -> _Peer:
        peer = self._peers.get(rm)
        if peer is None:
            peer = self._peers[rm] = _Peer(dialect_for(self._revision))
        return peer


def _conversations(dialect: Dialect) -> Mapping[tuple[str, bool], UpdateKind]:
    """Return the conversation of each message of an update stream, by name and direction."""
    found: dict[tuple[str, bool], UpdateKind] = {}
    for kind in UpdateKind:
        method = dialect.schema.method(dialect.method(kind))
        found.setdefault((method.request.DESCRIPTOR.name, True), kind)
        found.setdefault((method.response.DESCRIPTOR.name, False), kind)
    return found


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise UnusableLine('"hex" is not in hexadecimal') from None


def _element(record: Mapping[str, Any], kinds: Mapping[str, type]) -> Content | None:
    """Return the element of a record; None for what monitors do not evaluate."""
    name = record.get("is", "nothing")
    kind = kinds.get(name)
    if kind is None:
        return None
    named = {key: value for key, value in record.items() if key != "is"}
    try:
        if kind is LegacyRequest:  # of two types, which msgspec does not tell apart
            sent = named["sent"]
            inside: type[Any] = AskReleaseRequest if "subject" in sent else AskRequest
            return LegacyRequest(msgspec.convert(sent, inside))
        content: Content = msgspec.convert(named, kind)
    except (msgspec.ValidationError, TypeError, KeyError) as error:
        raise Unreplayable(f"not a valid {name}: {error}") from None
    return content
