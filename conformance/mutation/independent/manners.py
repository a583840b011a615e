"""Optional behaviour of this scheduler where the specification leaves a choice, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Manner:
    """One optional behaviour."""

    summary: str
    usual: bool = False


MANNERS: Final[Mapping[str, Manner]] = MappingProxyType(
    {
        "largest-node": Manner("An ask goes to the node with the most memory left.", usual=True),
        "round-robin": Manner("Nodes take turns, regardless of their free resources."),
        "opaque-identity": Manner(
            "Identities are not UUIDs and contain unusual characters.", usual=True
        ),
        "plain-echo": Manner(
            "A release by the RM is confirmed once by the same message, whichever fields it has.",
            usual=True,
        ),
        "one-for-all": Manner(
            "The end of everything an application has is reported by one release without identity.",
            usual=True,
        ),
        "keyless": Manner(
            "All asks of an application are released by one message without a key.", usual=True
        ),
        "gang-queue": Manner("A FIFO queue serves its gangs one after the other.", usual=True),
        "exact-style": Manner(
            "The gang style must be exactly hard or soft; others are rejected.", usual=True
        ),
        "own-timers": Manner("Timers an RM proposes are ignored.", usual=True),
        "independent": Manner("Asks without an application are served.", usual=True),
        "heeds-ready": Manner(
            "Nothing is placed on a node that reports not to be ready.", usual=True
        ),
        "proper-confirmations": Manner("A release without a type is ignored.", usual=True),
        "batched": Manner(
            "Everything is reported at the end of a pass, including acknowledgements."
        ),
        "rejects-now": Manner("An ask that does not fit at its first pass is rejected."),
        "rejects-hopeless": Manner("An ask that exceeds every node is rejected."),
        "silent": Manner("Only the final state of an application is reported."),
        "mute": Manner("No state of an application is reported."),
        "other-names": Manner("States have names defined by this scheduler."),
        "serial": Manner("Placeholders are released one by one, each after the last confirmation."),
        "slow": Manner("There is a pass every 1.2 seconds."),
        "acknowledges": Manner("A successful node action is answered by an accepted node."),
        "stream-errors": Manner("A node action that fails ends the node stream."),
        "bare": Manner("Optional fields are left empty."),
        "fair-by-default": Manner("Queues are FAIR unless their configuration says otherwise."),
        "fails": Manner("A gang that timed out ends as failed instead of killed."),
        "merged": Manner("One message carries all pending items, in no particular order."),
    }
)


def chosen(words: Iterable[str]) -> frozenset[str]:
    """Return the manners enabled: the defaults and those named, without ``no-NAME``.

    Raises ValueError for an unknown name.
    """
    in_force = {name for name, manner in MANNERS.items() if manner.usual}
    for word in words:
        name = word.removeprefix("no-")
        if name not in MANNERS:
            raise ValueError(f"unknown manner {name!r}; known: {', '.join(MANNERS)}")
        if word == name:
            in_force.add(name)
        else:
            in_force.discard(name)
    return frozenset(in_force)
