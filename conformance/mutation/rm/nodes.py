"""Mutants and permitted variants: what an RM reports of its nodes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from sirm.core import containers, nodes, reporting
from sirm.core.cluster import Container, Node
from sirm.core.knowledge import Knowledge
from sirm.core.model import Effect, NodeAction, ReportNode, ResizeNode, Rules, Update
from sirm.core.state import State

from mutation.mutant import rm_mutant, rm_variant
from mutation.patching import Patch, instead_of

_OLDEST: Final = "2021-02"
_Starts = Callable[..., list[Effect]]


def _creates(patch: Patch, *, usable: tuple[NodeAction, ...], cordoned: Any) -> None:
    """Create usable and cordoned nodes by these actions."""

    def creation_actions(_original: Any, _rules: Rules, node: Node) -> tuple[NodeAction, ...]:
        if usable != (NodeAction.CREATE,) or node.cordoned:
            patch.fires()
        actions: tuple[NodeAction, ...] = cordoned if node.cordoned else usable
        return actions

    patch.instead_of(nodes.creation_actions, creation_actions)


@rm_mutant("rm-hides-cordoned-nodes", "A cordoned node is not reported.", breaks=("SI-NODE-014",))
@instead_of(reporting.may_create)
def _(patch: Patch, original: Callable[[State, Node], bool], state: State, node: Node) -> bool:
    if node.cordoned:
        patch.fires()
        return False
    return original(state, node)


@rm_mutant(
    "rm-reports-cordoned-nodes-as-usable",
    "A cordoned node is created like any other.",
    breaks=("SI-NODE-014",),
)
def _(patch: Patch) -> None:
    _creates(patch, usable=(NodeAction.CREATE,), cordoned=(NodeAction.CREATE,))


def _updates_when_started(patch: Patch, update: Callable[[Node, str], ReportNode]) -> None:
    """Send an update of the node of each container that starts, made from its key."""

    def start(
        original: _Starts, state: State, container: Container, node_id: str, *others: Any
    ) -> list[Effect]:
        patch.fires()
        effects = original(state, container, node_id, *others)
        return [*effects, update(state.cluster.nodes[node_id], container.key)]

    patch.instead_of(containers.start, start)


@rm_mutant(
    "rm-subtracts-containers-from-nodes",
    "A container that starts makes the capacity of its node smaller, by an update.",
    breaks=("SI-NODE-023",),
    revision=_OLDEST,
)
def _(patch: Patch) -> None:
    def update(node: Node, _key: str) -> ReportNode:
        left = {name: max(0, amount - 1) for name, amount in node.capacity.items()}
        return ReportNode(node.node_id, NodeAction.UPDATE, node.attributes, left)

    _updates_when_started(patch, update)


@rm_variant(
    "rm-reports-new-images",
    "A container that starts brings an image to its node, which is updated.",
    areas=("NODE",),
    revision=_OLDEST,
)
def _(patch: Patch) -> None:
    def update(node: Node, key: str) -> ReportNode:
        attributes = {**node.attributes, "si/local-images": key}
        return ReportNode(node.node_id, NodeAction.UPDATE, attributes, node.capacity)

    _updates_when_started(patch, update)


@rm_mutant(
    "rm-waits-for-answers-to-node-updates",
    "After a change of a node nothing new is reported until the change is answered.",
    breaks=("SI-NODE-024",),
)
def _(patch: Patch) -> None:
    waiting: list[Knowledge] = []  # in which a change of a node is unanswered

    def report(
        original: Callable[[State, ReportNode], list[Effect]], state: State, change: ReportNode
    ) -> list[Effect]:
        waiting.append(state.knowledge)
        return original(state, change)

    def due(original: Callable[[State], list[Update]], state: State) -> list[Update]:
        if any(one is state.knowledge for one in waiting):
            patch.fires()
            return []
        return original(state)

    patch.instead_of(nodes.report, report)  # of the RM
    patch.instead_of(reporting.due, due)


@rm_variant(
    "rm-updates-no-attributes",
    "An update of a node carries its capacity only.",
    areas=("NODE",),
    revision=_OLDEST,
)
def _(patch: Patch) -> None:
    def resize(
        original: Callable[[State, ResizeNode], list[Effect]], state: State, event: ResizeNode
    ) -> list[Effect]:
        patch.fires()
        return original(state, replace(event, attributes={}))

    patch.instead_of(nodes.resize, resize)


@rm_mutant(
    "rm-leaves-nodes-draining",
    "A node that was created draining is uncordoned, and stays draining.",
    breaks=("SI-NODE-041",),
)
@instead_of(nodes.uncordon)
def _(
    patch: Patch, original: Callable[[State, str], list[Effect]], state: State, node_id: str
) -> list[Effect]:
    patch.fires()
    original(state, node_id)
    return []


@rm_mutant(
    "rm-leaves-usable-nodes-draining",
    "Every node is created draining, and a usable one is left so.",
    breaks=("SI-NODE-041",),
)
def _(patch: Patch) -> None:
    draining = (NodeAction.CREATE_DRAIN,)
    _creates(patch, usable=draining, cordoned=draining)


@rm_mutant(
    "rm-undrains-cordoned-nodes",
    "A cordoned node is created draining, and undrained at once.",
    breaks=("SI-NODE-014",),
)
def _(patch: Patch) -> None:
    undrained = (NodeAction.CREATE_DRAIN, NodeAction.DRAIN_TO_SCHEDULABLE)
    _creates(patch, usable=(NodeAction.CREATE,), cordoned=undrained)


@rm_variant(
    "rm-begins-with-drained-nodes",
    "Every node is created draining, and a usable one undrained afterwards.",
    areas=("NODE",),
)
def _(patch: Patch) -> None:
    undrained = (NodeAction.CREATE_DRAIN, NodeAction.DRAIN_TO_SCHEDULABLE)
    _creates(patch, usable=undrained, cordoned=(NodeAction.CREATE_DRAIN,))


@rm_variant(
    "rm-creates-then-drains",
    "A cordoned node is created and then drained, as before 2023-08.",
    areas=("NODE",),
)
def _(patch: Patch) -> None:
    drained = (NodeAction.CREATE, NodeAction.DRAIN_NODE)
    _creates(patch, usable=(NodeAction.CREATE,), cordoned=drained)


@rm_variant(
    "rm-refuses-cordoned-nodes",
    "A cordoned node is undrained at once, and refused whenever a placement is asked for.",
    areas=("NODE",),
)
def _(patch: Patch) -> None:
    def may_run_on(
        original: Callable[[State, Container, str], bool],
        state: State,
        container: Container,
        node_id: str,
    ) -> bool:
        is_known = original(state, container, node_id)
        return is_known and not state.cluster.nodes[node_id].cordoned

    undrained = (NodeAction.CREATE_DRAIN, NodeAction.DRAIN_TO_SCHEDULABLE)
    _creates(patch, usable=(NodeAction.CREATE,), cordoned=undrained)
    patch.instead_of(containers.may_run_on, may_run_on)
