"""Rules about nodes: one verdict for each creation."""

from collections import Counter
from collections.abc import Iterator

from siconform.monitors.finding import Era, Observation, monitors
from siconform.rm.facts import NodeAccepted, NodeRejected
from siconform.rm.sayings import Action, NodeSaying


@monitors("SI-NODE-004")
def creations_get_at_most_one_verdict(era: Era) -> Iterator[Observation]:
    """Acceptances never outnumber creations, and all verdicts never outnumber all requests."""
    created: Counter[str] = Counter()
    named: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for index, entry in era.entries:
        match entry.content:
            case NodeSaying(node=node, action=action):
                named[node] += 1
                created[node] += action in (Action.CREATE, Action.CREATE_DRAINING)
            case NodeAccepted(node=node) | NodeRejected(node=node):
                judged[node] += 1
                accepted[node] += isinstance(entry.content, NodeAccepted)
                surplus = accepted[node] > created[node] or judged[node] > named[node]
                yield Observation(index, f"one verdict too many on node {node}" if surplus else "")
            case _:
                pass
