"""Gates: what holds the asks of an application back, however much room there is.

An application waits for its gang, for its turn in its leaf, or for a place among the applications
that may run. All of that rests on what the application is and has, and on others of its leaf:
whenever that changes, `Application.moved` has its asks looked at again. A quota does so for those
that wait for room for a whole gang, or for a place. An ask group is woken rather once too often
than never: while its gate is closed the next pass sends it back.
"""

from typing import Any

from sireference.core import running_slots, state_aware
from sireference.core.gang import placeholders
from sireference.core.state.application import AskGroup
from sireference.core.state.partition import Partition
from sireference.core.state.wait_queue import WaitQueue


def closed_gate(partition: Partition, ask_group: AskGroup) -> WaitQueue[Any] | None:
    """Where ``ask_group`` has to wait until its gate opens, None if nothing holds it back."""
    return (
        placeholders.closed_gate(partition, ask_group)
        or state_aware.closed_gate(ask_group)
        or running_slots.closed_gate(ask_group.application)
    )
