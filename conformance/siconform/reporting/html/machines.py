"""The state machines that messages reveal, and their layout on a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Step = tuple[str, str]
"""From one state to another."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition that the specification draws or describes."""

    start: str
    end: str
    words: str


@dataclass(frozen=True, slots=True)
class Machine:
    """States with their column and row in the drawing, and the edges between them."""

    title: str
    source: str
    states: Mapping[str, tuple[int, int]]
    edges: tuple[Edge, ...]


NODE: Final = Machine(
    "A node",
    "the comments on ActionFromRM and the diagram of schedulable nodes",
    {"unknown": (0, 0), "schedulable": (1, 0), "draining": (1, 1), "removed": (2, 0)},
    (
        Edge("unknown", "schedulable", "created"),
        Edge("unknown", "draining", "created draining"),
        Edge("schedulable", "schedulable", "updated"),
        Edge("schedulable", "draining", "drained"),
        Edge("draining", "draining", "updated or drained again"),
        Edge("draining", "schedulable", "taken back"),
        Edge("schedulable", "removed", "decommissioned"),
        Edge("draining", "removed", "decommissioned"),
    ),
)
ASK: Final = Machine(
    "An ask",
    "the life cycle in the SI; the timeout is in the gang scheduling design",
    {
        "initial": (0, 0),
        "pending": (1, 0),
        "allocated": (2, 0),
        "rejected": (0, 1),
        "withdrawn": (1, 1),
        "expired": (2, 1),
    },
    (
        Edge("initial", "pending", "asked by the RM"),
        Edge("initial", "rejected", "rejected by the scheduler"),
        Edge("pending", "allocated", "allocated"),
        Edge("pending", "withdrawn", "withdrawn by the RM"),
        Edge("pending", "expired", "timed out"),
    ),
)
ALLOCATION: Final = Machine(
    "An allocation",
    "the life cycle in the SI; the replacement is in the gang scheduling design",
    {
        "allocated": (1, 0),
        "completed": (0, 1),
        "preempted": (1, 1),
        "expired": (2, 1),
        "replaced": (2, 0),
    },
    (
        Edge("allocated", "completed", "stopped by the RM"),
        Edge("allocated", "preempted", "preempted by the scheduler"),
        Edge("allocated", "expired", "timed out"),
        Edge("allocated", "replaced", "a placeholder, replaced"),
    ),
)
APPLICATION: Final = Machine(
    "An application",
    "the prose of the gang scheduling design; Starting counts as Running",
    {
        "New": (0, 0),
        "Accepted": (1, 0),
        "Running": (2, 0),
        "Resuming": (0, 1),
        "Failing": (1, 1),
        "Completing": (2, 1),
        "Failed": (1, 2),
        "Completed": (2, 2),
    },
    (
        Edge("New", "Accepted", "the first ask"),
        Edge("New", "Resuming", "a soft gang continues"),
        Edge("New", "Failing", "its gang timed out"),
        Edge("Accepted", "Running", "the first real allocation"),
        Edge("Accepted", "Completing", "nothing is left"),
        Edge("Accepted", "Resuming", "a soft gang continues"),
        Edge("Accepted", "Failing", "its gang timed out"),
        Edge("Resuming", "Accepted", "the gang continues as a plain application"),
        Edge("Running", "Completing", "nothing is left"),
        Edge("Running", "Failing", "its gang timed out"),
        Edge("Completing", "Running", "a new ask"),
        Edge("Completing", "Completed", "the configured time passed"),
        Edge("Failing", "Failed", "all its allocations are gone"),
    ),
)
MACHINES: Final = (NODE, ASK, ALLOCATION, APPLICATION)
