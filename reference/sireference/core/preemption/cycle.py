"""Preemption cycle: victims are asked to end, and the ask is served when all are gone.

Resources reserved for the ask are kept for it from the first moment on, and victims keep theirs
until the RM has confirmed the release or has ended them itself.
"""

from typing import Final

from sireference.core import gates, predicates
from sireference.core.model import Effect
from sireference.core.preemption import eligibility, rm_approval, victim_search
from sireference.core.preemption.victims import Candidates
from sireference.core.state.allocation import Allocation
from sireference.core.state.application import Application, PendingAsk
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.placement_profile import PlacementProfile
from sireference.core.state.preemption import Preemption
from sireference.core.state.queue import Queue
from sireference.core.states import AskState, NodeState

_MOST_LOOKS: Final = 1_000  # nodes and victims examined in one run
_BREATH: Final = 0.05  # seconds until the next searches, if any are left


def watch(partition: Partition, pending: PendingAsk, now: float) -> None:
    """Let the ask preempt, if it may, after the delay of its queue."""
    if pending.since is None:
        pending.since = now
    if pending.is_reserved:  # it was sent again and keeps its reservation
        partition.preemptors.add(pending)
        return
    if not eligibility.allow(partition, pending) or partition.preemptors.has_timer(pending):
        return
    deadline = pending.since + eligibility.delay(pending)
    if deadline <= now:
        partition.preemptors.add(pending)
        return

    def is_due(_: float) -> list[Effect]:
        partition.preemptors.add(pending)
        return []

    partition.preemptors.wait(pending, partition.timers.set(deadline, is_due))


def run(partition: Partition, now: float) -> list[Effect]:
    """Start the preemptions that are possible now, by priority, then by age.

    An ask without victims is tried again when something has changed, but not at once. So is an ask
    whose victims still exist: its queues may have capacity for it without them.
    """
    if partition.proposals:  # what follows depends on the answer
        return []
    preemptors = partition.preemptors
    effects: list[Effect] = []
    searches = _Searches(partition)
    in_vain: set[_Alike] = set()  # an ask of higher priority found no victims
    for pending in preemptors.due_asks(now):
        is_over = searches.looks >= _MOST_LOOKS or partition.proposals
        if is_over or eligibility.is_untried(pending):
            preemptors.add(pending)
            continue
        preemptors.look_at(pending)
        if partition.preemptions.of(pending) is not None:
            effects += _serve_anywhere(partition, pending, now)
            continue
        alike = _alike(pending)
        if alike is None or alike in in_vain or not eligibility.is_ready(partition, pending):
            continue
        if not eligibility.may_claim(pending):
            in_vain.add(alike)
            continue
        search = searches.on_behalf_of(pending, alike)
        chosen = searches.choice_of(search)
        if search.is_paused:
            preemptors.pause(pending, (alike, pending.ask.priority), search.left)
        elif chosen is None:
            in_vain.add(alike)
        else:
            effects += rm_approval.seek(partition, pending, search, chosen)
            effects += _serve_anywhere(partition, pending, now)
            searches.exclude_victims(chosen)
    _request_pass(partition, now)
    return effects


class _Searches:
    """The searches of one cycle, which share their candidates."""

    def __init__(self, partition: Partition) -> None:
        self.looks = 0  # of all searches
        self._partition = partition
        self._searches: dict[tuple[_Alike, int], victim_search.Search] = {}
        self._candidates: dict[tuple[Application | Queue, int], Candidates] = {}

    def on_behalf_of(self, pending: PendingAsk, alike: "_Alike") -> victim_search.Search:
        """Return the search for all asks alike, which may have been paused in an earlier cycle."""
        key = (alike, pending.ask.priority)
        if key not in self._searches:
            whose, _ = alike
            candidates = self._candidates.get((whose, pending.ask.priority))
            if candidates is None:
                candidates = Candidates(self._partition, pending)
                self._candidates[whose, pending.ask.priority] = candidates
            left = self._partition.preemptors.paused.pop(key, None)
            search = victim_search.Search(self._partition, pending, candidates, left)
            self._searches[key] = search
        return self._searches[key]

    def choice_of(self, search: victim_search.Search) -> victim_search.Choice | None:
        """Return the next choice of the search."""
        looks_before = search.looks
        chosen = search.choose()
        self.looks += search.looks - looks_before
        return chosen

    def exclude_victims(self, chosen: victim_search.Choice) -> None:
        """Exclude the victims from further choices."""
        for candidates in self._candidates.values():
            candidates.have_gone(victim.allocation for victim in chosen.victims)


