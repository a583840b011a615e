"""A resource manager that takes callbacks and answers questions, or does not."""

from collections.abc import Callable, Iterable

from sireference.core.model import Answered, Callback, Effect, PredicatesQuestion, Settings
from sireference.core.scheduler import Scheduler
from tests.driving import RM, of

Suits = Callable[[PredicatesQuestion], bool]


class Asked(RM):
    """An RM with nodes n1 (slightly larger) and n2 of memory 10, and application a1."""

    def __init__(
        self,
        *callbacks: Callback,
        queues: str = "",
        settings: Settings | None = None,
        scheduler: Scheduler | None = None,
    ) -> None:
        super().__init__(queues=queues, settings=settings, scheduler=scheduler)
        self.offers(*callbacks or (Callback.PREDICATES,))
        self.creates("n1", memory=10, vcore=1)
        self.creates("n2", memory=10)
        self.submits("a1")

    def answers(
        self, question: int, *, suits: bool = True, reason: str = "no", index: int = -1
    ) -> list[Effect]:
        sent = Answered(self.rm_id, question, suits, "" if suits else reason, index)
        return self.scheduler.handle(sent, self.now)

    def answers_all(
        self, effects: list[Effect], suits: Suits = lambda _: True
    ) -> tuple[list[Effect], list[PredicatesQuestion]]:
        """Answer every question; return the effects that follow and the questions."""
        every, asked = list(effects), questions(effects)
        for question in asked:  # grows during the loop
            more = self.answers(question.number, suits=suits(question))
            every += more
            asked += questions(more)
        return every, asked


def questions(effects: Iterable[Effect]) -> list[PredicatesQuestion]:
    """Return the questions asked."""
    return of(effects, PredicatesQuestion)


def asked(effects: Iterable[Effect]) -> list[tuple[str, str, bool]]:
    """Return key, node and whether the question is about an allocation."""
    return [(one.key, one.node_id, one.allocate) for one in questions(effects)]
