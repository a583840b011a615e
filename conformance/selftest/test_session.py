"""Where no process answers a session takes a fresh one, or says so where it has none."""

from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest
from siconform.outcomes import TargetLost, Unreachable
from siconform.rm.patience import Patience
from siconform.rm.session import Session
from siconform.targets.timers import UNKNOWN
from siwire import DEFAULT_REVISION, rpc

PATIENCE = Patience(connect=0.3, ack=0.5)
NOBODY = "127.0.0.1:1"


class Target:
    """One whose first process is gone before anybody notices; a fresh one refuses or serves."""

    revision = DEFAULT_REVISION
    traits = frozenset[str]()
    timers = stated = UNKNOWN

    def __init__(self, fresh: str, *, restartable: bool = True) -> None:
        self.address = NOBODY
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
    """The address of a scheduler that takes every registration."""
    server = grpc.server(futures.ThreadPoolExecutor(8))
    behaviours = {"RegisterResourceManager": _accept}
    server.add_generic_rpc_handlers((rpc.scheduler_handlers(DEFAULT_REVISION, behaviours),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None)


def _accept(*_: Any) -> Any:
    si: Any = DEFAULT_REVISION.si
    return si.RegisterResourceManagerResponse()


def test_a_process_that_does_not_answer_is_replaced_before_the_test_begins(serving: str) -> None:
    target = Target(serving)
    session = Session(target, PATIENCE, "w")

    assert session.resource_manager("one").connection.rm_id
    assert session.resource_manager("two").connection.rm_id

    assert target.restarts == 1
    session.discard()


def test_a_newcomer_is_not_sent_to_a_process_that_is_gone(serving: str) -> None:
    target = Target(serving)
    session = Session(target, PATIENCE, "w")

    newcomer = session.alone("one")

    assert newcomer.registers().status == "OK"
    newcomer.vanishes()
    session.discard()


def test_it_is_tried_once_only() -> None:
    target = Target(NOBODY)

    with pytest.raises(Unreachable):
        Session(target, PATIENCE, "w").resource_manager("one")

    assert target.restarts == 1


def test_without_a_process_of_its_own_the_kit_can_only_say_so() -> None:
    target = Target(NOBODY, restartable=False)

    with pytest.raises(TargetLost, match="nothing answers on"):
        Session(target, PATIENCE, "w").resource_manager("one")

    assert target.restarts == 0
