"""A session replaces a process that does not answer, or reports that it cannot."""

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from typing import Any

import grpc
import pytest
from siconform.expecting.deadlines import Deadlines
from siconform.outcomes import TargetLost, Unreachable
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.registration import RegistrationRequested
from siconform.protocol.requests import Registration, StreamOpening
from siconform.protocol.timers import UNKNOWN
from siconform.recording.history import History
from siconform.rm.session import Session
from siconform.targets.terms import PLAIN
from siconform.transport.connection import Connection
from siwire import DEFAULT_REVISION

from .serving import scheduler

DEADLINES = Deadlines(connect=0.3, ack=0.5)
NO_CLIENT = "127.0.0.1:1"
_LOOK_AGAIN = 0.02  # seconds
_LIMIT = 10.0
STREAMS = frozenset({UpdateKind.NODES, UpdateKind.APPLICATIONS, UpdateKind.ALLOCATIONS})


class Target:
    """A target whose first process is gone unnoticed; the next one rejects or serves."""

    revision = DEFAULT_REVISION
    traits = frozenset[str]()
    timers = stated = UNKNOWN
    terms = PLAIN

    def __init__(self, fresh: str, *, restartable: bool = True) -> None:
        self.address = NO_CLIENT
        self.restartable = restartable
        self.restarts = 0
        self._fresh = fresh

    def alive(self) -> bool:
        return True

    def restart(self) -> None:
        self.restarts += 1
        self.address = self._fresh


@pytest.fixture
def serving() -> Iterator[str]:
    """The address of a scheduler that accepts every registration."""
    with scheduler({"RegisterResourceManager": _accept}, workers=8) as address:
        yield address


def _accept(*_: Any) -> Any:
    si: Any = DEFAULT_REVISION.si
    return si.RegisterResourceManagerResponse()


def test_unresponsive_process_is_replaced_before_test(serving: str) -> None:
    target = Target(serving)
    session = Session(target, DEADLINES, "w")

    assert session.resource_manager("one").connection.rm_id
    assert session.resource_manager("two").connection.rm_id

    assert target.restarts == 1
    session.discard()


def test_all_streams_open_before_first_request(serving: str) -> None:
    session = Session(Target(serving), DEADLINES, "w")
    session.resource_manager("one")

    sent = [entry.content for entry in session.history.since(0) if entry.sent_by_rm]
    opening = list(
        takewhile(lambda content: isinstance(content, (RegistrationRequested, StreamOpening)), sent)
    )

    opened = {content.kind for content in opening if isinstance(content, StreamOpening)}
    assert opened >= STREAMS
    session.discard()


def test_rm_dropped_during_probe_registers_again_before_first_test(serving: str) -> None:
    session = Session(Target(serving), DEADLINES, "w")  # which answers no stream

    session.resource_manager("one")

    sent = [entry.content for entry in session.history.since(0)]
    assert sum(isinstance(content, RegistrationRequested) for content in sent) == 2
    session.discard()


def test_rm_dropped_during_aside_registers_again_with_new_streams(serving: str) -> None:
    session = Session(Target(serving), DEADLINES, "w")  # which answers no stream
    session.observed.probed = True
    rm = session.resource_manager("one")
    before = len(session.history)

    with rm.aside():
        pass

    sent = [one.content for one in session.history.since(before) if one.sent_by_rm]
    again = next(i for i, content in enumerate(sent) if isinstance(content, RegistrationRequested))
    opened = {content.kind for content in sent[again:] if isinstance(content, StreamOpening)}
    assert opened >= STREAMS
    session.discard()


def test_isolated_rm_dropped_during_aside_registers_again_as_before(serving: str) -> None:
    session = Session(Target(serving), DEADLINES, "w")  # which answers no stream
    session.observed.probed = True
    rm = session.isolated_rm("one")
    before = len(session.history)

    with rm.aside():
        pass
    assert len(session.history) == before  # not registered, so not dropped
    rm.registers(policy_group="own")
    with rm.aside():
        pass

    requests = [
        one.message
        for one in session.history.since(before)
        if isinstance(one.content, RegistrationRequested)
    ]
    assert len(requests) == 2
    assert requests[0] == requests[1]
    session.discard()


def test_rm_of_aborted_test_does_not_confirm(serving: str) -> None:
    session = Session(Target(serving), DEADLINES, "listening")
    session.observed.probed = True
    left = session.resource_manager("left")

    other = session.resource_manager("other")

    assert len(other.connection.listeners) == 1
    assert left.connection is other.connection
    left.leaves()
    assert len(other.connection.listeners) == 1
    session.discard()


def test_rm_that_left_something_is_not_used_again(serving: str) -> None:
    target = Target(serving)
    session = Session(target, DEADLINES, "several")
    session.observed.probed = True
    left = session.resource_manager("left").connection.rm_id
    restarts = target.restarts

    session.starts_clean()

    assert session.resource_manager("next").connection.rm_id != left
    assert target.restarts == restarts
    session.discard()


