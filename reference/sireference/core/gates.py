"""Gates: conditions that hold back the asks of an application regardless of free resources.

An application waits for its gang, for its turn in its leaf, or for a running slot. All of that
depends on its own state and on others of its leaf: whenever that changes, `Application.moved` has
its asks checked again. A quota does the same for applications that wait for capacity for a whole
gang or for a slot. Waking a group once too often is safe: the next pass sends it back while its
gate is closed.
"""

from typing import Any

from sireference.core import running_slots, state_aware
from sireference.core.gang import placeholders
from sireference.core.state.application import AskGroup
from sireference.core.state.partition import Partition
from sireference.core.state.wait_queue import WaitQueue


def closed_gate(partition: Partition, ask_group: AskGroup) -> WaitQueue[Any] | None:
    """Return the queue in which ``ask_group`` waits for its gate, None if nothing holds it back."""
    return (
        placeholders.closed_gate(partition, ask_group)
        or state_aware.closed_gate(ask_group)
        or running_slots.closed_gate(ask_group.application)
    )
