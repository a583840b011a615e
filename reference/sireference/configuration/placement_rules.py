"""Rules for placement rules, by themselves and against the queues of the partition.

Source: yunikorn-core 1.5.1 `scheduler/placement/*_rule.go` and `common/configs/configvalidator.go`
(checkPlacementRules). Differences: a rule finds a queue in any case of its name, a queue with
children is a parent without declaration, and a fixed name cannot continue below a leaf.
"""

import difflib
from itertools import takewhile

from sireference.configuration.fields import Report
from sireference.configuration.model import ROOT_QUEUE, RuleName
from sireference.configuration.names import is_queue_name
from sireference.configuration.problems import quoted
from sireference.configuration.written import WrittenPartition, WrittenQueue, WrittenRule

_NAMES = tuple(name.value for name in RuleName)
_DOT = "."


def check_placement_rules(partition: WrittenPartition, report: Report) -> None:
    """Report all problems with the placement rules of a partition."""
    children = _Children(partition.root)
    for rule in partition.rules:
        chain = _chain(rule)
        for link in chain:
            _check_rule(link, report)
        if all(_is_sound(link) for link in chain):
            _check_target(rule, chain, children, report)


def _chain(rule: WrittenRule) -> list[WrittenRule]:
    """Return the rule and its parent rules, the outermost first."""
    above = _chain(rule.parent) if rule.parent else []
    return [*above, rule]


def _check_rule(rule: WrittenRule, report: Report) -> None:
    if not rule.name:
        report.refuse_again(f"{rule.path}.name", f"a rule must be one of {', '.join(_NAMES)}")
    elif rule.name not in _NAMES:
        guess = difflib.get_close_matches(rule.name[:64], _NAMES, n=1)
        hint = f"did you mean {guess[0]}?" if guess else f"the choice is {', '.join(_NAMES)}"
        report.refuse(f"{rule.path}.name", f"{quoted(rule.name)} is not a rule; {hint}")
    path = f"{rule.path}.value"
    if rule.name == RuleName.TAG.value and not rule.value:
        report.refuse_again(path, "a tag rule needs the name of the tag")
    if rule.name == RuleName.FIXED.value:
        if not rule.value:
            report.refuse_again(path, "a fixed rule needs the name of a queue")
        elif not _is_path(rule.value):
            report.refuse(path, f"{quoted(rule.value)} is not a queue name")
        elif _is_full(rule.value) and rule.parent:
            problem = f"{quoted(rule.value)} is a full name, so there can be no parent rule"
            report.refuse(f"{rule.path}.parent", problem)


def _is_sound(rule: WrittenRule) -> bool:
    if rule.name != RuleName.FIXED.value:
        return rule.name in _NAMES
    return _is_path(rule.value) and not (_is_full(rule.value) and rule.parent)


def _is_path(value: str) -> bool:
    return all(is_queue_name(segment) for segment in value.split(_DOT))


def _is_full(value: str) -> bool:
    return value.split(_DOT, maxsplit=1)[0] == ROOT_QUEUE


class _Children:
    """The children of queues by name, each indexed once for all rules."""

    def __init__(self, root: WrittenQueue) -> None:
        self.root = root
        self._known: dict[str, dict[str, WrittenQueue]] = {}  # by path

    def of(self, queue: WrittenQueue) -> dict[str, WrittenQueue]:
        """Return the direct children, the first of each name in lower case."""
        known = self._known.get(queue.path)
        if known is None:
            known = {child.name.lower(): child for child in reversed(queue.queues)}
            self._known[queue.path] = known
        return known


def _check_target(
    rule: WrittenRule, chain: list[WrittenRule], children: _Children, report: Report
) -> None:
    """Resolve the fixed part of the queue name; it must name a queue of the right kind.

    A chain of fixed rules alone must name a leaf. If other rules add to the name, the fixed part
    must name a parent. Missing queues are created where the rule may create them.
    """
    fixed = list(takewhile(lambda link: link.name == RuleName.FIXED.value, chain))
    if not fixed:
        return
    segments = [segment for link in fixed for segment in link.value.split(_DOT)]
    if segments[0] == ROOT_QUEUE:
        segments = segments[1:]
    path = f"{fixed[-1].path}.value"
    queue, full_name = children.root, ROOT_QUEUE
    for segment in segments:
        below = children.of(queue).get(segment)
        if not queue.is_parent:
            report.refuse(path, f"{full_name} is a leaf, so there is no queue {segment} below it")
        elif below is None and not rule.create:
            report.refuse(path, f"there is no queue {full_name}.{segment}, and none is created")
        if below is None:
            return
        queue, full_name = below, f"{full_name}.{segment}"
    problem = _wrong_kind(queue, is_whole=len(fixed) == len(chain))
    if problem:
        report.refuse(path, f"{full_name} {problem}")


def _wrong_kind(queue: WrittenQueue, *, is_whole: bool) -> str:
    """Return why the queue cannot be the target, whole or as the start of a name."""
    if is_whole:
        return "is a parent, and applications run in leaf queues" if queue.is_parent else ""
    return "" if queue.is_parent else "is a leaf, and this rule needs queues below it"
