"""Interceptor of all calls: permissions, unreadable messages, unexpected errors, the end of all.

An unexpected error is logged in full, and the client only learns that there was one. Bytes that
cannot be decoded are the client's error.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import cache
from typing import Any, Final

import grpc
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError

from sireference.shell import unexpected
from sireference.shell.logs import LOGGER, fields
from sireference.shell.permissions import Permissions
from sireference.shell.unexpected import Refusal

Behaviour = Callable[[Any, Any], Awaitable[Any]]

_STREAMS: Final = "stream_stream"
_ONE_ANSWER: Final = "unary_unary"
_OFFER: Final = "offer"
_FIELDS_OF_RM: Final = ("rmID", "rm_id", _OFFER)
_LAST_CALLS: Final = 5.0  # seconds for calls to end after gRPC has cancelled them


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Intercepts the calls of ``services``; others, such as health checks, pass unchanged."""

    def __init__(self, services: frozenset[str], permissions: Permissions | None) -> None:
        self._services = services
        self._permissions = permissions
        self._running: set[asyncio.Task[Any]] = set()

    async def ended(self) -> None:
        """Wait for the calls to end: a stopped server cancels them, but does not wait."""
        if self._running:
            await asyncio.wait(self._running, timeout=_LAST_CALLS)

    async def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """Return the handler of the call, wrapped with the checks."""
        if call := asyncio.current_task():
            self._running.add(call)
            call.add_done_callback(self._running.discard)
        handler = await continuation(handler_call_details)
        service, _, method = handler_call_details.method.lstrip("/").rpartition("/")
        if handler is None or service not in self._services:
            return handler
        kind = _STREAMS if handler.request_streaming else _ONE_ANSWER
        behaviour = getattr(handler, kind)
        if behaviour is None:
            return handler
        around = self._around_stream if kind == _STREAMS else self._around_request
        make = getattr(grpc, f"{kind}_rpc_method_handler")
        return make(
            around(method, behaviour),
            request_deserializer=_tolerant(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )

    def _around_stream(self, method: str, behaviour: Behaviour) -> Behaviour:
        async def call(requests: AsyncIterator[Any], context: Any) -> Any:
            checked = _Checked(_Caller(method, context, self._permissions), requests)
            return await _served(behaviour, checked, checked.caller)

        return call

    def _around_request(self, method: str, behaviour: Behaviour) -> Behaviour:
        async def call(request: Any, context: Any) -> Any:
            caller = _Caller(method, context, self._permissions)

            async def checked(request: Any, context: Any) -> Any:
                caller.check(request)
                return await behaviour(request, context)

            return await _served(checked, request, caller)

        return call


class _Caller:
    """One call: its client and its RM."""

    def __init__(self, method: str, context: Any, permissions: Permissions | None) -> None:
        self.method = method
        self.context = context
        self.rm_id: str | None = None
        self._permissions = permissions

    def about(self) -> dict[str, Any]:
        """Return the log fields of the call."""
        return {"method": self.method, "rm": self.rm_id}

    def check(self, request: Any) -> None:
        """Raise Refusal for a message that is unreadable or not permitted."""
        if isinstance(request, _Unreadable):
            raise Refusal(
                grpc.StatusCode.INVALID_ARGUMENT, f"a message of {self.method}: {request}"
            )
        named = _rm_of(request)
        if not named or named == self.rm_id:
            return
        self.rm_id = named
        if self._permissions is not None:
            refusal = self._permissions.refusal(self.context.auth_context(), named)
            if refusal:
                LOGGER.warning("refused: %s", refusal, extra=fields(**self.about()))
                raise Refusal(grpc.StatusCode.PERMISSION_DENIED, refusal)


class _Checked:
    """The requests of a stream, each after its check."""

    def __init__(self, caller: _Caller, requests: AsyncIterator[Any]) -> None:
        self.caller = caller
        self._requests = requests
        self._messages: AsyncIterator[Any] | None = None  # until the first is read

    def __aiter__(self) -> "_Checked":
        return self

    async def __anext__(self) -> Any:
        if self._messages is None:
            self._messages = aiter(self._requests)
        request = await anext(self._messages)
        self.caller.check(request)
        return request


async def _served(behaviour: Behaviour, requests: Any, caller: _Caller) -> Any:
    try:
        return await behaviour(requests, caller.context)
    except Refusal as refusal:
        await _end(caller, refusal.code, refusal.problem)
    except grpc.aio.InternalError as error:
        # The client is gone, which gRPC notices a moment later: not an error of the scheduler, and
        # not logged; gRPC logs every error except this one.
        raise asyncio.CancelledError from error
    except Exception as error:
        if unexpected.is_of_transport(error):
            raise
        unexpected.report(error, **caller.about())
        await _end(caller, grpc.StatusCode.INTERNAL, unexpected.MESSAGES)


async def _end(caller: _Caller, code: grpc.StatusCode, problem: str) -> None:
    """End the call with this status, if it is not over already."""
    with suppress(grpc.aio.UsageError, grpc.aio.InternalError):
        await caller.context.abort(code, problem)


def _rm_of(request: Any) -> str:
    """Return the RM that a message names: of the SI, of the extension, or in a callback offer."""
    field = _field_of_rm(request.DESCRIPTOR)
    if field == _OFFER:
        request, field = request.offer, _field_of_rm(request.offer.DESCRIPTOR)
    name: str = getattr(request, field) if field else ""
    return name


@cache
def _field_of_rm(kind: Descriptor) -> str:
    """Return where a message of this kind names an RM; empty if nowhere."""
    return next((one for one in _FIELDS_OF_RM if one in kind.fields_by_name), "")


class _Unreadable:
    """Replaces a message that cannot be decoded."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __str__(self) -> str:
        return f"cannot decode the message: {self._error}"


def _tolerant(read: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """Wrap ``read`` to return _Unreadable on failure: gRPC would log an error."""
    if read is None:
        return None

    def tolerant(raw: bytes) -> Any:
        try:
            return read(raw)
        except DecodeError as error:
            return _Unreadable(error)

    return tolerant
