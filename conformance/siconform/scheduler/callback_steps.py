"""Steps with the callbacks that an RM offers."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.callbacks import (
    Answered,
    Assumed,
    ConfigurationHandedOver,
    ConfigurationStored,
    EvictionCheck,
    Forgotten,
    PlacementCheck,
    Scheduling,
    SchedulingReported,
    StateDumped,
    StateDumpWanted,
)
from siconform.protocol.notifications import Fact
from siconform.scheduler.gang_steps import GangSteps
from siconform.transport.dialects.callback_calls import kind_of_call


class CallbackSteps(GangSteps):
    """Calls of the RM. Each raises NotOffered if the RM does not take that callback."""

    def offers(self, call: Fact) -> bool:
        """Return whether the RM takes the callback with which this is sent.

        An RM may offer callbacks a while after it has registered.
        """
        callbacks = self.engine.callbacks
        self.exchange.history.look(lambda: callbacks.is_open or None, self.deadlines.ack)
        return callbacks.offers(kind_of_call(call))

    def asks_for_placement(self, key: str, node: str, *, allocate: bool = True) -> Answered:
        """Ask whether a request may go on a node."""
        answered: Answered = self._answer(PlacementCheck(key, node, allocate), Answered)
        return answered

    def asks_for_eviction(
        self, key: str, node: str, victims: tuple[str, ...], start: int
    ) -> Answered:
        """Ask whether a request fits on a node once victims 0 to ``start`` or more are gone."""
        answered: Answered = self._answer(EvictionCheck(key, node, victims, start), Answered)
        return answered

    def reports_scheduling(
        self,
        key: str,
        application: str,
        state: Scheduling,
        *,
        reason: str = "",
        times: int = 1,
        threads: int = 1,
    ) -> None:
        """Report the progress of scheduling a request, several times and from several threads.

        It fails if the RM ends its callback stream meanwhile.
        """
        report = SchedulingReported(key, application, state, reason)
        if not self.offers(report):
            raise NotOffered("the RM does not offer the callback container states")
        try:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda _: self._call(report), range(times)))
        except NotOffered:
            message = f"the RM ended its callbacks after: {report}"
            raise ConformanceFailure(message, expected="callbacks that stay open") from None

    def asks_for_state_dump(self) -> StateDumped:
        """Ask for a dump of the RM's state."""
        dumped: StateDumped = self._answer(StateDumpWanted(), StateDumped)
        return dumped

    def synchronises_cache(self, *changes: Assumed | Forgotten) -> Answered:
        """Tell the RM which allocations to assume and to forget (2021-02)."""
        answered: Answered = self._answer(changes[0], Answered, *changes[1:])
        return answered

    def hands_over(self, config: str) -> ConfigurationStored:
        """Hand a configuration to the RM to be stored (2021-02)."""
        stored: ConfigurationStored = self._answer(
            ConfigurationHandedOver(config), ConfigurationStored
        )
        return stored

    def _answer(self, call: Fact, kind: type[Fact], *more: Fact) -> Any:
        self.offers(call)
        answer = self._call(call, *more)
        if not isinstance(answer, kind):
            raise ConformanceFailure(
                f"no answer to the call: {call}" if answer is None else str(answer),
                expected=f"an answer to: {call}",
            )
        return answer

    def _call(self, *calls: Fact) -> Fact | None:
        return self.engine.callbacks.call(*calls, timeout=self.deadlines.ack)
