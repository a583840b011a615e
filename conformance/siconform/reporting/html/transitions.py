"""Counts the state transitions of nodes, asks, allocations and applications in histories."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from siconform.protocol.application_states import (
    ACCEPTED,
    COMPLETED,
    FAILED,
    FAILING,
    NEW,
    RESUMING,
    RUNNING,
    WAITING,
)
from siconform.reporting.html.histories import Line
from siconform.reporting.html.machines import ALLOCATION, APPLICATION, ASK, MACHINES, NODE, Step

_STATES: Final = {
    "New": NEW,
    "Accepted": ACCEPTED,
    "Running": RUNNING,
    "Resuming": RESUMING,
    "Completing": WAITING,
    "Completed": COMPLETED,
    "Failing": FAILING,
    "Failed": FAILED,
}
_AFTER: Final[Mapping[str, str]] = {
    "CREATE": "schedulable",
    "CREATE_DRAIN": "draining",
    "DRAIN_NODE": "draining",
    "DRAIN_TO_SCHEDULABLE": "schedulable",
    "DECOMISSION": "removed",
}
_ENDS: Final[Mapping[str, str]] = {
    "STOPPED_BY_RM": "completed",
    "PREEMPTED_BY_SCHEDULER": "preempted",
    "TIMEOUT": "expired",
    "PLACEHOLDER_REPLACED": "replaced",
}


class TransitionCounter:
    """Counter of transitions; takes one history after another."""

    def __init__(self) -> None:
        self.seen: dict[str, Counter[Step]] = {machine.title: Counter() for machine in MACHINES}
        self._at: dict[tuple[str, str, str], str] = {}  # machine, RM, name
        self._asked: dict[tuple[str, str], str] = {}  # node -> state its last request leads to
        self._readers: Mapping[str, Callable[[str, dict[str, Any]], None]] = {
            "NodeRequest": self._node_asked,
            "NodeAccepted": self._node_accepted,
            "NodeRejected": self._node_rejected,
            "ApplicationRequest": self._application_asked,
            "ApplicationUpdated": self._application_updated,
            "AskRequest": self._asks,
            "Allocated": self._allocated,
            "AskRejected": self._ask_rejected,
            "AskReleased": self._ask_released,
            "Released": self._released,
        }

    def take(self, lines: Iterable[Line]) -> None:
        """Count the transitions of one history."""
        self._at.clear()
        self._asked.clear()
        for line in lines:
            reader = self._readers.get(line.kind)
            if reader is not None and not line.barrier and line.element is not None:
                reader(line.rm, line.element)
        for rm, node in list(self._asked):
            self._node_accepted(rm, {"node": node})  # not every change is answered

    def _step(self, machine: str, rm: str, name: str, end: str, start: str = "") -> None:
        key = (machine, rm, name)
        before = self._at.get(key, start)
        self._at[key] = end
        if before:
            self.seen[machine][before, end] += 1

    def _node_asked(self, rm: str, sent: dict[str, Any]) -> None:
        self._node_accepted(rm, sent)  # an earlier request without an answer
        now = self._at.get((NODE.title, rm, sent["node"]), "unknown")
        end = now if sent["action"] == "UPDATE" else _AFTER.get(sent["action"])
        if end is not None and (now != "unknown" or sent["action"].startswith("CREATE")):
            self._asked[rm, sent["node"]] = end

    def _node_accepted(self, rm: str, received: dict[str, Any]) -> None:
        end = self._asked.pop((rm, received["node"]), None)
        if end is None:
            return
        self._step(NODE.title, rm, received["node"], end, start="unknown")
        if end == "removed":
            self._at.pop((NODE.title, rm, received["node"]))

    def _node_rejected(self, rm: str, received: dict[str, Any]) -> None:
        self._asked.pop((rm, received.get("node", "")), None)

    def _application_asked(self, rm: str, sent: dict[str, Any]) -> None:
        self._at[APPLICATION.title, rm, sent["application"]] = "New"

    def _application_updated(self, rm: str, received: dict[str, Any]) -> None:
        state = str(received.get("state", ""))
        known = next((name for name, one in _STATES.items() if one.accepts(state)), state)
        before = self._at.get((APPLICATION.title, rm, received["application"]))
        if known != before:  # Starting and Running are one
            self._step(APPLICATION.title, rm, received["application"], known)

    def _asks(self, rm: str, sent: dict[str, Any]) -> None:
        self._at.setdefault((ASK.title, rm, sent["key"]), "initial")

    def _allocated(self, rm: str, received: dict[str, Any]) -> None:
        self._moves_on(rm, received["key"], "allocated")
        self._at[ALLOCATION.title, rm, received["identity"]] = "allocated"

    def _ask_rejected(self, rm: str, received: dict[str, Any]) -> None:
        if self._at.get((ASK.title, rm, received["key"])) == "initial":
            self._step(ASK.title, rm, received["key"], "rejected")

    def _ask_released(self, rm: str, received: dict[str, Any]) -> None:
        end = "expired" if received.get("termination") == "TIMEOUT" else "withdrawn"
        self._moves_on(rm, received.get("key", ""), end)

    def _moves_on(self, rm: str, key: str, end: str) -> None:
        """Move an ask out of pending, for which there is no message."""
        if self._at.get((ASK.title, rm, key)) == "initial":
            self._step(ASK.title, rm, key, "pending")
        if self._at.get((ASK.title, rm, key)) == "pending":
            self._step(ASK.title, rm, key, end)

    def _released(self, rm: str, received: dict[str, Any]) -> None:
        end = _ENDS.get(received.get("termination", ""))
        identity = received.get("identity", "")
        if end and self._at.get((ALLOCATION.title, rm, identity)) == "allocated":
            self._step(ALLOCATION.title, rm, identity, end)