@pytest.mark.parametrize("restartable", [True, False])
def test_process_of_one_rm_that_left_something_is_replaced(*, restartable: bool) -> None:
    registered: list[str] = []

    def accept_one(request: Any, context: grpc.ServicerContext) -> Any:
        if registered and request.rmID != registered[0]:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "there is an RM")
        registered.append(request.rmID)
        return _accept()

    with scheduler({"RegisterResourceManager": accept_one}, workers=8) as address:
        target = Target(address, restartable=restartable)
        target.address = address
        session = Session(target, DEADLINES, "one")
        session.observed.probed = True
        session.resource_manager("left")

        session.starts_clean()

        assert target.restarts == restartable
        session.discard()


def test_new_rm_avoids_dead_process(serving: str) -> None:
    target = Target(serving)
    session = Session(target, DEADLINES, "w")

    unregistered_rm = session.isolated_rm("one")

    assert unregistered_rm.registers().status == "OK"
    unregistered_rm.vanishes()
    session.discard()


@pytest.mark.parametrize(
    ("after", "status"), [(0.0, "CANCELLED"), (0.45, "DEADLINE_EXCEEDED")], ids=["early", "late"]
)
def test_cancelled_call_is_unanswered(after: float, status: str) -> None:
    def cancels(_: Any, context: grpc.ServicerContext) -> Any:
        time.sleep(after)
        context.abort(grpc.StatusCode.CANCELLED, "")

    with scheduler({"RegisterResourceManager": cancels}) as address:
        connection = Connection(address, DEFAULT_REVISION, "rm", History())
        connection.connects(_LIMIT)
        answered = connection.registers(Registration("rm", "1", "", ""), timeout=0.5)
        connection.close()

    assert answered.status == status


def test_replacement_is_tried_once() -> None:
    target = Target(NO_CLIENT)

    with pytest.raises(Unreachable):
        Session(target, DEADLINES, "w").resource_manager("one")

    assert target.restarts == 1


def test_attached_target_that_does_not_answer_is_reported() -> None:
    target = Target(NO_CLIENT, restartable=False)

    with pytest.raises(TargetLost, match="nothing answers on"):
        Session(target, DEADLINES, "w").resource_manager("one")

    assert target.restarts == 0


class Forgetful:
    """A scheduler that can drop its RMs: their streams end, and new ones at once."""

    def __init__(self) -> None:
        self.registrations = 0
        self._serving = threading.Event()
        self._ended = threading.Condition()
        self._streams = 0

    def registers(self, *_: Any) -> Any:
        self.registrations += 1
        self._serving.set()
        return _accept()

    def drops(self) -> None:
        self._serving.clear()
        with self._ended:
            assert self._ended.wait_for(lambda: self._streams == 0, _LIMIT)

    def nodes(self, requests: Iterator[Any], _: Any) -> Iterator[Any]:
        with self._counted():
            yield from self._answers(requests)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._ended:
            self._streams += 1
        try:
            yield
        finally:
            with self._ended:
                self._streams -= 1
                self._ended.notify_all()

    def _answers(self, requests: Iterator[Any]) -> Iterator[Any]:
        sent: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=_passes_on, args=(requests, sent), daemon=True).start()
        while self._serving.is_set():
            try:
                request = sent.get(timeout=_LOOK_AGAIN)
            except queue.Empty:
                continue
            if nodes := getattr(request, "nodes", ()):  # the other streams stay silent
                rejected = [{"nodeID": node.nodeID, "reason": "nowhere"} for node in nodes]
                yield DEFAULT_REVISION.si.NodeResponse(rejected=rejected)
        raise RuntimeError("who are you?")


def _passes_on(requests: Iterator[Any], sent: "queue.SimpleQueue[Any]") -> None:
    with suppress(grpc.RpcError):
        for request in requests:
            sent.put(request)


@pytest.fixture
def forgetful() -> Iterator[tuple[Forgetful, str]]:
    """Such a scheduler and its address."""
    forgetful = Forgetful()
    streams = ("UpdateNode", "UpdateApplication", "UpdateAllocation")
    behaviours: dict[str, Any] = dict.fromkeys(streams, forgetful.nodes)
    behaviours["RegisterResourceManager"] = forgetful.registers
    with scheduler(behaviours, workers=16) as address:
        yield forgetful, address
        forgetful.drops()  # otherwise its streams would keep the interpreter from ending


def test_dropped_rm_registers_again(forgetful: tuple[Forgetful, str]) -> None:
    scheduler, address = forgetful
    target = Target(address)
    target.address = address
    session = Session(target, DEADLINES, "w")
    session.observed.probed = True
    connection = session.resource_manager("one").connection
    rm_id = connection.rm_id
    assert session.resource_manager("two").connection.rm_id == rm_id
    assert scheduler.registrations == 1

    scheduler.drops()
    limit = time.monotonic() + _LIMIT
    while any(connection.is_open(kind) for kind in STREAMS) and time.monotonic() < limit:
        time.sleep(_LOOK_AGAIN)

    assert session.resource_manager("three").connection.rm_id == rm_id
    assert scheduler.registrations == 2
    session.discard()
