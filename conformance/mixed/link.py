"""The wire between an RM and a scheduler: raw bytes both ways, all of them kept."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import grpc
from siconform.transport.streams import Stream
from siwire import Revision, rpc

from mixed.scheduler import Scheduler
from mixed.speech import Utterance

ANSWERS_WITHIN: Final = 10.0  # seconds until an answer that is certain to come
ENDS_WITHIN: Final = 10.0  # seconds from the last half-close until the streams have ended


class NoAnswerError(Exception):
    """Something that was certain to come did not, within its limit."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One message of the scheduler."""

    method: str
    data: bytes


class Link:
    """The streams that one RM has open, whoever's words are said there."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._streams: dict[str, Stream] = {}
        self._heard: list[Heard] = []
        self._ended: dict[str, str] = {}  # status and details by method
        self._changed = threading.Condition()

    def register(self, request: bytes, revision: Revision) -> str:
        """How the registration ended: "OK", or another status with its details."""
        method = rpc.methods(revision)["RegisterResourceManager"]
        call = rpc.callable_for(
            self._scheduler.channel, method, serializer=_as_it_is, deserializer=_as_it_is
        )
        try:
            call(request, timeout=ANSWERS_WITHIN)
        except grpc.RpcError as error:
            return _status(error)
        return "OK"

    def send(self, utterance: Utterance, revision: Revision) -> bytes:
        """Say it on the stream where the revision has it; what travelled."""
        method = utterance.conversation.method(revision)
        data = utterance.message.SerializeToString(deterministic=True)
        self._stream(method, revision).send(data)
        return data

    def ended(self, method: str) -> str:
        """With which status the stream ended; "" while it has not."""
        with self._changed:
            return self._ended.get(method, "")

    def heard(self) -> list[Heard]:
        """All that the scheduler has said up to now."""
        with self._changed:
            return list(self._heard)

    def wait(self, happened: Callable[[], bool], for_what: str, limit: float) -> None:
        """Until it happened; NoAnswerError after ``limit`` seconds."""
        deadline = time.monotonic() + limit
        with self._changed:
            while not happened():
                left = deadline - time.monotonic()
                if left <= 0:
                    raise NoAnswerError(f"{for_what} did not come within {limit:g} s")
                self._changed.wait(left)

    def half_close(self) -> None:
        """Say that nothing more will be said, and hear the end of every stream."""
        for stream in self._streams.values():
            stream.half_close()
        self.wait(self._all_ended, "the end of the streams", ENDS_WITHIN)

    def close(self) -> None:
        """Cut what is still open; the next registration begins anew."""
        for stream in self._streams.values():
            stream.cut()

    def _all_ended(self) -> bool:
        return self._ended.keys() >= self._streams.keys()

    def _stream(self, method: str, revision: Revision) -> Stream:
        if method not in self._streams:
            call = rpc.callable_for(
                self._scheduler.channel,
                rpc.methods(revision)[method],
                serializer=_as_it_is,
                deserializer=_as_it_is,
            )
            self._streams[method] = Stream(
                call,
                lambda data: self._hears(Heard(method, data)),
                lambda status, details: self._hears_end(method, status, details),
                name=f"mixed {method}",
            )
        return self._streams[method]

    def _hears(self, heard: Heard) -> None:
        with self._changed:
            self._heard.append(heard)
            self._changed.notify_all()

    def _hears_end(self, method: str, status: str, details: str) -> None:
        with self._changed:
            self._ended[method] = f"{status}: {details}" if details else status
            self._changed.notify_all()


def _as_it_is(data: bytes) -> bytes:
    return data


def _status(error: Any) -> str:
    code = error.code() if isinstance(error, grpc.Call) else grpc.StatusCode.UNKNOWN
    details = error.details() if isinstance(error, grpc.Call) else str(error)
    return f"{code.name}: {details}" if details else str(code.name)
