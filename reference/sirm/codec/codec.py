"""Codec: the functions and tables of one revision."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from google.protobuf.message import Message
from siwire import Revision, rpc

from sirm.codec.callbacks import CallbackCodec
from sirm.core.model import FromScheduler, Rules, Update

Reader: TypeAlias = Callable[[Any], Iterator[FromScheduler]]


@dataclass(frozen=True)
class Writer:
    """How one kind of update is written: on which stream, in which list, with which fields."""

    method: str
    list_of: Callable[[Any], str]  # names the list, from the update
    write: Callable[[Any, Any], None]  # adds the update to a request


@dataclass(frozen=True)
class Identity:
    """Who registers, and with what."""

    rm_id: str
    policy_group: str = ""
    config: str = ""
    instance: int = 1


@dataclass(frozen=True)
class Codec:
    """Conversion between the core and the messages of one revision.

    gRPC passes messages of the revision, which cannot be typed here.
    """

    revision: Revision
    rules: Rules
    registration: Callable[[Identity, Any], None]  # fills the message
    writers: Mapping[type, Writer]
    readers: Mapping[str, Reader]  # by update stream
    callbacks: CallbackCodec

    def events(self, method: str, response: Any) -> list[FromScheduler]:
        """Return the events in a response of the stream ``method``, in the order to handle them."""
        return list(self.readers[method](response))

    def register(self, identity: Identity) -> Message:
        """Return the registration."""
        message = rpc.methods(self.revision)["RegisterResourceManager"].request()
        self.registration(identity, message)
        return message

    def opening(self, method: str, rm_id: str) -> Message:
        """Return the first message of a stream, which only names the RM."""
        return self._request(method, rm_id)

    def requests(self, updates: Iterable[Update], rm_id: str) -> Iterator[tuple[str, Message]]:
        """Yield streams and messages with ``updates``; each message carries the rmID (SI-CONN-020).

        The lists of one message have no order, so a message has only one: consecutive updates of
        the same list.
        """
        place, message = ("", ""), None
        for update in updates:
            writer = self.writers[type(update)]
            wanted = (writer.method, writer.list_of(update))
            if message is None or wanted != place:
                if message is not None:
                    yield place[0], message
                place, message = wanted, self._request(writer.method, rm_id)
            writer.write(update, message)
        if message is not None:
            yield place[0], message

    def _request(self, method: str, rm_id: str) -> Message:
        made: Any = rpc.methods(self.revision)[method].request()
        made.rmID = rm_id
        return made  # type: ignore[no-any-return]  # of the revision
