"""Test configurations, and an RM that uses them."""

import sys
from types import FrameType
from typing import Any

from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError
from sireference.core.model import (
    AcceptedApplication,
    Configured,
    Effect,
    Refused,
    RejectedApplication,
)
from tests.driving import RM, of

TOP = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
"""


def tree(*queues: str, rest: str = "", root: str = "") -> str:
    """Return a configuration with ``queues`` below the root; ``rest`` belongs to the partition."""
    text = TOP.replace('submitacl: "*"', f'submitacl: "*"\n        {root}') if root else TOP
    return text + "".join(f"          - {queue}\n" for queue in queues) + rest


def read(text: str) -> None:
    """Read a configuration; return its problems."""
    try:
        parse_configuration(text)
    except ConfigurationError as why:
        why.listing()


def calls(text: str) -> int:
    """Return how many functions, Python's own included, are called to read the document."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read(text)
    finally:
        sys.setprofile(before)
    return count


def queues(rm: RM) -> list[str]:
    return [queue.name.removeprefix("root.") for queue in rm.partition.root.all()][1:]


def running(*configured: str, memory: int = 100, **applications: str) -> RM:
    """Return an RM with those queues, a node, and applications in queues."""
    rm = RM(queues=tree(*configured))
    rm.creates("n1", memory=memory)
    for application, queue in applications.items():
        rm.submits(application, f"root.{queue}")
    return rm


def is_taken(effects: list[Effect]) -> bool:
    assert len(of(effects, Configured)) + len(of(effects, Refused)) == 1
    return bool(of(effects, Configured))


def takes(rm: RM, application: str, queue: str, **more: object) -> bool:
    effects = rm.submits(application, queue, **more)
    assert len(of(effects, AcceptedApplication)) + len(of(effects, RejectedApplication)) == 1
    return bool(of(effects, AcceptedApplication))
