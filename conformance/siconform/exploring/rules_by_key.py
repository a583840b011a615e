"""Additional steps where the key is the identity: updates, placements, foreign allocations.

Asking for a key again updates it while it is pending or live, else starts a new lifecycle.
"""

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition

from siconform.exploring.model_state import ModelState, chosen
from siconform.exploring.model_state_by_key import ModelStateByKey
from siconform.exploring.rules import AMOUNTS, ANY_ONE, MOST_NODES, RandomRM, step
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.requests import ExistingAllocationRequest

_FOREIGN_MEMORY = st.integers(1, 12)
_MOST_FOREIGN = 3
_BEYOND = st.sampled_from((None, 0, 1, 2))  # more than is free; None: no ask


def _has_asks(self: "RandomRMByKey") -> bool:
    return bool(self.has.asks)


def _can_report(self: "RandomRMByKey") -> bool:
    return bool(self.has.nodes and self.has.applications)


def _reports_foreign(self: "RandomRMByKey") -> bool:
    return self.state.reports_foreign and bool(self.has.nodes)


def _has_foreign(self: "RandomRMByKey") -> bool:
    return bool(self.state.foreign)


class RandomRMByKey(RandomRM):
    """An RM that identifies its allocations by its own keys."""

    several = False

    @property
    def state(self) -> ModelStateByKey:
        """The model state, with keys."""
        return by_key(self.has)

    @precondition(_has_asks)
    @step(which=ANY_ONE, amounts=AMOUNTS, priority=st.integers(-1, 2), beyond=_BEYOND)
    def asks_again(
        self, which: int, amounts: dict[str, int], priority: int, beyond: int | None
    ) -> None:
        """Resend a pending, live or ended request with other values."""
        ask = chosen(self.has.asks, which)
        if ask is not None:
            again = self.rm.asks_again(ask, resources=amounts, priority=priority)
            self.has.asks[self.has.asks.index(ask)] = again
            self._asks_for_what_is_left(which, beyond)

    @precondition(_has_asks)
    @step(which=ANY_ONE)
    def asks_thrice_in_one_message(self, which: int) -> None:
        """Resend a request three times unchanged."""
        ask = chosen(self.has.asks, which)
        if ask is not None:
            with self.rm.one_message():
                for _ in range(3):
                    self.rm.asks_again(ask)

    @precondition(_has_asks)
    @step(which=ANY_ONE, amounts=AMOUNTS, beyond=_BEYOND)
    def updates_allocation(self, which: int, amounts: dict[str, int], beyond: int | None) -> None:
        """Give an allocation another amount, perhaps more than there is capacity for."""
        allocation = chosen(self.has.allocations(), which)
        if allocation is not None:
            self.rm.updates_allocation(allocation, resources=amounts)
            self._asks_for_what_is_left(which, beyond)

    @precondition(lambda self: _can_report(self) and len(self.has.nodes) < MOST_NODES)
    @step(which=ANY_ONE, more=st.integers(1, 3))
    def updates_what_waits(self, which: int, more: int) -> None:
        """Ask for more than is free, then for still more, and add a node of that size."""
        application = chosen(self.has.applications, which)
        if application is not None:
            memory = self.state.memory_left() + 1
            ask = self.rm.asks(application, memory=memory)
            self.rm.synchronise_all()
            self.has.asks.append(self.rm.asks_again(ask, memory=memory + more))
            self._sees_it_certain()
            self.has.nodes.append(self.rm.registers_node(memory=memory + more))

    @precondition(lambda self: _has_asks(self) and len(self.has.nodes) > 1)
    @step(which=ANY_ONE, where=ANY_ONE, amounts=AMOUNTS)
    def updates_allocation_elsewhere(self, which: int, where: int, amounts: dict[str, int]) -> None:
        """Update an allocation with another node, which must not move it."""
        allocation = chosen(self.has.allocations(), which)
        node = chosen(self.has.nodes, where)
        if allocation is not None and node is not None:
            self.rm.updates_allocation(allocation, resources=amounts, node=node)

    @precondition(lambda self: _has_asks(self) and bool(self.has.nodes))
    @step(which=ANY_ONE, where=ANY_ONE, amounts=AMOUNTS)
    def places_request(self, which: int, where: int, amounts: dict[str, int]) -> None:
        """Report a node for an unannounced request, with or without free capacity."""
        held = {allocation.key for allocation in self.has.allocations()}
        ask = chosen([ask for ask in self.has.asks if ask not in held], which)
        node = chosen(self.has.nodes, where)
        if ask is not None and node is not None:
            sent = ask.sent
            placed = self.rm.remembers_allocation(
                sent.application,
                node,
                resources=amounts,
                priority=sent.priority,
                task_group=sent.task_group,
                placeholder=sent.placeholder,
                policy=sent.preemption_policy,
            )
            named = replace(placed, key=sent.key, identity=sent.key)
            self.rm.send(ExistingAllocationRequest(named))

    @precondition(_can_report)
    @step(which=ANY_ONE, where=ANY_ONE, amounts=AMOUNTS)
    def reports_existing(self, which: int, where: int, amounts: dict[str, int]) -> None:
        """Report an existing allocation."""
        application, node = chosen(self.has.applications, which), chosen(self.has.nodes, where)
        if application is not None and node is not None:
            existing = self.rm.remembers_allocation(application, node, resources=amounts)
            self.state.reported.append(existing)
            self.rm.send(ExistingAllocationRequest(existing))

    @precondition(lambda self: bool(self.state.reported))
    @step(which=ANY_ONE)
    def reports_existing_again(self, which: int) -> None:
        """Report an existing allocation again, live or ended."""
        existing = chosen(self.state.reported, which)
        if existing is not None and existing.node in self.has.nodes:
            self.rm.send(ExistingAllocationRequest(existing))

    @precondition(_has_asks)
    @step(which=ANY_ONE)
    def releases_and_asks_again_in_one_message(self, which: int) -> None:
        """Reuse a key at once; requests precede releases, so the new one may end with them."""
        ask = chosen(self.has.asks, which)
        if ask is not None:
            self.rm.withdraws(ask)
            self.rm.asks_again(ask)

    @precondition(_reports_foreign)
    @step(where=ANY_ONE, memory=_FOREIGN_MEMORY, beyond=_BEYOND)
    def reports_foreign(self, where: int, memory: int, beyond: int | None) -> None:
        """Report a foreign allocation on a node, perhaps more than it has."""
        node = chosen(self.has.nodes, where)
        if node is not None and len(self.state.foreign) < _MOST_FOREIGN:
            foreign = self.rm.reports_foreign(node, memory=memory)
            self.state.foreign[foreign] = (node, memory)
            self._asks_for_what_is_left(where, beyond)

    @precondition(lambda self: _has_foreign(self) and bool(self.has.nodes))
    @step(which=ANY_ONE, where=ANY_ONE, memory=_FOREIGN_MEMORY, beyond=_BEYOND)
    def reports_foreign_again(
        self, which: int, where: int, memory: int, beyond: int | None
    ) -> None:
        """Report another amount for a foreign allocation, perhaps on another node."""
        foreign, node = chosen(list(self.state.foreign), which), chosen(self.has.nodes, where)
        if foreign is not None and node is not None:
            self.rm.reports_foreign(node, key=foreign, memory=memory)
            self.state.foreign[foreign] = (node, memory)
            self._asks_for_what_is_left(where, beyond)

    @precondition(_has_foreign)
    @step(which=ANY_ONE)
    def releases_foreign(self, which: int) -> None:
        """Release a foreign allocation."""
        foreign = chosen(list(self.state.foreign), which)
        if foreign is not None:
            del self.state.foreign[foreign]
            self.rm.releases_foreign(foreign)

    @precondition(lambda self: bool(self.has.applications))
    @step(which=ANY_ONE)
    def withdraws_asks_of_application(self, which: int) -> None:
        """Release everything of an application: without keys, the message is the same."""
        application = chosen(self.has.applications, which)
        if application is not None:
            self.rm.releases_all(application)

    def _asks_for_what_is_left(self, which: int, beyond: int | None) -> None:
        """Ask for the largest free amount or more, once all earlier messages are certain."""
        application = chosen(self.has.applications, which)
        if beyond is not None and application is not None:
            self._sees_it_certain()
            memory = max(1, self.state.memory_left() + beyond)
            self.has.asks.append(self.rm.asks(application, memory=memory))

    def _sees_it_certain(self) -> None:
        self.rm.synchronise_all()
        self.rm.barriers(UpdateKind.ALLOCATIONS)


def by_key(has: ModelState) -> ModelStateByKey:
    """Return the state as a ModelStateByKey; raise TypeError if it is not one."""
    if not isinstance(has, ModelStateByKey):
        raise TypeError("not the state of an RM by key")
    return has
