"""Channels to a scheduler: always a fresh connection, messages of any size, no proxy between."""

import threading
from typing import Final

import grpc

DIRECTLY: Final = ("grpc.enable_http_proxy", 0)
"""Option of a channel: http_proxy in the environment is about other things than the target."""

OPTIONS: Final = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),  # a fresh connection for every RM
    DIRECTLY,
)


_AT_THE_DEADLINE: Final = 0.2  # seconds by which the two ends may differ


def how_it_ended(error: grpc.RpcError, *, left: float) -> grpc.StatusCode | None:
    """How a call ended with so many seconds left of those it had, None where that is not known.

    A server hears of the deadline, too, and may be the first to end the call for it: as cancelled.
    """
    if not isinstance(error, grpc.Call):
        return None
    code = error.code()
    if code is grpc.StatusCode.CANCELLED and left < _AT_THE_DEADLINE:
        return grpc.StatusCode.DEADLINE_EXCEEDED
    return code


def close(channel: grpc.Channel, timeout: float = 0.0) -> None:
    """Close it within ``timeout`` seconds, or later, and at last with the process.

    gRPC waits for every call to end, looks only now and then whether it has, and has no limit.
    """
    closing = threading.Thread(target=channel.close, name="closes a channel", daemon=True)
    closing.start()
    closing.join(timeout)
