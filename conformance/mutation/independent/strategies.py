"""Optional behaviour of this scheduler where the specification leaves a choice, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Strategy:
    """One optional behaviour."""

    summary: str
    usual: bool = False


STRATEGIES: Final[Mapping[str, Strategy]] = MappingProxyType(
    {
        "largest-node": Strategy("An ask goes to the node with the most memory left.", usual=True),
        "round-robin": Strategy("Nodes take turns, regardless of their free resources."),
        "opaque-identity": Strategy(
            "Identities are not UUIDs and contain unusual characters.", usual=True
        ),
        "plain-echo": Strategy(
            "A release by the RM is confirmed once by the same message, whichever fields it has.",
            usual=True,
        ),
        "one-for-all": Strategy(
            "The end of everything an application has is reported by one release without identity.",
            usual=True,
        ),
        "keyless": Strategy(
            "All asks of an application are released by one message without a key.", usual=True
        ),
        "gang-queue": Strategy("A FIFO queue serves its gangs one after the other.", usual=True),
        "exact-style": Strategy(
            "The gang style must be exactly hard or soft; others are rejected.", usual=True
        ),
        "own-timers": Strategy("Timers an RM proposes are ignored.", usual=True),
        "independent": Strategy("Asks without an application are served.", usual=True),
        "heeds-ready": Strategy(
            "Nothing is placed on a node that reports not to be ready.", usual=True
        ),
        "proper-confirmations": Strategy("A release without a type is ignored.", usual=True),
        "batched": Strategy(
            "Everything is reported at the end of a pass, including acknowledgements."
        ),
        "rejects-now": Strategy("An ask that does not fit at its first pass is rejected."),
        "rejects-hopeless": Strategy("An ask that exceeds every node is rejected."),
        "silent": Strategy("Only the final state of an application is reported."),
        "mute": Strategy("No state of an application is reported."),
        "other-names": Strategy("States have names defined by this scheduler."),
        "serial": Strategy("Placeholders are released one by one, each after a confirmation."),
        "slow": Strategy("There is a pass every 1.2 seconds."),
        "acknowledges": Strategy("A successful node action is answered by an accepted node."),
        "stream-errors": Strategy("A node action that fails ends the node stream."),
        "bare": Strategy("Optional fields are left empty."),
        "fair-by-default": Strategy("Queues are FAIR unless their configuration says otherwise."),
        "fails": Strategy("A gang that timed out ends as failed instead of killed."),
        "merged": Strategy("One message carries all pending items, in no particular order."),
        "whole-gangs": Strategy("A gang gets placeholders only when nodes have room for all."),
    }
)


def chosen(words: Iterable[str]) -> frozenset[str]:
    """Return the strategies enabled: the defaults and those named, without ``no-NAME``.

    Raises ValueError for an unknown name.
    """
    in_force = {name for name, strategy in STRATEGIES.items() if strategy.usual}
    for word in words:
        name = word.removeprefix("no-")
        if name not in STRATEGIES:
            raise ValueError(f"unknown strategy {name!r}; known: {', '.join(STRATEGIES)}")
        if word == name:
            in_force.add(name)
        else:
            in_force.discard(name)
    return frozenset(in_force)
