"""Channels to a scheduler: always a fresh connection, any message size, no proxy."""

import threading
from typing import Final

import grpc

DIRECTLY: Final = ("grpc.enable_http_proxy", 0)
"""Channel option: http_proxy in the environment does not apply to the target."""

OPTIONS: Final = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),  # a fresh connection for every RM
    DIRECTLY,
)


_AT_THE_DEADLINE: Final = 0.2  # seconds by which the clocks of the two ends may differ


def how_it_ended(error: grpc.RpcError, *, left: float) -> grpc.StatusCode | None:
    """Return how a call ended with so many seconds left, or None if unknown.

    A server also sees the deadline and may end the call first, as cancelled.
    """
    if not isinstance(error, grpc.Call):
        return None
    code = error.code()
    if code is grpc.StatusCode.CANCELLED and left < _AT_THE_DEADLINE:
        return grpc.StatusCode.DEADLINE_EXCEEDED
    return code


def close(channel: grpc.Channel, timeout: float = 0.0) -> None:
    """Close it within ``timeout`` seconds, or in the background.

    gRPC waits without limit for every call to end, and checks only now and then.
    """
    closing = threading.Thread(target=channel.close, name="closes a channel", daemon=True)
    closing.start()
    closing.join(timeout)
