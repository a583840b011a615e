"""Traces: recorded gRPC sessions in fixtures/traces, and their replay.

``python -m tests.traces`` records them again. A trace has one JSON object a line: an action on the
scheduler (`start`, `wait`), or a message with its sender, its call, its proto3 JSON and its bytes.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message
from sireference.clock import VirtualClock
from sireference.codec import Policies
from sireference.configuration.parsing import parse_configuration
from sireference.core.model import Settings
from sireference.shell.streams import StreamTable
from siwire import REVISIONS, Capability, Revision, rpc
from tests.sessions import POLICY_GROUP, QUEUES, Sent, Speaker, play
from tests.wire import TIMEOUT, Wire, served

FOLDER: Final = Path(__file__).parents[2] / "fixtures" / "traces"
REGISTER: Final = "RegisterResourceManager"
_LOOK_AGAIN: Final = 0.001  # seconds
_IDENTITIES: Final = ("UUID", "allocationID")
_TEXTS: Final = ("message", "reason")  # for people: only their presence is compared


class _SameClock(VirtualClock):
    """A clock that always starts at the same moment, so that traces are reproducible."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 1_700_000_000.0


@asynccontextmanager
async def scheduler(revision: Revision, number: int) -> AsyncIterator[Wire]:
    """Return a scheduler with its own clock and, where the RM cannot send them, the queues."""
    groups = {POLICY_GROUP: parse_configuration(QUEUES)}
    sends = revision.can(Capability.CONFIGURATION_IN_REGISTRATION)
    policies = Policies() if sends else Policies(groups=groups)
    settings = Settings(identity_prefix=f"{number}-")
    async with served(revision, settings, _SameClock(), policies) as wire:
        yield wire


class _Connection:
    """One RM at one scheduler, reading its streams continuously."""

    def __init__(self, wire: Wire, revision: Revision) -> None:
        self.wire = wire
        self.methods = rpc.methods(revision)
        self.received: dict[str, asyncio.Queue[Message]] = {}
        self._calls: dict[str, Any] = {}
        self._readers: dict[str, asyncio.Task[None]] = {}
        self._sent: Counter[str] = Counter()  # messages by method
        self._received: Counter[str] = Counter()
        self._delivered: Counter[str] = Counter()  # by the scheduler, to be received
        self._count_deliveries(wire.server._streams)

    def _count_deliveries(self, table: StreamTable) -> None:
        deliver = table.deliver

        def counted(rm_id: str, method: str, messages: list[bytes]) -> None:
            self._delivered[method] += len(messages)
            deliver(rm_id, method, messages)

        table.deliver = counted  # type: ignore[method-assign]  # of this one table

    async def registers(self, request: Message) -> Message:
        call = rpc.callable_for(self.wire.channel, self.methods[REGISTER])
        response: Message = await call(request, timeout=TIMEOUT)
        return response

    async def send(self, method: str, request: Message) -> None:
        if method not in self._calls:
            call = rpc.callable_for(self.wire.channel, self.methods[method])()
            self._calls[method], self.received[method] = call, asyncio.Queue()
            self._readers[method] = asyncio.create_task(self._read(method, call))
        self._sent[method] += 1
        await self._calls[method].write(request)

    async def _read(self, method: str, call: Any) -> None:
        try:
            while (message := await call.read()) is not grpc.aio.EOF:
                self._received[method] += 1
                self.received[method].put_nowait(message)
        except grpc.aio.AioRpcError:
            pass  # the scheduler is gone

    async def is_quiet(self) -> None:
        """Wait until the scheduler has handled everything and all its answers are here."""
        async with asyncio.timeout(TIMEOUT):
            while not self._has_sent_everything():  # noqa: ASYNC110  # it has no event
                await asyncio.sleep(_LOOK_AGAIN)

    def _has_sent_everything(self) -> bool:
        engine = self.wire.server.engine
        deadline = engine.scheduler.next_deadline()
        is_due = deadline is not None and deadline <= engine.clock.now()
        return (
            not is_due
            and engine._jobs._all_done.is_set()
            and all(
                reader.done()  # the stream has ended
                or (
                    engine.counters.handled[method] == self._sent[method]
                    and self._delivered[method] <= self._received[method]
                )
                for method, reader in self._readers.items()
            )
        )

    async def ends(self) -> None:
        for reader in self._readers.values():
            reader.cancel()
        await asyncio.gather(*self._readers.values(), return_exceptions=True)


