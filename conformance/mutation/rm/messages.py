"""Changes of the messages that an RM sends, by stream."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from google.protobuf.message import Message
from sirm.codec.codec import Codec
from sirm.core.model import Update

from mutation.patching import Patch

Requests: TypeAlias = Callable[[Codec, Iterable[Update], str], Iterator[tuple[str, Message]]]


def edit(patch: Patch, edits: Callable[[str, Any], bool]) -> None:
    """Edit each message on an update stream, except for the first.

    ``edits`` gets the method and the message, and returns whether it changed something.
    """

    def requests(
        original: Requests, codec: Codec, updates: Iterable[Update], rm_id: str
    ) -> Iterator[tuple[str, Message]]:
        for method, message in original(codec, updates, rm_id):
            if edits(method, message):
                patch.fires()
            yield method, message

    patch.instead_of(Codec.requests, requests)
