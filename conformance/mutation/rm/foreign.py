"""Mutants: what others hold on the nodes of the RM."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sirm.codec import r2024_10
from sirm.core import foreign, nodes
from sirm.core.cluster import Node
from sirm.core.model import AddForeign, Effect, ReportForeign, ReportNode
from sirm.core.state import State
from siwire.constants import FOREIGN

from mutation.mutant import rm_mutant
from mutation.patching import Patch, instead_of

_Original = Callable[..., Any]


@rm_mutant(
    "rm-reports-smaller-nodes",
    "Nodes are reported without what others hold there, in place of foreign allocations.",
    breaks=("SI-FOR-011",),
)
@instead_of(nodes.creation)
def _(patch: Patch, original: _Original, state: State, node: Node) -> list[ReportNode]:
    reports: list[ReportNode] = original(state, node)
    free = dict(node.capacity)
    for one in state.cluster.foreign_on(node.node_id):
        for name, amount in one.resource.items():
            free[name] = free.get(name, 0) - amount
    if free == node.capacity:
        return reports
    patch.fires()
    return [replace(reports[0], capacity=free), *reports[1:]]


@rm_mutant(
    "rm-keeps-foreign-containers-to-itself",
    "What others hold on a node is not reported.",
    breaks=("SI-FOR-011",),
)
@instead_of(foreign.due)
def _(patch: Patch, original: _Original, state: State) -> Iterator[ReportForeign]:
    for _ in original(state):
        patch.fires()
    yield from ()


@rm_mutant(
    "rm-every-foreign-container-moves",
    "Foreign allocations that cannot be moved are not marked as static.",
    breaks=("SI-FOR-011",),
)
@instead_of(foreign.due)
def _(patch: Patch, original: _Original, state: State) -> Iterator[ReportForeign]:
    for one in original(state):
        if one.is_static:
            patch.fires()
        yield replace(one, is_static=False)


@rm_mutant(
    "rm-foreign-without-tag",
    "Foreign allocations do not have the tag that marks them.",
    breaks=("SI-FOR-011",),
)
@instead_of(r2024_10.foreign)
def _(patch: Patch, original: _Original, update: ReportForeign, request: Any) -> None:
    original(update, request)
    patch.fires()
    del request.allocations[-1].allocationTags[FOREIGN]


@rm_mutant(
    "rm-reports-foreign-containers-once",
    "What others start after the registration is not reported.",
    breaks=("SI-FOR-011",),
)
@instead_of(foreign.add)
def _(patch: Patch, original: _Original, state: State, event: AddForeign) -> list[Effect]:
    effects: list[Effect] = original(state, event)
    patch.fires()
    del state.knowledge.new_foreign[event.name]
    return effects


@rm_mutant(
    "rm-releases-no-foreign-container",
    "The foreign allocation of a container that has ended is not released.",
    breaks=("SI-FOR-011",),
)
@instead_of(foreign.remove)
def _(patch: Patch, original: _Original, state: State, name: str) -> list[Effect]:
    if original(state, name):
        patch.fires()
    return []
