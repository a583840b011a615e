"""Sentences on what a peer understands, in terms of the SI."""

from collections.abc import Mapping

from sispec.changes import Change, Kind
from sispec.cross_decoding import NEW, OLD, split
from sispec.meanings import absence_in
from sispec.message_senders import Peer
from sispec.misreading import Decoding, Form, Reading
from sispec.naming import words
from sispec.schema import Field, Schema

_TOGETHER = " and "
_LIKE_YOU = ("uni", "use", "uti", "uu")
_VOWELS = "aeiou"
AGES = {OLD: "an old", NEW: "a new"}


class Describer:
    """Describes readings, by the schemas of their two sides."""

    def __init__(
        self,
        schemas: Mapping[str, Schema],
        senders: Mapping[str, Mapping[str, frozenset[Peer]]],
    ) -> None:
        """Both arguments are by side: `old`, `new`, or the name of a revision."""
        self._schemas = schemas
        self._senders = senders

    def send(self, reading: Reading) -> str:
        """Describe in one sentence what the reader understands."""
        who = self.reader(reading.reader, reading.writer, reading.message)
        what = self._of_value(reading) if reading.carrier else self._of_field(reading)
        by = "" if reading.form is Form.BYTES else "from JSON, "
        return f"{by}{who} {what}."[0].upper() + f"{by}{who} {what}."[1:]

    def reader(self, side: str, writer: str, message: str) -> str:
        """Return the reader of the other side's message: `an old RM`, `a new scheduler`."""
        sent_by = self._senders.get(writer, {}).get(message, frozenset())
        peer = next(iter(sent_by)).other.value if len(sent_by) == 1 else "peer"
        if side in AGES:
            return f"{AGES[side]} {peer}"
        return f"{article(peer)} of {side}"

    def _of_field(self, reading: Reading) -> str:
        place = f"{reading.message}.{reading.element}"
        match reading.outcome:
            case Decoding.MISREAD:
                message = self._misread(reading)
            case Decoding.REFUSED:
                what = reading.element if reading.is_cut else f"{reading.element} = {reading.wrote}"
                message = (
                    f"cannot decode {article(reading.message)} with {what}: "
                    "the whole message is rejected"
                )
            case Decoding.LOST:
                schema = self._schemas[reading.reader]
                absence = absence_in(place, schema, reading.taken_for)
                message = f"does not see {place}{f': {absence.message}' if absence else ''}"
            case Decoding.PARTLY if _TOGETHER in reading.element:
                message = f"keeps only {reading.read_as} of {article(reading.message)} with "
                message += reading.element
            case Decoding.PARTLY if reading.is_cut:
                message = f"keeps only one of several {place}"
            case Decoding.PARTLY:
                only = f"{reading.read_as} = {reading.read}"
                message = f"keeps of {place} = {reading.wrote} only {only}"
            case _ if reading.read_as not in ("", reading.element):
                message = f"reads {place} as {reading.read_as}, with the same value"
            case _:
                message = f"reads {place} as it was written"
        return message

    def _misread(self, reading: Reading) -> str:
        place = f"{reading.message}.{reading.element}"
        wrote = self._field(reading.writer, reading.message, reading.element)
        read = self._field(reading.reader, reading.taken_for, reading.read_as)
        if wrote is not None and read is not None and self._are_messages(reading, wrote, read):
            taken = takes(wrote.type, read.type)
            if reading.element != reading.read_as:
                return f"{taken} ({place} is read as {reading.taken_for}.{reading.read_as})"
            inside = _TOGETHER.join(f"{one} as {other}" for one, other in reading.inside)
            return f"{taken} (in {place}{f' it reads {inside}' if inside else ''})"
        if reading.element == reading.read_as:
            return f"reads {place} = {reading.wrote} as {reading.read}"
        return f"reads {place} = {reading.wrote} as {reading.read_as} = {reading.read}"

    def _are_messages(self, reading: Reading, wrote: Field, read: Field) -> bool:
        return (
            wrote.type in self._schemas[reading.writer].messages
            and read.type in self._schemas[reading.reader].messages
            and wrote.type != read.type
        )

    @staticmethod
    def _of_value(reading: Reading) -> str:
        place = f"{reading.taken_for}.{reading.carrier}"
        unsent = "" if reading.data else ", which is zero and not sent,"
        if reading.outcome is Decoding.MISREAD:
            return f"takes {reading.element}{unsent} for {reading.read_as} ({place})"
        if reading.outcome is Decoding.LOST:
            return f"does not see {place} = {reading.element}, a name it does not know"
        if reading.outcome is Decoding.UNNAMED:
            return f"gets {reading.read} for {reading.element} ({place}), a number without a name"
        if reading.outcome is Decoding.REFUSED:
            return f"cannot decode {place} = {reading.element}"
        if reading.read_as != reading.element:
            return f"reads {reading.element} as {reading.read_as} ({place})"
        return f"reads {reading.element} as it was written ({place})"

    def _field(self, side: str, message: str, name: str) -> Field | None:
        declared = self._schemas[side].messages.get(message)
        return declared.fields.get(name) if declared is not None else None


