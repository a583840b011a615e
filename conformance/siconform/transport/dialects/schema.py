"""The messages and methods an RM uses: those of its revision or of an edited spec.

With an edited spec the RM still sends what its revision can express. It is encoded in the messages
of the edited spec, field by field by name, and responses are decoded the same way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any, Final

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from siwire import Revision, pool, rpc

from siconform.outcomes import NotExpressible
from siconform.transport.dialects.by_name import Losses, copied, lost_by

_PACKAGE, _, _SERVICE = rpc.SERVICE.rpartition(".")
_NO_MESSAGE: Final = "there is no such message"
_KINDS: Final = {
    "unary_unary": "one message each way",
    "unary_stream": "a stream of answers to one message",
    "stream_unary": "one answer to a stream",
    "stream_stream": "a stream each way",
}


class Schema:
    """The schema of a revision; `messages` has its message classes as attributes by name."""

    def __init__(self, revision: Revision, messages: Any) -> None:
        self.revision = revision
        self._messages = messages

    def new(self, name: str) -> Message:
        """Return an empty message of that name, for the dialect to write to."""
        message: Message = self.own(name)()
        return message

    def own(self, name: str) -> Any:
        """Return the message class of that name, as the dialect knows it."""
        return getattr(self._messages, name)

    def method(self, name: str) -> rpc.Method:
        """Return the method of that name; LookupError if there is none."""
        try:
            return self._methods[name]
        except KeyError:
            message = f"SI {self.revision} has no method {name}"
            raise LookupError(message) from None

    def sent(self, message: Message) -> Message:
        """Return the message to send for the one the dialect wrote."""
        return message

    def read(self, name: str, data: bytes) -> Message:
        """Parse a received message; DecodeError if the bytes are not one."""
        message: Message = self.own(name).FromString(data)
        return message

    def observed(self, message: Message) -> tuple[Message, Losses]:
        """Return a received message as the dialect reads it, and what it cannot express of it."""
        return message, {}

    def losses(self) -> Losses:
        """Return all that the revision can express and this cannot: full name to why."""
        return {}

    @cached_property
    def _methods(self) -> Mapping[str, rpc.Method]:
        return rpc.methods(self.revision)


class EditedSchema(Schema):
    """The schema of an edited spec; missing elements are named as in the revision."""

    def __init__(
        self,
        revision: Revision,
        messages: Any,
        edited: Any,
        services: Mapping[str, ServiceDescriptor],
    ) -> None:
        super().__init__(revision, messages)
        self._edited = edited
        self._services = services

    def method(self, name: str) -> rpc.Method:
        """Return the method of that name; NotExpressible if it is missing or of another kind."""
        own, edited = super().method(name), self._edited_methods.get(name)
        why = "there is no such method" if edited is None else _differs(own, edited)
        if edited is None or why:
            raise NotExpressible({f"{rpc.SERVICE}.{name}": why})
        return edited

    def sent(self, message: Message) -> Message:
        """Encode in the edited spec; NotExpressible with all that it cannot express."""
        edited: Message = self._in_the_text(message.DESCRIPTOR.name)()
        losses = copied(message, edited, unknown=True)
        if losses:
            raise NotExpressible(losses)
        return edited

    def read(self, name: str, data: bytes) -> Message:
        """Parse a received message of the edited spec; NotExpressible without such a message."""
        message: Message = self._in_the_text(name).FromString(data)
        return message

    def observed(self, message: Message) -> tuple[Message, Losses]:
        """Return a message as the dialect reads it, and what its revision reads in addition."""
        name = message.DESCRIPTOR.name
        own = self.new(name)
        copied(message, own)
        received = super().read(name, message.SerializeToString())
        return own, copied(received, self._in_the_text(name)())

    def losses(self) -> Losses:
        """Return all that the revision can express and the edited spec cannot."""
        losses: Losses = {}
        for name in self._methods:
            try:
                self.method(name)
            except NotExpressible as lost:
                losses.update(lost.elements)
        for name, message in self.revision.si.DESCRIPTOR.message_types_by_name.items():
            edited = getattr(self._edited, name, None)
            if edited is None:
                losses[message.full_name] = _NO_MESSAGE
            else:
                losses.update(lost_by(self.own(name).DESCRIPTOR, edited.DESCRIPTOR))
        return losses

    @cached_property
    def _edited_methods(self) -> Mapping[str, rpc.Method]:
        service = self._services.get(_SERVICE)
        return rpc.methods_of(service) if service is not None else {}

    def _in_the_text(self, name: str) -> Any:
        if not hasattr(self._edited, name):
            raise NotExpressible({f"{_PACKAGE}.{name}": _NO_MESSAGE})
        return getattr(self._edited, name)


@dataclass(frozen=True)
class _EditedRevision(Revision):
    """A revision with the schema of an edited spec instead of the published one."""

    descriptors: bytes = field(repr=False)

    @cached_property
    def si(self) -> Any:
        """The messages of the edited spec, in a separate pool."""
        return SimpleNamespace(**pool.contents(self.descriptors))


def schema_of(revision: Revision, messages: Callable[[Revision], Any], edited: bytes) -> Schema:
    """Return the schema an RM uses, with its message classes from `messages`.

    `edited` is the descriptor set of an edited spec, imports first; b"" for the revision itself.
    """
    own = messages(revision)
    if not edited:
        return Schema(revision, own)
    spec = _edited_revision(revision, edited)
    return EditedSchema(revision, own, messages(spec), spec.si.DESCRIPTOR.services_by_name)


@cache
def _edited_revision(revision: Revision, edited: bytes) -> _EditedRevision:
    known = (revision.name, revision.aliases, revision.package, revision.capabilities)
    return _EditedRevision(*known, descriptors=edited)


def _differs(own: rpc.Method, edited: rpc.Method) -> str:
    """Return why code for the one method cannot call the other; "" if it can."""
    if own.kind != edited.kind:
        return f"it is {_KINDS[edited.kind]} there, not {_KINDS[own.kind]}"
    for direction, one, other in (
        ("takes", own.request, edited.request),
        ("returns", own.response, edited.response),
    ):
        if one.DESCRIPTOR.name != other.DESCRIPTOR.name:
            return f"it {direction} {other.DESCRIPTOR.name} there, not {one.DESCRIPTOR.name}"
    return ""
