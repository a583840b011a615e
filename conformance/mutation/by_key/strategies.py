"""Optional behaviour where the specification leaves a choice; all off by default."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

STRATEGIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        # timing and grouping of messages
        "slow": "There is a scheduling round every two seconds.",
        "late": "Messages are sent 1.2 seconds later, in the original order.",
        "unsteady": "Each message takes up to half a second, in order within its stream.",
        "one-a-round": "A round places one request.",
        "by-turns": "Applications are served by turns, a quarter of a second each.",
        "warms-up": "Nothing is placed in the first two seconds of a registration.",
        "pauses": "After 0.4 seconds with placements there are 0.8 seconds without.",
        "nodes-rest": "A node is used 1.5 seconds after it was added or stopped draining.",
        "singly": "Every item has a message of its own.",
        "together": "One message carries all pending items, in no particular order.",
        # what is reported
        "wordless": "Releases, rejections and states have no message text.",
        "echoes": "An accepted report or update of an allocation is reported as a new allocation.",
        "silent-removal": "Allocations that end with a removed application are not reported.",
        "removed-at-once": "The end of all of an application is one release without key.",
        "lost-by-preemption": "Allocations on a decommissioned node end as preempted.",
        "withdrawn-rejected": "A request the RM withdraws is reported as rejected (key lifecycle).",
        "withdrawn-silently": "A request the RM withdraws is not reported.",
        "each-by-key": "A release of all an application has is confirmed key by key.",
        "key-is-enough": "A release that names no application ends the entry with its key.",
        "unknown-unconfirmed": "A release that ends nothing is not confirmed.",
        "unreported-states": "No state of an application is reported.",
        # what is accepted
        "no-updates": "A reported allocation that is already known is rejected.",
        "keys-once": "A key that was used once is rejected from then on.",
        "ids-once": "A removed application is rejected from then on.",
        "own-keys": "A key is unique within its application: others may use the same.",
        "updates-refused": "A pending request is not updated: updates are rejected.",
        "updates-end": "An update of a pending request ends it, and both are rejected.",
        "no-placing": "The RM cannot assign a node to a pending request: that is rejected.",
        "no-foreign": "Foreign allocations are rejected.",
        "not-empty": "A request for nothing is rejected.",
        "drained-once": "Draining a node that is already draining is rejected.",
        "absent-is-none": "A node update without resources leaves the node none.",
        # order and placement
        "last-first": "The newest request is placed first.",
        "emptiest": "A request goes to the emptiest node instead of the fullest.",
        "no-priority": "The priority of a request is ignored.",
        "one-placement-each": "Each application gets one placement per round.",
        "head-stays": "In a FIFO queue nothing overtakes an older request that does not fit.",
        "in-order": "The requests of an application are placed in order only.",
        "tries-seldom": "A request that did not fit is tried again after 1 second, then every 2.",
        # gangs
        "largest-first": "The largest placeholder of a group is replaced first.",
        "waits-assembled": "A gang that has all its placeholders and nothing else is waiting.",
        "one-replacement": "An application has one replacement at a time.",
        "own-timers": "Timers an RM proposes are ignored.",
    }
)


def chosen(words: Iterable[str]) -> frozenset[str]:
    """Return the strategies named; each argument is one or several separated by commas.

    Raises ValueError for an unknown name.
    """
    names = {name for word in words for name in word.split(",") if name}
    unknown = sorted(names - set(STRATEGIES))
    if unknown:
        raise ValueError(f"unknown strategy {unknown[0]!r}; known: {', '.join(STRATEGIES)}")
    return frozenset(names)