def takes(wrote: str, read: str) -> str:
    """Format `takes a rejected node for an accepted one`, for RejectedNode and AcceptedNode."""
    ours, theirs = words(split(wrote)[1]), words(split(read)[1])
    if len(ours) > 1 and len(theirs) > 1 and ours[-1] == theirs[-1]:
        theirs = (*theirs[:-1], "one")
    return f"takes {article(' '.join(ours))} for {article(' '.join(theirs))}"


def article(phrase: str) -> str:
    """Prefix the phrase with its indefinite article."""
    plain = phrase.lower().startswith(_LIKE_YOU)
    an = phrase.startswith("RM") or (phrase[:1].lower() in _VOWELS and not plain)
    return f"{'an' if an else 'a'} {phrase}"


_STREAM = "(stream "
_OTHERS = {peer.value: peer.other.value for peer in Peer}
_UNSEEN = "{who} does not know {where}"
_TEMPLATES: Mapping[Kind, tuple[str, str]] = {
    Kind.PACKAGE: (
        "{who} answers under {old} only: a new RM gets UNIMPLEMENTED to every call",
        "{who} answers under {new} only: an old RM gets UNIMPLEMENTED to every call",
    ),
    Kind.SERVICE_ADDED: (
        "{who} answers UNIMPLEMENTED to {where}",
        "{who} is not called by old peers",
    ),
    Kind.SERVICE_REMOVED: (
        "{who} is not called any more",
        "{who} answers UNIMPLEMENTED to {where}",
    ),
    Kind.METHOD_ADDED: (
        "{who} answers UNIMPLEMENTED to {where}",
        "{who} is not called by an old RM",
    ),
    Kind.METHOD_REMOVED: (
        "{who} is not called by a new RM any more: {where} is never called",
        "{who} answers UNIMPLEMENTED to {where}, which an old RM still calls",
    ),
    Kind.MESSAGE_ADDED: (_UNSEEN, "{who} gets no {where} from an old {other}"),
    Kind.MESSAGE_REMOVED: ("{who} gets no {where} any more", "{who} does not know {where}"),
    Kind.FIELD_ADDED: (_UNSEEN, "{who} finds {where} empty in what an old {other} sends"),
    Kind.FIELD_REMOVED: ("{who} finds {where} empty in what a new {other} sends", _UNSEEN),
    Kind.VALUE_ADDED: (_UNSEEN, "{who} gets no {member} from an old {other}"),
    Kind.VALUE_REMOVED: ("{who} gets no {member} from a new {other}", _UNSEEN),
    Kind.VALUE_NUMBER: (
        "{who} has {member} as {old}; no message of both specifications carries it",
        "{who} has {member} as {new}; no message of both specifications carries it",
    ),
    Kind.VALUE_REPLACED: (
        "{who} knows {old}; no message of both specifications carries it",
        "{who} knows {new}; no message of both specifications carries it",
    ),
    Kind.ENUM_ADDED: (_UNSEEN, "{who} gets no {where} from an old {other}"),
    Kind.ENUM_REMOVED: ("{who} gets no {where} any more", "{who} does not know {where}"),
    Kind.CONSTANT_VALUE: (
        '{who} looks for "{old}" and does not find what is sent under "{new}"',
        '{who} looks for "{new}" and does not find what is sent under "{old}"',
    ),
    Kind.CONSTANT_ADDED: (
        '{who} does not know "{new}"',
        '{who} gets no "{new}" from an old {other}',
    ),
    Kind.CONSTANT_REMOVED: (
        '{who} gets no "{old}" from a new {other}',
        '{who} no longer knows "{old}"',
    ),
    Kind.FIELD_ROLE: (
        "{who} reads the same bytes and follows the old comment",
        "{who} reads the same bytes and follows the new comment",
    ),
    Kind.API_ADDED: ("{who} does not implement {where}", "{who} does not compile without {where}"),
    Kind.API_REMOVED: ("{who} calls {where} and does not compile", "{who} has no {where}"),
    Kind.API_SIGNATURE: (
        "{who} calls {where} with its old signature, and does not compile with the new one",
        "{who} has {where} with its new signature",
    ),
    Kind.API_PARAMETERS: ("{who} compiles unchanged", "{who} compiles unchanged"),
    Kind.API_RENAMED: (
        "{who} names {old} and does not compile",
        "{who} names {new}",
    ),
    Kind.CONSTANT_RENAMED: (
        "{who} sends and reads the same string, and does not compile with the new name",
        "{who} sends and reads the same string",
    ),
}
"""What an old and a new peer understand if no bytes differ, or if there are none."""


