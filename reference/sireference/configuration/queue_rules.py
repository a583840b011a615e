"""Rules for the queues of one tree: names, resources, application counts.

Source: yunikorn-core 1.5.1 `common/configs/configvalidator.go`.
"""

from collections import Counter

from sireference.configuration.fields import Report
from sireference.configuration.names import is_queue_name
from sireference.configuration.problems import quoted
from sireference.configuration.quantities import written_quantity
from sireference.configuration.written import Amounts, WrittenQueue


def check_queues(root: WrittenQueue, report: Report) -> None:
    """Report all problems with the tree as a whole."""
    for name, amounts in (("max", root.max), ("guaranteed", root.guaranteed)):
        if amounts is not None:
            path = f"{root.path}.resources.{name}"
            report.refuse(path, "the root queue cannot have resources")
    _check_names(root, report)
    _check_amounts(root, {}, report)
    _check_applications(root, report)


def _check_names(parent: WrittenQueue, report: Report) -> None:
    first: dict[str, WrittenQueue] = {}
    for queue in parent.queues:
        path = f"{queue.path}.name"
        twin = first.setdefault(queue.name.lower(), queue)
        if not queue.name:
            report.refuse_again(path, "a queue must have a name")
        elif not is_queue_name(queue.name):
            problem = "is not a queue name: letters, digits, - and _, at most 64"
            report.refuse(path, f"{quoted(queue.name)} {problem}")
        elif twin is not queue:
            problem = "is a duplicate queue name (case-insensitive)"
            report.refuse(path, f"{quoted(queue.name)} {problem}")
        _check_names(queue, report)


def _check_amounts(queue: WrittenQueue, above: Amounts, report: Report) -> Counter[str]:
    """Check a queue and those below it; return the least that is guaranteed to them.

    `above` is the most the parent queues allow, by type. The result never exceeds what is allowed
    here, so that one wrong amount is reported once and not again at every parent.
    """
    path = f"{queue.path}.resources"
    own = queue.max or {}
    guaranteed = queue.guaranteed or {}
    for kind, amount in own.items():
        if kind in above and amount > above[kind]:
            problem = f"{_than(kind, amount, above[kind])} that a queue above allows"
            report.refuse(f"{path}.max.{kind}", problem)
    allowed = above
    if own:
        allowed = above | {kind: min(own[kind], above.get(kind, own[kind])) for kind in own}
    _check_guaranteed(path, guaranteed, own, report)
    if queue.template:
        template = queue.template
        path_there = f"{template.path}.resources"
        _check_guaranteed(path_there, template.guaranteed or {}, template.max or {}, report)

    below: Counter[str] = Counter()
    for child in queue.queues:
        below.update(_check_amounts(child, allowed, report))
    for kind, amount in below.items():
        for name, here in (("guaranteed", guaranteed), ("max", allowed)):
            if kind in here and amount > here[kind]:
                most, together = (written_quantity(kind, value) for value in (here[kind], amount))
                problem = f"{most} is less than the {together} guaranteed to the queues below"
                report.refuse(f"{path}.{name}.{kind}", problem)
                break
    least = Counter(guaranteed) if any(guaranteed.values()) else below
    return Counter({kind: min(least[kind], allowed.get(kind, least[kind])) for kind in least})


def _check_guaranteed(path: str, guaranteed: Amounts, most: Amounts, report: Report) -> None:
    for kind, amount in guaranteed.items():
        if kind in most and amount > most[kind]:
            problem = f"{_than(kind, amount, most[kind])} of the maximum"
            report.refuse(f"{path}.guaranteed.{kind}", problem)


def _than(kind: str, amount: int, most: int) -> str:
    return f"{written_quantity(kind, amount)} is more than the {written_quantity(kind, most)}"


def _check_applications(parent: WrittenQueue, report: Report) -> None:
    most = parent.max_applications
    for queue in parent.queues:
        path = f"{queue.path}.maxapplications"
        if most and not queue.max_applications:
            report.refuse_again(path, f"must be set, as the queue above allows {most}")
        elif most and queue.max_applications > most:
            problem = f"{queue.max_applications} is more than the {most} the queue above allows"
            report.refuse(path, problem)
        _check_applications(queue, report)
