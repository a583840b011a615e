"""State-aware leaves: applications begin one after the other, so that each gets what it needs.

A leaf with ``application.sort.policy: stateaware`` holds an application that has not begun, while
one of the leaf is Starting or an older one has asks pending. Who is Running is served as in a fifo
leaf. Source: yunikorn-core 1.5 ``scheduler/objects/sorters.go``.
"""

from typing import Any

from sireference.core.state.application import AskGroup
from sireference.core.state.wait_queue import WaitQueue


def closed_gate(ask_group: AskGroup) -> WaitQueue[Any] | None:
    """Where ``ask_group`` has to wait until others have begun, None if it does not have to."""
    application, leaf = ask_group.application, ask_group.application.leaf
    if not leaf.is_state_aware or application.has_begun:
        return None
    if leaf.starting or leaf.beginning.first() is not application:
        return leaf.beginning.younger
    return None
