"""Permitted variants of how calls are served: closed connections, gzip, limits, own fields."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final

import grpc
from sireference.codec.codec import Codec
from sireference.shell.server import Server

from mutation.inside import Patch
from mutation.main_revision import NAME, si
from mutation.mutant import variant

_SECOND: Final = 1000  # milliseconds
_KIB: Final = 1024  # bytes
_LONG: Final = 3600 * _SECOND
_OWN_FIELD: Final = b"\xa0\x1f\x01"  # number 500, as a varint


def _serves_with(patch: Patch, *options: tuple[str, int], **more: Any) -> None:
    """Create the server of the reference with these options as well."""

    def init(original: Callable[..., None], server: Server, *args: Any, **kwargs: Any) -> None:
        aio: Any = grpc.aio
        plain = aio.server

        def made(**given: Any) -> Any:
            names = {name for name, _ in options}
            kept = [(name, value) for name, value in given.pop("options") if name not in names]
            return plain(options=(*kept, *options), **given, **more)

        aio.server = made
        try:
            original(server, *args, **kwargs)
        finally:
            aio.server = plain
        patch.fires()

    patch.instead_of(Server.__init__, init)


@variant(
    "connections-are-left-after-two-seconds",
    "A connection takes no new calls after 2 s; open ones continue.",
)
def _(patch: Patch) -> None:
    age, grace = "grpc.max_connection_age_ms", "grpc.max_connection_age_grace_ms"
    _serves_with(patch, (age, 2 * _SECOND), (grace, _LONG))


@variant("answers-are-compressed", "All messages are compressed by gzip.")
def _(patch: Patch) -> None:
    _serves_with(patch, compression=grpc.Compression.Gzip)


@variant("takes-16-KiB", "A message of more than 16 KiB ends its stream.")
def _(patch: Patch) -> None:
    _serves_with(patch, ("grpc.max_receive_message_length", 16 * _KIB))


@variant("pings-each-second", "The server pings its clients every second.")
def _(patch: Patch) -> None:
    _serves_with(
        patch,
        ("grpc.keepalive_time_ms", _SECOND),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_time_between_pings_ms", _SECOND),
    )


@variant("four-calls-a-connection", "A connection has four concurrent calls; more have to wait.")
def _(patch: Patch) -> None:
    _serves_with(patch, ("grpc.max_concurrent_streams", 4))


@variant(
    "tags-of-its-own",
    "An allocation has one tag more than its ask.",
    revision=NAME,
)
def _(response: si.AllocationResponse) -> None:
    for new in response.new:
        new.allocationTags["scheduler.example/zone"] = "a"


@variant(
    "fields-of-its-own",
    "Each message, and each element in it, has a field that no revision declares.",
    departs_from=("SI-WIRE-017",),
)
def _(patch: Patch) -> None:
    def extended(original: Callable[..., Iterator[Any]], *arguments: Any) -> Iterator[Any]:
        for message in original(*arguments):
            lists = [value for field, value in message.ListFields() if field.is_repeated]
            for part in (message, *chain.from_iterable(lists)):
                part.MergeFromString(_OWN_FIELD)
            patch.fires()
            yield message

    patch.instead_of(Codec.responses, extended)
