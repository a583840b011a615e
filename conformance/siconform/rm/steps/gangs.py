"""Steps with gangs: submission, placeholders and their replacement."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle
from typing import Final, TypedDict, Unpack

from siconform.expecting.checks import control, needs_some, precondition
from siconform.expecting.endpoint import Endpoint
from siconform.outcomes import CameLate, ConformanceFailure, NotForThisTarget, PreconditionFailed
from siconform.protocol.handles import Application, Ask, Gang, Limit
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    AskRejected,
    Fact,
    Released,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import Amounts
from siconform.rm.steps.allocations import ASK_AMOUNTS
from siconform.rm.steps.applications import DEFAULT_USER
from siconform.rm.steps.basic import BasicSteps

GANG_QUEUE: Final = "root.fifo"  # a queue with the FIFO policy gangs need
GANG_QUEUES: Final = (
    GANG_QUEUE,
    *(f"root.gangs.{leaf}" for leaf in ("first", "second", "third", "fourth", "fifth", "sixth")),
)
"""One per gang of a test: in a single FIFO queue a gang may have to wait for others."""

QUOTA_QUEUE: Final = "root.quota"  # quota: 10 memory
TASK_GROUP: Final = "group"
ANOTHER_GROUP: Final = "group-2"


class Style(StrEnum):
    """What becomes of a gang that is incomplete at its timeout, as in the SI comment."""

    SOFT = "soft"
    HARD = "hard"


SOFT: Final = Style.SOFT
HARD: Final = Style.HARD

_UNHURRIED: Final = 600.0  # seconds


class GangOptions(TypedDict, total=False):
    """Where and how a gang is submitted."""

    queue: str | None
    user: str
    style: str | None
    limit: Limit | None


class GangValues(GangOptions, total=False):
    """Values of a gang that differ from the defaults."""

    members: int
    memory: int
    devices: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """A placeholder whose release the scheduler requested, and the ask that replaces it."""

    application: Application
    placeholder: Allocated
    real: Ask
    release: Released


class GangSteps(BasicSteps, ABC):
    """Gangs. A member has one vcore, and the memory and devices the test names.

    Gangs without a named queue get the next one of ``GANG_QUEUES``.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._queues = cycle(GANG_QUEUES)

    def submits_gang(
        self,
        application: str | None = None,
        *,
        members: int = 1,
        memory: int = 2,
        devices: int = 0,
        queue: str | None = None,
        user: str = DEFAULT_USER,
        style: str | None = None,
        limit: Limit | None = None,
    ) -> Gang:
        """Submit an application whose placeholderAsk is the sum of its members."""
        member: Amounts = {"memory": memory, "vcore": 1} | ({"gpu": devices} if devices else {})
        leaf = next(self._queues) if queue is None else queue
        handle = self.submits_application(
            application,
            queue=leaf,
            user=user,
            placeholders={name: members * amount for name, amount in member.items()},
            gang_style=self.spelled(style),
            timeout_ms=self._unhurried_ms() if limit is None else limit.timeout_ms,
        )
        return Gang.of(handle, leaf, members=members, member=member, limit=limit)

    def submits_gang_again(self, gang: Gang) -> None:
        """Submit the same gang again, to a scheduler that has forgotten it."""
        total = {name: gang.members * amount for name, amount in gang.member.items()}
        self.submits_application(gang, placeholders=total, gang_style=self.spelled(None))

    @abstractmethod
    def spelled(self, style: str | None) -> str:
        """Return this scheduler's spelling of a ``Style``; text is kept, None is any accepted one.

        ``GangStyleSteps`` probes it with the steps of this class.
        """

    def _unhurried_ms(self) -> int:
        """Return the timeout of a gang whose test is not about its placeholder timeout.

        It exceeds every test, if applications can set the timeout.
        """
        from_application = self.timers.placeholder_from_application_timeout
        return round(1000 * _UNHURRIED) if from_application else 0

    def has_gang(
        self,
        application: str | None = None,
        **values: Unpack[GangValues],
    ) -> Gang:
        """Given: an accepted gang application without placeholder asks yet.

        NotOffered if its id was used and is not free again.
        """
        with precondition("a gang application is accepted"):
            gang = self.submits_gang(application, **values)
            self.expect_accepted(gang, is_again=application is not None)
        return gang

    def asks_placeholder(
        self, gang: Gang, *, group: str = TASK_GROUP, times: int = 1, timeout_ms: int = 0
    ) -> Ask:
        """Ask for one placeholder of a member's size."""
        return self.asks(
            gang,
            resources=gang.member,
            task_group=group,
            placeholder=True,
            times=times,
            timeout_ms=timeout_ms,
        )

    def asks_placeholders(self, gang: Gang) -> list[Ask]:
        """Ask for every placeholder of the gang, one ask each."""
        return [self.asks_placeholder(gang) for _ in range(gang.members)]

    def asks_member(
        self,
        gang: Gang,
        *,
        group: str = TASK_GROUP,
        memory: int | None = None,
        timeout_ms: int = 0,
    ) -> Ask:
        """Send the real ask of a member, of its placeholder's size unless ``memory`` is given."""
        size = gang.member if memory is None else {**gang.member, "memory": memory}
        return self.asks(gang, resources=size, task_group=group, timeout_ms=timeout_ms)

    def has_placeholder(self, gang: Gang, *, group: str = TASK_GROUP) -> Allocated:
        """Given: one more placeholder of the gang, allocated."""
        with precondition("a placeholder is allocated"):
            return self.expect(Allocated(self.asks_placeholder(gang, group=group)))

    def has_placeholders(self, gang: Gang, *groups: str) -> list[Allocated]:
        """Given: every placeholder of the gang, allocated; one per group if any are named."""
        with precondition("the placeholders of a gang are allocated"):
            named = [self.asks_placeholder(gang, group=group) for group in groups]
            asks = named or self.asks_placeholders(gang)
            return [self.expect(Allocated(ask)) for ask in asks]

    def has_allocations_of_both_sorts(self, *, memory: int) -> tuple[Allocated, Allocated]:
        """Given: a live allocation and a live placeholder, of different applications."""
        allocation = self.has_allocation(self.has_application(), memory=memory)
        return allocation, self.has_placeholder(self.has_gang(memory=memory))

    def has_complete_gang(
        self,
        *,
        members: int = 1,
        memory: int = 2,
        groups: Sequence[str] = (),
        style: str | None = None,
        limit: Limit | None = None,
    ) -> tuple[Gang, list[Allocated]]:
        """Given: a gang whose placeholders are allocated, each filling its node.

        They are of one task group unless ``groups`` names that of each.
        """
        style = self.spelled(style)  # may be probed, which needs an empty cluster
        for _ in range(members):
            self.has_node(memory=memory)
        gang = self.has_gang(members=members, memory=memory, style=style, limit=limit)
        return gang, self.has_placeholders(gang, *groups)

    def expect_replacement(self, real: Ask, of: Sequence[Allocated]) -> Replacement:
        """Expect the release of one of these placeholders in favour of ``real``."""
        release = self.expect_one_of(*(replaced(placeholder) for placeholder in of))
        placeholder = next(p for p in of if p.identity == release.identity)
        return Replacement(Application(real.sent.application, ""), placeholder, real, release)

    def receive_replacement_if_any(self, of: Sequence[Allocated]) -> Released | None:
        """Return the release of one of these placeholders for a real ask, or None.

        The usual quiet window follows the target's latency. It is too short for a target that takes
        longer to replace than to place.
        """
        patterns = [replaced(placeholder) for placeholder in of]
        release = self.receive_if_any(*patterns, window=self.deadlines.place)
        return release if isinstance(release, Released) else None

    def ends_for_a_real_ask(self, placeholder: Allocated) -> None:
        """Wait until a placeholder ends for a real ask of another size; NotOffered if it stays."""
        ended = self.receive_if_any(
            Released(identity=placeholder.identity), window=self.deadlines.place
        )
        needs_some([ended] if ended else [], of="to end a placeholder for such a real ask")

    def overtaking_replacement(self, of: Sequence[Allocated]) -> Released:
        """Return the release of one of these placeholders while an older ask waits.

        NotOffered if the scheduler waits with that ask.
        """
        release = self.receive_replacement_if_any(of)
        begun = [release] if release is not None else []
        needs_some(begun, of="to overtake an older ask that does not fit")
        return begun[0]

    def has_capacity_for_the_rest_of(
        self, total: int, *, of: str = "memory", queue: str, meanwhile: Gang
    ) -> None:
        """Check that exactly what the gang's real allocations do not hold of a resource is free.

        A real ask of the gang may still be served meanwhile.
        """
        self.settles()
        real = Allocated(application=meanwhile, placeholder=False)
        application = self.has_application(queue=queue)
        while (rest := total - _amount_of(of, self.held(real))) > 0:
            self.has_observed(real)
            ask = self.asks(application, resources={**ASK_AMOUNTS, of: rest})
            if self.expect_one_of(Allocated(ask), real).key == ask:
                break
            self.withdraws(ask)
        self.expect_none(Allocated(self.asks(application, resources={**ASK_AMOUNTS, of: 1})))

    def expect_allocated_after_retry(self, early: Ask, of: Sequence[Allocated]) -> None:
        """Expect an early real ask to replace a placeholder, now or after a retry.

        One that was rejected is sent again at once: without it the gang may soon be complete.
        """
        is_over = bool(self.observe(AskRejected(early)))
        if is_over or self.receive_replacement_if_any(of) is None:
            self.asks_again(early)
            self.expect_replacement(early, of)
            self.records("a real ask before the last placeholder: dropped")
        self.expect(Allocated(early))

    def has_open_replacement(self, gang: Gang, of: Sequence[Allocated]) -> Replacement:
        """Given: a real ask for which a placeholder is to be released; unconfirmed."""
        with precondition("a real ask replaces a placeholder"), self.confirming_nothing():
            return self.expect_replacement(self.asks_member(gang), of)

    def has_replaced(
        self, gang: Gang, of: Sequence[Allocated], *, group: str = TASK_GROUP
    ) -> tuple[Allocated, Allocated]:
        """Given: a real allocation that replaced a placeholder, and that placeholder."""
        with precondition("a real ask replaces a placeholder"):
            real = self.asks_member(gang, group=group)
            gone = self.expect_replacement(real, of).placeholder
            return self.expect(Allocated(real)), gone

    def queues_in_force(self, *queues: str) -> list[str]:
        """Given: those of the queues that accept an ordinary application; at least one."""
        there = []
        for queue in queues:
            application = self.submits_application(queue=queue)
            accepted = ApplicationAccepted(application)
            with precondition("an ordinary application gets a verdict"):
                verdict = self.expect_one_of(accepted, ApplicationRejected(application))
            if accepted.matches(verdict):
                there.append(queue)
        if not there:
            raise PreconditionFailed(f"no application is accepted in {' or '.join(queues)}")
        return there

    def has_replacement_under_way(self, *, memory: int, timeout_ms: int = 0) -> Replacement:
        """Given: the scheduler starts the release of a placeholder of this size for a real ask.

        It stays open only inside ``confirming_nothing``. NotForThisTarget if the scheduler does not
        replace placeholders: it then initiates no release to confirm.
        """
        gang = self.has_gang(memory=memory)
        try:
            first = self.asks_placeholder(gang, timeout_ms=timeout_ms)
            placeholder = self.expect(Allocated(first, placeholder=True))
            real = self.asks_member(gang)
            release = self.expect(replaced(placeholder))
        except CameLate as late:
            raise PreconditionFailed(
                f"precondition failed (a placeholder is replaced): {late.message}"
            ) from late
        except ConformanceFailure as failure:
            raise NotForThisTarget(
                f"the target replaces no placeholder: {failure.message}"
            ) from failure
        return Replacement(gang, placeholder, real, release)

    def is_open_unless_released(self, received: Fact, replacement: Replacement) -> None:
        """Check that a replacement still waits for confirmation, unless its placeholder ended."""
        if isinstance(received, Released) or not self.connection.is_open(UpdateKind.ALLOCATIONS):
            return
        self.expect_nothing_allocated(Allocated(replacement.real))
        with control("the right confirmation is taken"):
            self.confirms(replacement.release)
            self.expect(Allocated(replacement.real))


def replaced(placeholder: Allocated) -> Released:
    """Return the release of this placeholder for its replacement."""
    return Released(identity=placeholder.identity, termination=Termination.PLACEHOLDER_REPLACED)


def timed_out(placeholder: Allocated) -> Released:
    """Return the release of this placeholder by a timeout."""
    return Released(identity=placeholder.identity, termination=Termination.TIMEOUT)


def otherwise_released(placeholder: Allocated) -> list[Released]:
    """Return every release of this placeholder other than a replacement."""
    others = [t for t in Termination if t is not Termination.PLACEHOLDER_REPLACED]
    return [Released(identity=placeholder.identity, termination=other) for other in others]


def _amount_of(resource: str, allocations: Sequence[Allocated]) -> int:
    return sum(allocation.resource.get(resource, 0) for allocation in allocations)
