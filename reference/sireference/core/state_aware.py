"""State-aware leaves: applications start one after the other, so that each gets what it needs.

A leaf with ``application.sort.policy: stateaware`` holds back an application that has not begun
while one of the leaf is Starting or an older one has pending asks. Running applications are served
as in a fifo leaf. Source: yunikorn-core 1.5 ``scheduler/objects/sorters.go``.
"""

from typing import Any

from sireference.core.state.application import AskGroup
from sireference.core.state.wait_queue import WaitQueue


def closed_gate(ask_group: AskGroup) -> WaitQueue[Any] | None:
    """Return where ``ask_group`` waits until other applications have begun, None if it need not."""
    application, leaf = ask_group.application, ask_group.application.leaf
    if not leaf.is_state_aware or application.has_begun:
        return None
    if leaf.starting or leaf.beginning.first() is not application:
        return leaf.beginning.younger
    return None
