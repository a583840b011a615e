"""All changes there are: every module that makes some, by its name."""

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Final

from siconform.doctor import changes

from proof.fault import CHANGES, Change

MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "proof.faults": (
        "allocations",
        "applications",
        "asks",
        "callbacks",
        "gangs",
        "limit_events",
        "lives",
        "node_updates",
        "nodes",
        "one_stream",
        "recovery",
        "registration",
        "releases",
        "retired",
        "snapshots",
        "wire",
    ),
    "proof.inside": (
        "asking",
        "confirming",
        "connections",
        "consenting",
        "constraints",
        "crossings",
        "descriptions",
        "foreign",
        "gang_ends",
        "gathering",
        "keeping",
        "keys",
        "left_out",
        "lives",
        "moves",
        "neighbours",
        "node_actions",
        "one_stream",
        "overlooked",
        "recovering",
        "releasing",
        "remembering",
        "room",
        "submitting",
        "successors",
        "swaps",
        "transport",
        "updates",
        "victims",
    ),
    "proof.liberties": (
        "answers",
        "completing",
        "ends",
        "gangs",
        "intake",
        "limit_events",
        "keys",
        "lives",
        "pace",
        "restarts",
        "omissions",
        "scheduling",
        "services",
        "settings",
        "traffic",
        "transport",
    ),
}
"""Package to its modules: faults on the wire, faults inside, and what a scheduler may do."""


def load() -> None:
    """Make every fault and every liberty known by its name, those of the kit's doctor too."""
    for name, change in changes.CHANGES.items():
        values = {field.name: getattr(change, field.name) for field in fields(change)}
        CHANGES.setdefault(name, Change(**values))
    for package, modules in MODULES.items():
        for module in modules:
            import_module(f"{package}.{module}")
