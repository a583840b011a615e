"""A player that makes the moves of a history and checks what the scheduler reports."""

from collections.abc import Callable, Iterable, Iterator
from typing import Self

from sireference.configuration.model import Configuration
from sireference.core.model import (
    AllocationRecord,
    Answered,
    Ask,
    AskReleaseRequest,
    Callback,
    Effect,
    Event,
    NewAllocation,
    NewApplication,
    NodeInfo,
    OfferCallbacks,
    PredicatesQuestion,
    PreemptionQuestion,
    Register,
    Release,
    ReleasedAllocation,
    ReleaseRequest,
    RemoveApplication,
    Rules,
    Settings,
    UpdateAllocations,
    UpdateApplications,
    UpdateConfiguration,
    UpdateNodes,
)
from sireference.core.scheduler import Scheduler
from sireference.core.state.partition import Partition
from sireference.core.states import TerminationType
from tests.driving import of, of_allocations
from tests.history_moves import Answer, Confirmation, Together
from tests.history_queues import QUEUES

SETTINGS = Settings(placeholder_timeout=20.0)
BY_IDENTITY = Rules()


class Player:
    """Plays a history as one RM and checks what is reported."""

    def __init__(
        self,
        scheduler: Scheduler | None = None,
        rm_id: str = "rm",
        now: float = 1000.0,
        callbacks: frozenset[Callback] = frozenset(),
        queues: Configuration = QUEUES,
        *,
        rules: Rules = BY_IDENTITY,
    ) -> None:
        self.scheduler = scheduler or Scheduler(SETTINGS)
        self.rm_id = rm_id
        self.now = now
        self.seen: list[tuple[str, str]] = []  # identity and application
        self.asked_for: list[Release] = []  # releases the scheduler asked for
        self.ended: set[str] = set()
        self.open_questions: list[int] = []
        self.effects: list[list[Effect]] = []
        self.receives(
            self.scheduler.handle(Register(rm_id, queues, callbacks=callbacks, rules=rules), now)
        )

    def play(self, move: object) -> None:
        if isinstance(move, float):
            self.now += move
            self.receives(self.scheduler.handle_timeout(self.now))
        else:
            self.receives(self.scheduler.handle(self.event(move), self.now))

    def plays(self, history: Iterable[object], *checks: Callable[[Partition], None]) -> Self:
        """Play a history; check every partition after each move."""
        for move in history:
            self.play(move)
            for partition in self.partitions:
                for check in checks:
                    check(partition)
        return self

    def receives(self, effects: list[Effect]) -> None:
        own = [effect for effect in effects if effect.rm_id == self.rm_id]
        for effect in of(own, ReleasedAllocation):
            self.watch_release(effect.release)
        for new in of(own, NewAllocation):
            self.watch_new(new.allocation)
        for one in own:
            if isinstance(one, PredicatesQuestion | PreemptionQuestion):
                assert one.number not in self.open_questions
                self.open_questions.append(one.number)
        self.effects.append(own)

    def event(self, move: object) -> Event:  # noqa: PLR0911  # one line a move
        match move:
            case Configuration():
                return UpdateConfiguration(self.rm_id, move)
            case NodeInfo():
                for allocation in move.allocations:
                    self.brings(allocation)
                return UpdateNodes(self.rm_id, (move,))
            case NewApplication():
                return UpdateApplications(self.rm_id, (move,))
            case RemoveApplication():
                return UpdateApplications(self.rm_id, (), (move,))
            case Answer():
                return self.answer(move)
            case frozenset():
                return OfferCallbacks(self.rm_id, move)
            case Together():
                return self.message(*move.moves)
        return self.message(move)

    def answer(self, move: Answer) -> Answered:
        """Answer the oldest open question, or one that was never asked."""
        number = self.open_questions.pop(0) if self.open_questions and move.is_observed else 999_999
        return Answered(self.rm_id, number, move.suits, index=move.index)

    def message(self, *moves: object) -> UpdateAllocations:
        """Return one message with all of that."""
        allocations = tuple(move for move in moves if isinstance(move, AllocationRecord))
        for allocation in allocations:
            self.brings(allocation)
        return UpdateAllocations(
            self.rm_id,
            allocations,
            tuple(move for move in moves if isinstance(move, Ask)),
            tuple(move for move in moves if isinstance(move, AskReleaseRequest)),
            tuple(release for move in moves for release in self.releases(move)),
        )

    def brings(self, allocation: AllocationRecord) -> None:
        """Expect an identity that the RM may report again later."""
        self.ended.discard(allocation.identity)
        self.asked_for = [r for r in self.asked_for if r.identity != allocation.identity]
        if allocation.identity:
            self.seen.append((allocation.identity, allocation.ask.application_id))

    def releases(self, move: object) -> Iterator[ReleaseRequest]:
        match move:
            case Confirmation():
                if self.asked_for:
                    asked = self.asked_for[-1 - move.choice % len(self.asked_for)]
                    kind = move.other_type or asked.termination
                    yield of_allocations(
                        asked.application_id, asked.identity, kind, asked.partition
                    )
            case (str() as partition, str() as application, choice, TerminationType() as kind):
                identity = str(choice)
                if isinstance(choice, int) and self.seen:
                    identity, application = self.seen[choice % len(self.seen)]
                yield of_allocations(application, identity, kind, partition)

    def watch_new(self, allocation: AllocationRecord) -> None:
        assert allocation.identity
        new = (allocation.identity, allocation.ask.application_id)
        assert new not in self.seen
        self.seen.append(new)

    def watch_release(self, release: Release) -> None:
        """Check that nothing is asked for twice and that no finished item is reported again."""
        assert release.identity not in self.ended
        if release.termination is TerminationType.STOPPED_BY_RM:
            self.ended.add(release.identity)
        else:
            assert release.identity not in {asked.identity for asked in self.asked_for}
            self.asked_for.append(release)

    @property
    def partitions(self) -> list[Partition]:
        rm = self.scheduler.rms.known(self.rm_id)
        assert rm is not None
        return list(rm.partitions.values())
