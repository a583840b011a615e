"""Steps about what an RM reports once it has registered again."""

from collections.abc import Callable, Iterator

from siconform.expecting.checks import precondition
from siconform.expecting.waits import WaitClass, waiting
from siconform.outcomes import ConformanceFailure
from siconform.protocol.notifications import Allocated, StreamEnded
from siconform.protocol.registration import RegistrationAnswered, RegistrationRequested
from siconform.protocol.requests import (
    Action,
    AllocationUpdate,
    ExistingAllocationRequest,
    NodeRequest,
    StreamOpening,
)
from siconform.recording.history import Content, Entry
from siconform.scheduler.callback_steps import CallbackSteps
from siconform.scheduler.patterns import Sent


class RecoverySteps(CallbackSteps):
    """Registering again, and the report that follows."""

    def lets_register(self, action: Callable[[], None]) -> None:
        """Do what makes the RM register; what is observed begins with that registration."""
        with precondition("the RM registers again"):
            self.expects_registration_after(action)

    def expects_registration_after(self, action: Callable[[], None]) -> None:
        """Do what has to make the RM register; what is observed begins with that registration."""
        before = len(self.exchange.history)
        action()
        self.expects_registration(after=before)
        self._begun = max(
            i for i, e in self.received() if isinstance(e.content, RegistrationRequested)
        )

    def accepts_registration(self, *, after: int) -> bool:
        """Return whether a registration after this entry succeeds soon."""
        history, limit = self.exchange.history, self.deadlines.ack
        found = history.look(lambda: any(map(_is_success, history.since(after))) or None, limit)
        return found is not None

    def sent_before_success(self, before: int) -> list[Content]:
        """Return what the RM has sent on streams it opened since this entry, and not registered."""
        opened: set[str] = set()
        sent: list[Content] = []
        for entry in self.exchange.history.since(before):
            if _is_success(entry):
                break
            stream = "" if entry.kind is None else self.engine.dialect.method(entry.kind)
            if isinstance(entry.content, StreamOpening):
                opened.add(stream)
            elif entry.sent_by_rm and stream in opened:
                sent += [] if isinstance(entry.content, StreamEnded) else [entry.content]
        return sent

    def expects_node(self, node: str) -> NodeRequest:
        """Wait until the RM creates a node, draining or not."""
        ways = (Action.CREATE, Action.CREATE_DRAINING)
        created: NodeRequest = self.expects(
            *(Sent(NodeRequest, node=node, action=action) for action in ways)
        )
        return created

    def expects_existing(self, *keys: str) -> list[tuple[Entry, Allocated]]:
        """Wait until the RM reports existing allocations; return them with their entries.

        The wait allows for verdicts on their nodes and applications.
        """
        limit = self.deadlines.ack + self.deadlines.place
        found = self.existing_within(limit, *keys)
        if found is None:
            missing = {*keys} - {one.key for _, one in self.existing()}
            raise ConformanceFailure(
                f"never received: existing allocations {', '.join(sorted(missing))}",
                expected=f"existing allocations {', '.join(keys)} within {limit:g} s",
            )
        return found

    def existing_within(self, seconds: float, *keys: str) -> list[tuple[Entry, Allocated]] | None:
        """Wait like ``expects_existing``; None if some do not come."""

        def find() -> list[tuple[Entry, Allocated]] | None:
            reported = {one.key: (entry, one) for entry, one in self.existing()}
            return [reported[key] for key in keys] if {*keys} <= {*reported} else None

        with waiting("existing allocations", seconds, WaitClass.PLACE):
            found = self.exchange.history.look(find, seconds)
        self._raise_problems()
        return found

    def existing(self) -> Iterator[tuple[Entry, Allocated]]:
        """Yield the existing allocations received so far: by themselves, or with their node."""
        for _, entry in self.received():
            match entry.content:
                case NodeRequest(existing=allocations):
                    yield from ((entry, one) for one in allocations)
                case ExistingAllocationRequest(allocation=one) | AllocationUpdate(allocation=one):
                    yield entry, one


def _is_success(entry: Entry) -> bool:
    content = entry.content
    return isinstance(content, RegistrationAnswered) and content.status == "OK"
