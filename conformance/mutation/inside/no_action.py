"""Mutants of node reports without an action, which change nothing."""

from dataclasses import replace
from typing import Any

from sireference.core import nodes
from sireference.core.model import Effect, NodeInfo
from sireference.core.states import NodeAction

from mutation.inside import Original, Patch
from mutation.mutant import mutant


def _updates(patch: Patch, *fields: str) -> None:
    """Update these fields of a known node if a report without action has them."""

    def update(original: Original, rm: Any, info: NodeInfo, now: float) -> list[Effect]:
        known = rm.node(info.node_id)
        sent = {field: getattr(info, field) for field in fields if getattr(info, field)}
        if info.action is not NodeAction.UNSET or known is None or not sent:
            return original(rm, info, now)
        patch.fires()
        only = NodeInfo(info.node_id, NodeAction.UPDATE, partition=info.partition)
        return original(rm, replace(only, **sent), now)

    patch.instead_of(nodes.update, update)


@mutant(
    "attributes-change-without-action",
    "The attributes of a node are updated without an action, too.",
    breaks=("SI-NODE-036",),
)
def _(patch: Patch) -> None:
    _updates(patch, "attributes")


@mutant(
    "occupied-changes-without-action",
    "The occupied resource of a node is updated without an action, too.",
    breaks=("SI-NODE-036",),
    revision="2023-12",
)
def _(patch: Patch) -> None:
    _updates(patch, "occupied")
