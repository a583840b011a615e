"""What this scheduler does where the texts leave it a choice, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True)
class Manner:
    """One way to use a freedom."""

    summary: str
    usual: bool = False


MANNERS: Final[Mapping[str, Manner]] = MappingProxyType(
    {
        "largest-node": Manner("An ask goes to the node with the most memory left.", usual=True),
        "round-robin": Manner("Nodes take turns, whatever is left on them."),
        "opaque-identity": Manner("Identities are no UUIDs and hold odd characters.", usual=True),
        "plain-echo": Manner(
            "A release by the RM is confirmed by that very message, once, whatever it named.",
            usual=True,
        ),
        "one-for-all": Manner(
            "The end of everything an application has is told by one release without identity.",
            usual=True,
        ),
        "keyless": Manner(
            "All asks of an application are released by one message without a key.", usual=True
        ),
        "gang-queue": Manner("A FIFO queue serves its gangs one after the other.", usual=True),
        "exact-style": Manner(
            "A gang style is hard or soft, so spelled, or the application is rejected.", usual=True
        ),
        "own-timers": Manner("Timers an RM proposes are not taken.", usual=True),
        "independent": Manner("Asks that name no application are served without one.", usual=True),
        "heeds-ready": Manner("Nothing is placed on a node that says it is not ready.", usual=True),
        "proper-confirmations": Manner("A release without a type is nobody's.", usual=True),
        "batched": Manner("Everything is told at the end of a pass, also acknowledgements."),
        "rejects-now": Manner("An ask without room at its first pass is rejected."),
        "rejects-hopeless": Manner("An ask no node could ever hold is rejected."),
        "silent": Manner("Only the end of an application is told, none of its other states."),
        "mute": Manner("No state of an application is ever told."),
        "other-names": Manner("States have names of this scheduler's own."),
        "serial": Manner("Placeholders are released one after the other, each once confirmed."),
        "slow": Manner("There is a pass every 1.2 seconds."),
        "acknowledges": Manner("A node action that was done is answered by an accepted node."),
        "stream-errors": Manner("A node action that fails ends the node stream."),
        "bare": Manner("Fields that may be empty are."),
        "fair-by-default": Manner("Queues are FAIR unless their configuration says otherwise."),
        "fails": Manner("A gang that timed out has failed, rather than having been killed."),
        "merged": Manner("One message carries everything there is to tell, in no order."),
    }
)


def chosen(words: Iterable[str]) -> frozenset[str]:
    """The manners in force: the usual ones, with those named, without those named ``no-NAME``.

    Raises ValueError for a name that is not in the table.
    """
    in_force = {name for name, manner in MANNERS.items() if manner.usual}
    for word in words:
        name = word.removeprefix("no-")
        if name not in MANNERS:
            raise ValueError(f"there is no manner {name!r}; there are {', '.join(MANNERS)}")
        if word == name:
            in_force.add(name)
        else:
            in_force.discard(name)
    return frozenset(in_force)