_Alike = tuple[Application | Queue, PlacementProfile]


def _alike(pending: PendingAsk) -> _Alike | None:
    """Return what asks with the same victims have in common, apart from their priority.

    None for an ask without unserved allocations.
    """
    if pending.ask_group is None:
        return None
    application, profile = pending.application, pending.ask_group.profile
    return (application if profile.required_node else application.leaf, profile)


def _request_pass(partition: Partition, now: float) -> None:
    """Request a later pass if anything is left to examine."""
    preemptors = partition.preemptors
    if partition.proposals:
        return
    if preemptors.fresh:
        partition.timers.request_pass(now + _BREATH)
    elif preemptors.tried and preemptors.has_changed:
        partition.timers.request_pass(preemptors.next_look)


def go_on(partition: Partition, gone: Allocation, now: float) -> list[Effect]:
    """Serve the asks that waited for the end of ``gone``, or for capacity on its node."""
    own = partition.preemptions.gone(gone)
    effects = _serve(partition, own, now) if own is not None else []
    return effects + look_again(partition, gone.node, now)


def look_again(partition: Partition, node: Node, now: float) -> list[Effect]:
    """Serve the asks with a reservation on ``node`` that fit there now, victims or not."""
    effects: list[Effect] = []
    for preemption in partition.preemptions.on(node):
        effects += _serve(partition, preemption, now)
    return effects


def _serve(partition: Partition, preemption: Preemption, now: float) -> list[Effect]:
    """Allocate what was reserved, if it fits.

    If it does not fit although all victims are gone, the reservation ends and the ask waits as
    before.
    """
    pending, node = preemption.pending, preemption.node
    fits = _fits(partition, pending, node)
    if preemption.victims and (preemption.needs_all or not fits):
        return []
    partition.preemptions.end(preemption)
    effects = predicates.place(partition, pending, node, now) if fits else []
    if pending.state is AskState.PENDING:
        partition.preemptors.add(pending)
    return effects


def _serve_anywhere(partition: Partition, pending: PendingAsk, now: float) -> list[Effect]:
    """Serve an ask with a reservation that fits now, even if its victims are still there."""
    preemption = partition.preemptions.of(pending)
    effects = _serve(partition, preemption, now) if preemption is not None else []
    return effects + _serve_elsewhere(partition, pending, now)


def _serve_elsewhere(partition: Partition, pending: PendingAsk, now: float) -> list[Effect]:
    """Serve an ask on a node other than its reserved one, if its queues have capacity.

    A scheduling pass cannot: its reservation already counts in the queues.
    """
    preemption, ask_group = partition.preemptions.of(pending), pending.ask_group
    if preemption is None or ask_group is None or not _may_be_served(partition, pending):
        return []
    node = partition.node_index.find(ask_group.profile, ask_group.need)
    if node is None:
        return []
    partition.preemptions.end(preemption)
    return predicates.place(partition, pending, node, now)


def _fits(partition: Partition, pending: PendingAsk, node: Node) -> bool:
    need = pending.ask.resource
    return (
        _may_be_served(partition, pending)
        and node.state is NodeState.SCHEDULABLE
        and node.can_take(need, need)
    )


def _may_be_served(partition: Partition, pending: PendingAsk) -> bool:
    """Return whether an ask with a reservation may be served, apart from node capacity."""
    need = pending.ask.resource
    return (
        pending.ask_group is not None
        and pending.wants_more
        and gates.closed_gate(partition, pending.ask_group) is None
        and pending.application.can_take(need, need)
    )


def node_is_gone(partition: Partition, node: Node) -> None:
    """End all reservations on ``node``; the asks look for other victims."""
    for preemption in partition.preemptions.on(node):
        partition.preemptions.end(preemption)
