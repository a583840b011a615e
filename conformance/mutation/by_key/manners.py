"""What this scheduler does where the text leaves it a choice, by name; none is usual."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

MANNERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # when, and in which messages
        "slow": "There is a round every two seconds.",
        "late": "Whatever is told is told 1.2 seconds later, in the order it came about.",
        "singly": "Every item has a message of its own.",
        "together": "One message carries all there is to tell, in no order.",
        # how much is said
        "wordless": "Releases, rejections and states come without a text.",
        "echoes": "A reported or updated allocation that is taken is told as a new one.",
        "silent-removal": "The end of all an application has is not told when the RM removes it.",
        "removed-at-once": "The end of all an application has is told by one release without key.",
        "lost-by-preemption": "What a decommissioned node had was preempted by the scheduler.",
        "withdrawn-rejected": "A request the RM withdraws is told as rejected (the lifecycle).",
        "withdrawn-silently": "A request the RM withdraws is not mentioned again.",
        "each-by-key": "A release of all an application has is confirmed key by key.",
        "key-is-enough": "A release that names no application ends what has its key.",
        "unknown-unconfirmed": "A release that ends nothing is not confirmed.",
        "untold-states": "No state of an application is told.",
        # what is taken
        "no-updates": "A reported allocation that is there already is rejected.",
        "keys-once": "A key that has been used is rejected ever after.",
        "ids-once": "An application that was removed is rejected ever after.",
        "own-keys": "A key belongs to its application: others may use the same.",
        "updates-refused": "A request that waits is not updated: what would do that is rejected.",
        "updates-end": "What would update a request that waits ends it, and both are rejected.",
        "no-placing": "A request that waits is rejected a node by the RM: it is not its to place.",
        "no-foreign": "What carries the tag of foreign allocations is rejected.",
        "not-empty": "A request for nothing is rejected.",
        "drained-once": "Draining a node that drains already is rejected.",
        "absent-is-none": "An update of a node that names no resources leaves it none.",
        # order and place
        "last-first": "What came last is placed first.",
        "emptiest": "A request goes to the emptiest node and not to the fullest.",
        "no-priority": "The priority of a request means nothing.",
        "leaves-room": "There is one placement a round for each application.",
        "head-stays": "In a FIFO queue nothing is placed before what came first and has no room.",
        "in-order": "Of an application nothing is placed before what it asked for first.",
        "tries-seldom": "What had no room is tried again after 1 second, then every 2.",
        # gangs
        "largest-first": "The largest placeholder of a group is replaced first.",
        "waits-assembled": "A gang whose placeholders all have room, without more, is waiting.",
        "one-replacement": "An application has one replacement at a time.",
        "own-timers": "Timers an RM proposes are not taken.",
    }
)


def chosen(words: Iterable[str]) -> frozenset[str]:
    """The manners named, each word one or several with commas.

    Raises ValueError for a name that is not in the table.
    """
    names = {name for word in words for name in word.split(",") if name}
    unknown = sorted(names - set(MANNERS))
    if unknown:
        raise ValueError(f"there is no manner {unknown[0]!r}; there are {', '.join(MANNERS)}")
    return frozenset(names)
