"""Submission of a gang application: whether its queue can ever hold it and accepts gangs."""

from collections.abc import Iterator

from sireference.configuration.model import SortPolicy
from sireference.core.model import NewApplication, quoted
from sireference.core.resources import NOTHING
from sireference.core.state.queue import Queue


def objections(leaf: Queue, new: NewApplication) -> Iterator[str]:
    """Return why ``leaf`` cannot accept the gang that ``new`` announces; empty if it can.

    Only permanent reasons count: the total exceeds a quota on the path (SI-GANG-003, SI-GANG-005).
    Current usage and node sizes do not count (SI-GANG-004, SI-GANG-051). A fair queue cannot keep
    gangs apart (SI-GANG-006); that rule applies to gangs only (C-19).
    """
    total = new.placeholder_ask
    if total is None or total.is_zero():
        return
    yield from total.objections()
    if leaf.config.properties.sort_policy is SortPolicy.FAIR:
        yield f"queue {quoted(leaf.name)} sorts its applications fairly and accepts no gangs"
    for queue in leaf.path:
        if queue.maximum is not None and not total.stays_within(NOTHING, queue.maximum):
            yield f"the placeholders need more than queue {quoted(queue.name)} may ever use"
