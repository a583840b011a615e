"""The rule about the preemption tag: the policy of an ask outweighs it (up to 2023-08)."""

from typing import Final

from siconform.catalogue.features import Feature
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.restated import Updated
from siconform.protocol.notifications import Allocated, Released, Termination
from siconform.protocol.requests import Action, AskRequest, NodeRequest
from siconform.recording.history import Entry

_TAG: Final = "yunikorn.apache.org/allowPreemption"


def preemption_tags_do_not_outweigh_the_policy() -> Evaluator:
    """An ask that opted out by its policy is not preempted because its tag allows it.

    Nodes that were updated are left out: one that shrinks may lose any allocation.
    """
    tagged: set[str] = set()  # keys of asks that opted out
    held: dict[str, str] = {}  # the node of their live allocations, by identity
    updated: set[str] = set()  # nodes

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(key=key, preemption_policy=policy, tags=tags) if _TAG in tags:
                if policy is not None and not policy.allow_preempt_self and tags[_TAG] == "true":
                    tagged.add(key)
                    return ""
                tagged.discard(key)
            case Updated(key=key) if key in tagged:
                tagged.discard(key)
            case NodeRequest(node=node, action=Action.UPDATE):
                updated.add(node)
            case Allocated(key=key, identity=identity, node=node) if key in tagged:
                held[identity] = node
            case Released(identity=identity, termination=termination) if identity in held:
                was_preempted = termination is Termination.PREEMPTED_BY_SCHEDULER
                wrong = was_preempted and held.pop(identity) not in updated
                return violated_if(wrong, f"{identity} was preempted, but its ask opted out")
        return NOTHING_TO_EVALUATE

    return evaluate


MONITORS: Final = (
    Monitor(
        preemption_tags_do_not_outweigh_the_policy,
        ("SI-CONST-010",),
        observes=(AskRequest, Updated, NodeRequest, Allocated, Released),
        presupposes=Feature.PREEMPTION,
    ),
)