_TAKEN = (
    '{who} takes what is sent as {where}, "{new}", for {taken_from}',
    '{who} takes what is sent as {taken_from}, "{new}", for {where}',
)
"""The same for a constant whose value is that of another one in the old specification."""


def without_bytes(change: Change, side: str, who: str) -> str:
    """Describe what the peer `who` of one side understands of a change that no message shows."""
    if change.kind is Kind.METHOD_STREAMING:
        message = _of_streaming(change, side, who)
    else:
        both = _TEMPLATES.get(change.kind)
        if change.kind is Kind.CONSTANT_VALUE and change.taken_from:
            both = _TAKEN
        template = (
            "{who} reads the same bytes and the same JSON" if both is None else both[side == NEW]
        )
        absent = "no package" if change.kind is Kind.PACKAGE else ""
        message = template.format(
            who=who,
            where=change.where if side == NEW else change.old_place,
            member=split(change.where)[1],
            old=change.old or absent,
            new=change.new or absent,
            taken_from=change.taken_from,
            other=_other(who),
        )
    return f"{message[0].upper()}{message[1:]}."


def _other(who: str) -> str:
    """Return the counterpart of the peer `who`: the scheduler, the RM, or any peer."""
    _, _, kind = who.rpartition(" ")
    return _OTHERS.get(kind, kind)


def of_new_interface(change: Change, who: str) -> str:
    """Describe a new Go method whose interface had no implementations before."""
    interface, method = split(change.where)
    return f"{who[0].upper()}{who[1:]} may have {method}: {interface} is a new interface."


def _of_streaming(change: Change, side: str, who: str) -> str:
    """Describe an rpc that streams at the other end only, as gRPC behaves."""
    mine, other = (change.old, change.new) if side == OLD else (change.new, change.old)
    (request, answer), (their_request, their_answer) = (
        tuple(half.startswith(_STREAM) for half in shape.split(" returns "))
        for shape in (mine, other)
    )
    sent = []
    if their_request and not request:
        sent.append("handles the first message of a stream and loses the others")
    if request and not their_request:
        sent.append("gets one message with each call, and no more")
    if answer and not their_answer:
        sent.append("can answer once, and fails the call with a second answer")
    if their_answer and not answer:
        sent.append("answers once and cannot send on its own")
    return f"{who} {'; it '.join(sent)}"
