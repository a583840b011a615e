"""The steps of random histories: what an RM may do at any time."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, Protocol, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from siwire import Capability

from siconform.exploring.model_state import ModelState, chosen
from siconform.protocol.handles import Gang
from siconform.protocol.notifications import NodeAccepted, NodeRejected
from siconform.rm.steps.allocations import MAY_PREEMPT, PLAIN_POLICY
from siconform.rm.steps.applications import DEFAULT_QUEUE
from siconform.rm.steps.gang_styles import spellings
from siconform.rm.steps.gangs import GANG_QUEUE, QUOTA_QUEUE, Style
from siconform.rm.steps.preemption import ENTITLED_QUEUE, TAKING_QUEUE

# the scheduler's spelling is not probed in the middle of a history; it may reject the others
_STYLES: Final = tuple(spelling for style in Style for spelling in spellings(style))
_QUEUES: Final = (DEFAULT_QUEUE, QUOTA_QUEUE, GANG_QUEUE, TAKING_QUEUE, ENTITLED_QUEUE)
MOST_NODES: Final = 5  # few, so that steps interact
_MOST_APPLICATIONS: Final = 5

ANY_ONE: Final = st.integers(0, 30)  # which of those there are
_GPU: Final = "gpu"
_MAY_DRAIN: Final = st.sampled_from((False, False, False, True))


def _of_node(memory: int, gpus: int) -> dict[str, int]:
    """Return a node's capacity; a type of which there is none is left out."""
    return {"memory": memory, "vcore": max(10, memory), **({_GPU: gpus} if gpus else {})}


def _with_even_gpus(capacity: Mapping[str, int]) -> dict[str, int]:
    """Return a capacity that a scheduler which allocates devices in pairs can fill, too."""
    gpus = capacity.get(_GPU, 0)
    return {**capacity, _GPU: gpus + 1} if gpus % 2 else dict(capacity)


def _of_ask(memory: int, gpus: int) -> dict[str, int]:
    return {"memory": memory, "vcore": 1, **({_GPU: gpus} if gpus else {})}


CAPACITY: Final = st.builds(_of_node, st.integers(1, 12), st.sampled_from((0, 2, 4)))
"""Of a node: devices come in pairs, as a scheduler may allocate them so."""
AMOUNTS: Final = st.builds(_of_ask, st.integers(1, 5), st.sampled_from((0, 0, 1)))
"""What an ask or an allocation is for: sometimes memory is scarce, sometimes a GPU."""

Rule = TypeVar("Rule", bound=Callable[..., None])
_rule: Any = rule  # its types do not allow forwarded arguments


class HistoryMaker(Protocol):
    """The controller of a history, which runs its steps and evaluates it."""

    def begins(self) -> ModelState:
        """Return the state of a new RM."""

    def goes_on(self, has: ModelState, step: Callable[[], None]) -> None:
        """Make one more step, followed by barriers."""

    def ends(self, has: ModelState) -> None:
        """Evaluate the history after its last step."""

    def breaks_off(self, has: ModelState) -> None:
        """End the history without further evaluation."""


def step(**arguments: st.SearchStrategy[Any]) -> Callable[[Rule], Rule]:
    """Declare a rule whose effects settle before the next one begins."""

    def declare(function: Rule) -> Rule:
        @wraps(function)
        def stepped(self: "RandomRM", **drawn: Any) -> None:
            self.maker.goes_on(self.has, lambda: function(self, **drawn))

        declared: Rule = _rule(**arguments)(stepped)
        return declared

    return declare


def _has_nodes(self: "RandomRM") -> bool:
    return bool(self.has.nodes)


def _has_applications(self: "RandomRM") -> bool:
    return bool(self.has.applications)


def _has_gangs(self: "RandomRM") -> bool:
    return bool(self.has.gangs())


def _has_asks(self: "RandomRM") -> bool:
    return bool(self.has.asks)


