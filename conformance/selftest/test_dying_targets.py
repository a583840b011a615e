"""A target that dies in a test is reported, and not failed for what it could no longer do."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .commands import Reference, serving_reference
from .conftest import RM_WITH_HISTORY

pytestmark = pytest.mark.end_to_end

Run = Callable[..., Any]


ENDS = (
    "raise ConformanceFailure('never received: allocated')",
    "raise CameLate('after 3 s')",
    "raise PreconditionFailed('an application is accepted: the stream ended')",
    "pass",
)


@pytest.mark.parametrize("end", ENDS)
def test_started_target_dies(conformance: Run, pytester: pytest.Pytester, end: str) -> None:
    program = pytester.makepyfile(
        program="import os, socket, sys, time\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print('listening on 127.0.0.1:%d' % server.getsockname()[1], flush=True)\n"
        "while b'die' not in server.accept()[0].recv(9): pass\n"
        "sys.exit('out of memory')\n"
    )
    outcome = conformance(
        dies("alive", end), "--target-command", f"{sys.executable} {program}", target=False
    )

    assert outcome.verdict("SI-NODE-004") == "could-not-run"
    reason = outcome.reason("SI-NODE-004")
    assert reason.startswith("the target died: ")
    assert "it ended with exit status 1" in reason
    assert "out of memory" in reason
    assert outcome.code == 10


@pytest.mark.parametrize("end", ENDS)
def test_target_dies_and_its_launcher_survives(
    conformance: Run, pytester: pytest.Pytester, end: str
) -> None:
    program = pytester.makepyfile(
        program="import os, socket, time\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "print('listening on 127.0.0.1:%d' % server.getsockname()[1], flush=True)\n"
        "while b'die' not in server.accept()[0].recv(9): pass\n"
        "server.close()\n"
        "time.sleep(60)\n"
    )
    outcome = conformance(
        dies("listens", end), "--target-command", f"{sys.executable} {program}", target=False
    )

    assert outcome.verdict("SI-NODE-004") == "could-not-run"
    assert "nothing listens at its address any more" in outcome.reason("SI-NODE-004")


@pytest.mark.parametrize("end", ENDS)
def test_attached_target_dies(conformance: Run, reference: Any, end: str) -> None:
    source = KILLS.format(pid=reference.pid, end=end)
    outcome = conformance(source, "--target", reference.address, target=False, fresh=True)

    assert outcome.verdict("SI-NODE-004") == "could-not-run"
    assert outcome.reason("SI-NODE-004").startswith("the target is gone: nothing listens on")
    assert outcome.code in (10, 12)


def test_attached_target_dies_and_is_restarted(conformance: Run, reference: Any) -> None:
    source = RM_WITH_HISTORY + (
        '@requirement("SI-NODE-004")\n'
        "def test_it(rm):\n"
        "    ended = StreamEnded(UpdateKind.NODES, 'UNAVAILABLE', 'Socket closed')\n"
        "    rm.add('rm', [ended], sent_by_rm=False)\n"
        "    raise ConformanceFailure('the node stream ended: UNAVAILABLE Socket closed')\n"
    )
    outcome = conformance(source, "--target", reference.address, target=False, fresh=True)

    assert outcome.verdict("SI-NODE-004") == "could-not-run"
    assert outcome.reason("SI-NODE-004") == "the connection to the target broke: Socket closed"


def test_living_target_fails(conformance: Run, reference: Any) -> None:
    source = '@requirement("SI-NODE-004")\ndef test_it(target): raise ConformanceFailure("no")\n'
    outcome = conformance(source, "--target", reference.address, target=False, fresh=True)

    assert outcome.verdict("SI-NODE-004") == "fail"


KILLS = """
@requirement("SI-NODE-004")
def test_it(target):
    os.kill({pid}, signal.SIGKILL)
    import socket
    while True:
        try:
            host, _, port = target.address.rpartition(":")
            socket.create_connection((host, int(port))).close()
        except OSError:
            break
    {end}
"""


def dies(until_not: str, end: str) -> str:
    """Return a test that ends in this way once the target is not alive, or does not listen."""
    return (
        '@requirement("SI-NODE-004")\n'
        "def test_it(target):\n"
        "    import socket\n"
        "    host, _, port = target.address.rpartition(':')\n"
        "    with socket.create_connection((host, int(port))) as there:\n"
        "        there.sendall(b'die')\n"
        "        there.recv(1)\n"
        f"    while target.{until_not}(): time.sleep(0.02)\n"
        f"    {end}\n"
    )


@pytest.fixture
def reference() -> Iterator[Reference]:
    with serving_reference() as reference:
        yield reference
