"""Mutants: names that the RM sends."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from sirm.core import nodes, tags
from sirm.core.model import Action, AddNode, ReportNode
from sirm.shell import driver
from siwire.constants import CREATION_TIME

from mutation.mutant import rm_mutant, rm_variant
from mutation.patching import Patch, instead_of

_Original = Callable[..., Any]
_AREAS = ("REC", "FOR", "CONST")


def _with_attributes(patch: Patch, alter: Callable[[Mapping[str, str]], dict[str, str]]) -> None:
    """Add nodes with other attributes."""

    def event(original: _Original, command: Any) -> Action:
        action: Action = original(command)
        if not isinstance(action, AddNode):
            return action
        patch.fires()
        return replace(action, attributes=alter(action.attributes))

    patch.instead_of(driver.event, event)


rm_mutant(
    "rm-misspells-the-partition",
    "The attribute with the partition of a node is called si/nodePartition.",
    breaks=("SI-CONST-001",),
)(partial(_with_attributes, alter=lambda _: {"si/nodePartition": "default"}))
rm_mutant(
    "rm-attributes-under-another-domain",
    "Node attributes of the SI are sent under the domain si.io.",
    breaks=("SI-CONST-001",),
)(
    partial(
        _with_attributes,
        alter=lambda of: {**of, "si.io/hostname": "host", "si.io/rackname": "rack"},
    )
)


@rm_variant(
    "rm-attributes-of-its-own",
    "Nodes have attributes under domains of others.",
    areas=_AREAS,
)
def _(patch: Patch) -> None:
    others = {
        "kubernetes.io/hostname": "host",
        "topology.kubernetes.io/zone": "zone",
        "team": "one",
    }
    _with_attributes(patch, lambda of: {**of, **others})


def _tagged(patch: Patch, alter: Callable[[str], str]) -> None:
    """Send tags under other keys."""

    def tags_of(original: _Original, labels: Mapping[str, str]) -> dict[str, str]:
        made = original(labels)
        if made:
            patch.fires()
        return {alter(key): value for key, value in made.items()}

    patch.instead_of(tags.tags, tags_of)


rm_mutant(
    "rm-tags-with-the-group-in-capitals",
    "The group of tags is called Label.",
    breaks=("SI-CONST-001",),
)(partial(_tagged, alter=lambda key: key.replace("/label/", "/Label/")))
rm_mutant(
    "rm-tags-without-domain",
    "Tags have the keys of the labels alone.",
    breaks=("SI-CONST-002",),
)(partial(_tagged, alter=lambda key: key.rpartition("/")[2]))


@rm_mutant(
    "rm-tags-with-the-group-first",
    "Tags have the group, then the domain.",
    breaks=("SI-CONST-002",),
)
def _(patch: Patch) -> None:
    def group_first(key: str) -> str:
        domain, group, name = key.split("/")
        return f"{group}/{domain}/{name}"

    _tagged(patch, group_first)


@rm_variant(
    "rm-tags-the-creation-time",
    "Requests have the tag creationTime, a tag without group, and a label with a slash.",
    areas=_AREAS,
)
@instead_of(tags.tags)
def _(patch: Patch, original: _Original, labels: Mapping[str, str]) -> dict[str, str]:
    patch.fires()
    more = {CREATION_TIME: "1700000000", "example.org/team": "one"}
    return {**original(labels), **more, "kubernetes.io/label/app.example.org/name": "two"}


def _with_capacity(patch: Patch, alter: Callable[[dict[str, int]], dict[str, int]]) -> None:
    """Create nodes with other resources."""

    def creation(original: _Original, *arguments: Any) -> list[ReportNode]:
        patch.fires()
        return [
            one if one.capacity is None else replace(one, capacity=alter(dict(one.capacity)))
            for one in original(*arguments)
        ]

    patch.instead_of(nodes.creation, creation)


rm_mutant(
    "rm-calls-vcore-cpu",
    "Nodes have the resource cpu in place of vcore.",
    breaks=("SI-CONST-008",),
)(
    partial(
        _with_capacity,
        alter=lambda of: {"cpu" if name == "vcore" else name: of[name] for name in of},
    )
)
rm_variant(
    "rm-reports-further-resources",
    "Nodes have resources besides memory and vcore.",
    areas=_AREAS,
)(partial(_with_capacity, alter=lambda of: {**of, "pods": 110, "hugepages-2Mi": 0}))