class _Player:
    """Successive schedulers, and the connection to the current one."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self.connection: _Connection | None = None
        self._number = 0
        self._stack = AsyncExitStack()

    @property
    def now(self) -> _Connection:
        assert self.connection is not None, "there is no scheduler"
        return self.connection

    async def starts(self) -> None:
        await self.ends()
        self._number += 1
        wire = await self._stack.enter_async_context(scheduler(self.revision, self._number))
        self.connection = _Connection(wire, self.revision)

    async def ends(self) -> None:
        if self.connection is not None:
            await self.connection.ends()
        await self._stack.aclose()

    async def waits(self, milliseconds: int) -> None:
        await self.now.wire.calls("AdvanceClock", milliseconds=milliseconds)


class Recorder:
    """Plays a session and records its messages."""

    def __init__(self, revision: Revision) -> None:
        self.lines: list[dict[str, Any]] = []
        self._player = _Player(revision)
        self._allocated: dict[str, Any] = {}

    async def starts(self) -> None:
        await self._player.starts()
        self.lines.append({"do": "start"})

    async def registers(self, fields: Mapping[str, Any]) -> None:
        connection = self._player.now
        request: Any = connection.methods[REGISTER].request
        message = request(rmID="rm-1", **fields)
        self._write("rm", REGISTER, message)
        self._write("scheduler", REGISTER, await connection.registers(message))
        for method in connection.methods:
            if method != REGISTER:
                await self.send((method, {}))

    async def send(self, sent: Sent) -> None:
        method, fields = sent
        request: Any = self._player.now.methods[method].request
        message = request(rmID="rm-1", **fields)
        self._write("rm", method, message)
        await self._player.now.send(method, message)
        await self._receive()

    async def waits(self, milliseconds: int) -> None:
        await self._player.waits(milliseconds)
        self.lines.append({"do": "wait", "milliseconds": milliseconds})
        await self._receive()

    def allocated(self, key: str) -> Any:
        return self._allocated[key]

    async def ends(self) -> None:
        await self._player.ends()

    async def _receive(self) -> None:
        await self._player.now.is_quiet()
        for method, received in self._player.now.received.items():
            while not received.empty():
                message: Any = received.get_nowait()
                self._write("scheduler", method, message)
                for field in ("new", "newAllocations"):
                    for one in getattr(message, field, ()):
                        if one.DESCRIPTOR.name == "Allocation":
                            self._allocated[one.allocationKey] = one

    def _write(self, speaker: str, call: str, message: Message) -> None:
        self.lines.append(
            {
                "from": speaker,
                "call": call,
                "message": message.DESCRIPTOR.full_name,
                "json": json_format.MessageToDict(message),
                "hex": message.SerializeToString(deterministic=True).hex(),
            }
        )


class Replayer:
    """Sends what the RM of a trace sent, and compares the scheduler's answers.

    Identities are the scheduler's own: those of the trace are mapped one to one. Of texts for
    people only their presence is compared. No message may come before its line in the trace.
    """

    def __init__(self, revision: Revision) -> None:
        self._player = _Player(revision)
        self._own: dict[str, str] = {}  # identity in the trace -> identity here
        self._registered: Message | None = None  # the answer to the registration

    async def replays(self, lines: list[dict[str, Any]]) -> None:
        """Replay all of it; AssertionError at the first difference."""
        try:
            for number, line in enumerate(lines, start=1):
                await self._plays(line, f"line {number}: {line}")
            await self._nothing_is_left()
        finally:
            await self._player.ends()

    async def _plays(self, line: dict[str, Any], where: str) -> None:
        player = self._player
        if line.get("from") != "scheduler":
            await self._nothing_is_left()
        if line.get("do") == "start":
            await player.starts()
        elif line.get("do") == "wait":
            await player.waits(line["milliseconds"])
        elif line["from"] == "scheduler":
            message = await self._observed(line["call"])
            self._compare(line["json"], json_format.MessageToDict(message), where)
        else:
            method = player.now.methods[line["call"]]
            request = json_format.ParseDict(self._translated(line["json"]), method.request())
            if line["call"] == REGISTER:
                self._registered = await player.now.registers(request)
            else:
                await player.now.send(line["call"], request)

    async def _observed(self, call: str) -> Message:
        if call == REGISTER:
            assert self._registered is not None, "an answer without a registration"
            return self._registered
        return await asyncio.wait_for(self._player.now.received[call].get(), TIMEOUT)

    async def _nothing_is_left(self) -> None:
        if self._player.connection is not None:
            await self._player.now.is_quiet()
            for call, received in self._player.now.received.items():
                assert received.empty(), (
                    f"more on {call} than the trace has: {received.get_nowait()}"
                )

    def _translated(self, sent: Any, name: str = "") -> Any:
        if isinstance(sent, dict):
            return {key: self._translated(value, key) for key, value in sent.items()}
        if isinstance(sent, list):
            return [self._translated(value) for value in sent]
        return self._own.get(sent, sent) if name in _IDENTITIES else sent

    def _compare(self, recorded: Any, received: Any, where: str, name: str = "") -> None:
        if isinstance(recorded, dict) and isinstance(received, dict):
            for key in recorded.keys() | received.keys():
                self._compare(recorded.get(key), received.get(key), where, key)
        elif isinstance(recorded, list) and isinstance(received, list):
            assert len(recorded) == len(received), f"{where}\nheard: {received}"
            for one, other in zip(recorded, received, strict=True):
                self._compare(one, other, where)
        elif name in _IDENTITIES and isinstance(received, str) and recorded:
            is_known = recorded in self._own or received in self._own.values()
            own = self._own.get(recorded) if is_known else self._own.setdefault(recorded, received)
            assert own == received, f"{where}\nheard: {received}"
        elif name in _TEXTS:
            assert bool(recorded) is bool(received), f"{where}\n{name}: {received}"
        else:
            assert recorded == received, f"{where}\n{name or 'heard'}: {received}"


def path(revision: Revision) -> Path:
    """Return the path of the trace of ``revision``."""
    return FOLDER / f"{revision}.jsonl"


def read(revision: Revision) -> list[dict[str, Any]]:
    """Return the lines of its trace."""
    with path(revision).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


async def record(revision: Revision) -> list[dict[str, Any]]:
    """Play the session and record its messages."""
    recorder = Recorder(revision)
    try:
        await play(recorder, Speaker(revision))
    finally:
        await recorder.ends()
    return recorder.lines


def main() -> None:
    """Record all traces again."""
    FOLDER.mkdir(exist_ok=True)
    for revision in REVISIONS.values():
        lines = asyncio.run(record(revision))
        text = "".join(json.dumps(line) + "\n" for line in lines)
        path(revision).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