class RandomRM(RuleBasedStateMachine):
    """An RM with random behaviour within the specification."""

    several = True  # whether an ask may be for several allocations

    def __init__(self, maker: HistoryMaker) -> None:
        super().__init__()
        self.maker = maker
        self.has = maker.begins()
        self.rm = self.has.rm

    def teardown(self) -> None:
        """Evaluate the history unless it was broken off."""
        try:
            if sys.exc_info()[0] is None:
                self.maker.ends(self.has)
        finally:
            self.maker.breaks_off(self.has)

    @initialize(
        capacities=st.lists(CAPACITY, min_size=1, max_size=3),
        queues=st.lists(st.sampled_from(_QUEUES), min_size=1, max_size=3),
    )
    def is_not_new(self, capacities: list[dict[str, int]], queues: list[str]) -> None:
        """Start with some nodes and applications."""

        def begins() -> None:
            self.has.nodes += [self.rm.registers_node(resources=one) for one in capacities]
            self.has.applications += [self.rm.submits_application(queue=queue) for queue in queues]

        self.maker.goes_on(self.has, begins)

    @precondition(lambda self: len(self.has.nodes) < MOST_NODES)
    @step(capacity=CAPACITY, draining=_MAY_DRAIN)
    def registers_node(self, capacity: dict[str, int], *, draining: bool) -> None:
        """Register a new node, schedulable or draining."""
        draining = draining and self._can_create_draining()
        node = self.rm.registers_node(resources=capacity, draining=draining)
        self.has.nodes.append(node)
        if draining:
            self.has.draining.add(node)

    @precondition(
        lambda self: len(self.has.decommissioned_nodes) > 0 and len(self.has.nodes) < MOST_NODES
    )
    @step(which=ANY_ONE, capacity=CAPACITY)
    def brings_node_back(self, which: int, capacity: dict[str, int]) -> None:
        """Register a decommissioned node again under its id, perhaps with another size."""
        former = chosen(self.has.decommissioned_nodes, which)
        if former is not None:
            self.has.decommissioned_nodes.remove(former)
            self.has.nodes.append(self.rm.registers_node(former, resources=capacity))

    @precondition(lambda self: _has_applications(self) and len(self.has.nodes) < MOST_NODES)
    @step(
        several=st.lists(st.tuples(ANY_ONE, AMOUNTS, st.booleans()), min_size=1, max_size=3),
        free=CAPACITY,
        draining=_MAY_DRAIN,
    )
    def recovers_node(
        self,
        several: list[tuple[int, dict[str, int], bool]],
        free: dict[str, int],
        *,
        draining: bool,
    ) -> None:
        """Register a node with allocations of running applications from before, and free room.

        Those of a gang may be placeholders. The node may come draining.
        """
        draining = draining and self._can_create_draining()
        node, running = self.rm.new_name("node"), self.has.running_applications()
        used = [(chosen(running, which), amounts, may_be) for which, amounts, may_be in several]
        existing = tuple(
            self.rm.remembers_placeholder(application, node)
            if isinstance(application, Gang) and may_be_placeholder
            else self.rm.remembers_allocation(application, node, resources=amounts)
            for application, amounts, may_be_placeholder in used
            if application is not None
        )
        capacity = Counter(free)
        for allocation in existing:
            capacity.update(allocation.resource)
        recovered = self.rm.registers_node(
            node, resources=_with_even_gpus(capacity), draining=draining, existing=existing
        )
        answer = self.rm.waits_for(NodeAccepted(node), NodeRejected(node))
        if not isinstance(answer, NodeRejected):  # one that is not answered yet is there later
            self.has.recovers(recovered, existing)
            if draining:
                self.has.draining.add(recovered)

    def _can_create_draining(self) -> bool:
        return self.rm.connection.revision.can(Capability.CREATE_DRAIN)

    @precondition(_has_nodes)
    @step(which=ANY_ONE, capacity=CAPACITY)
    def resizes_node(self, which: int, capacity: dict[str, int]) -> None:
        """Give a node more or less capacity, perhaps less than is in use."""
        node = chosen(self.has.nodes, which)
        if node is not None:
            self.rm.updates_node(node, resources=capacity)
            self.has.resizes(node, capacity)

    @precondition(_has_nodes)
    @step(which=ANY_ONE)
    def drains_or_undrains_node(self, which: int) -> None:
        """Drain a schedulable node, or make a draining one schedulable."""
        node = chosen(self.has.nodes, which)
        if node in self.has.draining:
            self.rm.undrains(node)
            self.has.draining.remove(node)
        elif node is not None:
            self.rm.drains(node)
            self.has.draining.add(node)

    @precondition(lambda self: len(self.has.nodes) > 1)
    @step(which=ANY_ONE)
    def decommissions_node(self, which: int) -> None:
        """Drain and decommission a node, with all that runs on it."""
        node = chosen(self.has.nodes, which)
        if node is not None:
            if node not in self.has.draining:
                self.rm.drains(node)
            self.rm.decommissions(node)
            self.has.loses_node(node)

    @precondition(lambda self: len(self.has.applications) < _MOST_APPLICATIONS)
    @step(queue=st.sampled_from(_QUEUES))
    def submits_application(self, queue: str) -> None:
        """Add an application, in a queue with or without a limit."""
        self.has.applications.append(self.rm.submits_application(queue=queue))

    @precondition(lambda self: len(self.has.applications) < _MOST_APPLICATIONS)
    @step(
        members=st.integers(1, 3),
        memory=st.integers(1, 3),
        queue=st.sampled_from((GANG_QUEUE, QUOTA_QUEUE)),
        style=st.sampled_from(_STYLES),
    )
    def submits_gang(self, members: int, memory: int, queue: str, style: str) -> None:
        """Submit a gang, with an ask for each placeholder."""
        gang = self.rm.submits_gang(members=members, memory=memory, queue=queue, style=style)
        self.has.applications.append(gang)
        self.has.asks += self.rm.asks_placeholders(gang)

    @precondition(_has_gangs)
    @step(which=ANY_ONE, other_size=st.sampled_from((None, None, 1, 4)))
    def asks_for_member(self, which: int, other_size: int | None) -> None:
        """Ask for a real member, perhaps of another size than its placeholder or one too many."""
        gang = chosen(self.has.gangs(), which)
        if gang is not None:
            self.has.asks.append(self.rm.asks_member(gang, memory=other_size))

    @precondition(_has_gangs)
    @step(which=ANY_ONE)
    def asks_for_another_placeholder(self, which: int) -> None:
        """Ask for one more placeholder than the gang declared."""
        gang = chosen(self.has.gangs(), which)
        if gang is not None:
            self.has.asks.append(self.rm.asks_placeholder(gang))

    @step()
    def toggles_confirmations(self) -> None:
        """Toggle between confirming releases at once and some steps later."""
        if self.rm.is_confirming:
            self.rm.stops_confirming()
        else:
            self.rm.confirms_everything()

    @precondition(lambda self: len(self.has.applications) > 1)
    @step(which=ANY_ONE)
    def removes_application(self, which: int) -> None:
        """Remove an application with all it has."""
        application = chosen(self.has.applications, which)
        if application is not None:
            self.rm.removes_application(application)
            self.has.loses_application(application)

    @precondition(_has_applications)
    @step(
        which=ANY_ONE,
        amounts=AMOUNTS,
        times=st.integers(1, 8),
        priority=st.integers(-1, 2),
        may_preempt=st.booleans(),
    )
    def asks(
        self,
        which: int,
        amounts: dict[str, int],
        times: int,
        priority: int,
        *,
        may_preempt: bool,
    ) -> None:
        """Ask for one allocation or several."""
        application = chosen(self.has.applications, which)
        if application is not None:
            ask = self.rm.asks(
                application,
                resources=amounts,
                times=times if self.several else 1,
                priority=priority,
                policy=MAY_PREEMPT if may_preempt else PLAIN_POLICY,
            )
            self.has.asks.append(ask)

    @precondition(_has_applications)
    @step(several=st.lists(st.tuples(ANY_ONE, AMOUNTS), min_size=2, max_size=4))
    def asks_for_several_in_one_message(self, several: list[tuple[int, dict[str, int]]]) -> None:
        """Ask for allocations of any applications in one message."""
        with self.rm.one_message():
            for which, amounts in several:
                application = chosen(self.has.applications, which)
                if application is not None:
                    self.has.asks.append(self.rm.asks(application, resources=amounts))

    @precondition(_has_asks)
    @step(which=ANY_ONE)
    def withdraws_ask(self, which: int) -> None:
        """Withdraw an ask, pending or not, as the RM cannot know."""
        ask = chosen(self.has.asks, which)
        if ask is not None:
            self.rm.withdraws(ask)

    @precondition(_has_applications)
    @step(which=ANY_ONE)
    def withdraws_asks_of_application(self, which: int) -> None:
        """Withdraw every pending ask of an application."""
        application = chosen(self.has.applications, which)
        if application is not None:
            self.rm.withdraws_asks(application=application)

    @precondition(_has_asks)
    @step(which=ANY_ONE)
    def releases_allocation(self, which: int) -> None:
        """Release one allocation the RM holds, if it holds any."""
        allocation = chosen(self.has.allocations(), which)
        if allocation is not None:
            self.rm.releases(allocation)
            self.has.released.add(allocation.identity)

    @precondition(_has_applications)
    @step(which=ANY_ONE)
    def releases_everything_of_application(self, which: int) -> None:
        """Release all allocations of an application at once."""
        application = chosen(self.has.applications, which)
        if application is not None:
            held = [a for a in self.has.allocations() if a.application == application]
            self.rm.releases_all(application)
            self.has.released.update(allocation.identity for allocation in held)

    @precondition(lambda self: self.rm.exchange.history.clock.is_virtual)
    @step(seconds=st.integers(1, 5))
    def lets_time_pass(self, seconds: int) -> None:
        """Let the scheduler's timers run, on a virtual clock only."""
        clock = self.rm.exchange.history.clock
        clock.advance_and_look(lambda _: None, seconds, first=seconds)
