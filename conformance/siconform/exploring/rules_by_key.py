"""What an RM may do besides where the key is the identity: updates, placements, what others hold.

A key that is asked for again is updated while it waits or lives, and begins anew once it has ended.
"""

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition

from siconform.exploring.model_state import ModelState, chosen
from siconform.exploring.model_state_by_key import ModelStateByKey
from siconform.exploring.rules import ANY_ONE, ASK_MEMORY, MOST_NODES, ArbitraryRM, step
from siconform.protocol.notifications import UpdateKind
from siconform.protocol.requests import ExistingAllocationRequest

_FOREIGN_MEMORY = st.integers(1, 12)
_MOST_FOREIGN = 3
_BEYOND = st.sampled_from((None, 0, 1, 2))  # what is left; None: nothing is asked for


def _has_asks(self: "ArbitraryRMByKey") -> bool:
    return bool(self.has.asks)


def _can_report(self: "ArbitraryRMByKey") -> bool:
    return bool(self.has.nodes and self.has.applications)


def _reports_foreign(self: "ArbitraryRMByKey") -> bool:
    return self.state.reports_foreign and bool(self.has.nodes)


def _has_foreign(self: "ArbitraryRMByKey") -> bool:
    return bool(self.state.foreign)


class ArbitraryRMByKey(ArbitraryRM):
    """An RM that names whatever it has by the keys of its own."""

    several = False

    @property
    def state(self) -> ModelStateByKey:
        """What it has, with what only such an RM may have."""
        return by_key(self.has)

    @precondition(_has_asks)
    @step(which=ANY_ONE, memory=ASK_MEMORY, priority=st.integers(-1, 2), beyond=_BEYOND)
    def asks_again(self, which: int, memory: int, priority: int, beyond: int | None) -> None:
        """Say a request once more with other values: it may wait, live or have ended."""
        ask = chosen(self.has.asks, which)
        if ask is not None:
            again = self.rm.asks_again(ask, memory=memory, priority=priority)
            self.has.asks[self.has.asks.index(ask)] = again
            self._asks_for_what_is_left(which, beyond)

    @precondition(_has_asks)
    @step(which=ANY_ONE)
    def asks_thrice_in_one_message(self, which: int) -> None:
        """Say a request three times over as it is."""
        ask = chosen(self.has.asks, which)
        if ask is not None:
            with self.rm.one_message():
                for _ in range(3):
                    self.rm.asks_again(ask)

    @precondition(_has_asks)
    @step(which=ANY_ONE, memory=ASK_MEMORY, beyond=_BEYOND)
    def updates_allocation(self, which: int, memory: int, beyond: int | None) -> None:
        """Let an allocation hold another amount, maybe more than there is room for."""
        allocation = chosen(self.has.allocations(), which)
        if allocation is not None:
            self.rm.updates_allocation(allocation, memory=memory)
            self._asks_for_what_is_left(which, beyond)

    @precondition(lambda self: _can_report(self) and len(self.has.nodes) < MOST_NODES)
    @step(which=ANY_ONE, more=st.integers(1, 3))
    def updates_what_waits(self, which: int, more: int) -> None:
        """Ask for more than is left, then for still more, and bring what is wanted in the end."""
        application = chosen(self.has.applications, which)
        if application is not None:
            memory = self.state.memory_left() + 1
            ask = self.rm.asks(application, memory=memory)
            self.rm.synchronise_all()
            self.has.asks.append(self.rm.asks_again(ask, memory=memory + more))
            self._sees_it_certain()
            self.has.nodes.append(self.rm.registers_node(memory=memory + more))

    @precondition(lambda self: _has_asks(self) and len(self.has.nodes) > 1)
    @step(which=ANY_ONE, where=ANY_ONE, memory=ASK_MEMORY)
    def updates_allocation_elsewhere(self, which: int, where: int, memory: int) -> None:
        """Name another node with what is to be held, which is no way to move it."""
        allocation = chosen(self.has.allocations(), which)
        node = chosen(self.has.nodes, where)
        if allocation is not None and node is not None:
            self.rm.updates_allocation(allocation, memory=memory, node=node)

    @precondition(lambda self: _has_asks(self) and bool(self.has.nodes))
    @step(which=ANY_ONE, where=ANY_ONE, memory=ASK_MEMORY)
    def places_request(self, which: int, where: int, memory: int) -> None:
        """Say of a request that was not announced on which node it runs, room or not."""
        held = {allocation.key for allocation in self.has.allocations()}
        ask = chosen([ask for ask in self.has.asks if ask not in held], which)
        node = chosen(self.has.nodes, where)
        if ask is not None and node is not None:
            sent = ask.sent
            placed = self.rm.remembers_allocation(
                sent.application,
                node,
                memory=memory,
                priority=sent.priority,
                task_group=sent.task_group,
                placeholder=sent.placeholder,
                policy=sent.preemption_policy,
            )
            named = replace(placed, key=sent.key, identity=sent.key)
            self.rm.send(ExistingAllocationRequest(named))

    @precondition(_can_report)
    @step(which=ANY_ONE, where=ANY_ONE, memory=ASK_MEMORY)
    def reports_existing(self, which: int, where: int, memory: int) -> None:
        """Report an allocation from before."""
        application, node = chosen(self.has.applications, which), chosen(self.has.nodes, where)
        if application is not None and node is not None:
            existing = self.rm.remembers_allocation(application, node, memory=memory)
            self.state.reported.append(existing)
            self.rm.send(ExistingAllocationRequest(existing))

    @precondition(lambda self: bool(self.state.reported))
    @step(which=ANY_ONE)
    def reports_existing_again(self, which: int) -> None:
        """Report an allocation once more, be it that it lives or that it has ended."""
        existing = chosen(self.state.reported, which)
        if existing is not None and existing.node in self.has.nodes:
            self.rm.send(ExistingAllocationRequest(existing))

    @precondition(_has_asks)
    @step(which=ANY_ONE)
    def releases_and_asks_again_in_one_message(self, which: int) -> None:
        """Let a key begin anew at once; requests come before releases, so it may end with them."""
        ask = chosen(self.has.asks, which)
        if ask is not None:
            self.rm.withdraws(ask)
            self.rm.asks_again(ask)

    @precondition(_reports_foreign)
    @step(where=ANY_ONE, memory=_FOREIGN_MEMORY, beyond=_BEYOND)
    def reports_foreign(self, where: int, memory: int, beyond: int | None) -> None:
        """Say what others hold on a node, maybe more than it has."""
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
        """Say that others hold another amount, maybe on another node."""
        foreign, node = chosen(list(self.state.foreign), which), chosen(self.has.nodes, where)
        if foreign is not None and node is not None:
            self.rm.reports_foreign(node, key=foreign, memory=memory)
            self.state.foreign[foreign] = (node, memory)
            self._asks_for_what_is_left(where, beyond)

    @precondition(_has_foreign)
    @step(which=ANY_ONE)
    def releases_foreign(self, which: int) -> None:
        """Say that others hold this no longer."""
        foreign = chosen(list(self.state.foreign), which)
        if foreign is not None:
            del self.state.foreign[foreign]
            self.rm.releases_foreign(foreign)

    @precondition(lambda self: bool(self.has.applications))
    @step(which=ANY_ONE)
    def withdraws_asks_of_application(self, which: int) -> None:
        """A release without key is the same message, whatever it is meant for."""
        application = chosen(self.has.applications, which)
        if application is not None:
            self.rm.releases_all(application)

    def _asks_for_what_is_left(self, which: int, beyond: int | None) -> None:
        """Once it is certain that all was taken, for as much as any node has left, or for more."""
        application = chosen(self.has.applications, which)
        if beyond is not None and application is not None:
            self._sees_it_certain()
            memory = max(1, self.state.memory_left() + beyond)
            self.has.asks.append(self.rm.asks(application, memory=memory))

    def _sees_it_certain(self) -> None:
        self.rm.synchronise_all()
        self.rm.barriers(UpdateKind.ALLOCATIONS)


def by_key(has: ModelState) -> ModelStateByKey:
    """The state as the one that a maker of histories by key begins with."""
    if not isinstance(has, ModelStateByKey):
        raise TypeError("not the state of an RM by key")
    return has
