"""One open update stream: an outgoing queue and a listening thread."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import grpc

_HALF_CLOSE: Final = object()


class Stream:
    """A bidirectional call carrying raw bytes.

    ``on_message`` is called with each response, ``on_end`` once with the gRPC status name and its
    details, both on the listening thread.
    """

    def __init__(
        self,
        call: Callable[[Iterator[bytes]], Any],
        on_message: Callable[[bytes], None],
        on_end: Callable[[str, str], None],
        name: str,
    ) -> None:
        self._outgoing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._was_cut = False
        self._on_message = on_message
        self._on_end = on_end
        self._responses = call(self._requests())
        self._listener = threading.Thread(target=self._listen, name=name, daemon=True)
        self._listener.start()

    @property
    def open(self) -> bool:
        """Whether the scheduler has not ended it yet."""
        return not self._ended.is_set()

    def send(self, data: bytes) -> None:
        """Queue one message; the transport sends it in order."""
        self._outgoing.put(data)

    def half_close(self) -> None:
        """Send nothing more; the scheduler may continue to send."""
        self._outgoing.put(_HALF_CLOSE)

    def cut(self) -> None:
        """Cancel the call abruptly; ``on_end`` is not called."""
        self._was_cut = True
        self._responses.cancel()

    def _requests(self) -> Iterator[bytes]:
        while (item := self._outgoing.get()) is not _HALF_CLOSE:
            yield item

    def _listen(self) -> None:
        status, details = "OK", ""
        try:
            for data in self._responses:
                self._on_message(data)
        except grpc.RpcError as error:
            code = error.code() if isinstance(error, grpc.Call) else None
            status = code.name if code is not None else "UNKNOWN"
            details = (error.details() or "") if isinstance(error, grpc.Call) else str(error)
        finally:
            self._ended.set()
            self.half_close()  # frees the thread that feeds the call
            if not self._was_cut:
                self._on_end(status, details)
