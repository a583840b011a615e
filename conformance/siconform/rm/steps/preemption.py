"""Steps that observe preemption: the scheduler ends an allocation so that another ask fits."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from siconform.expecting.checks import agrees, needs_some, precondition
from siconform.expecting.endpoint import Endpoint
from siconform.outcomes import ConformanceFailure, NotForThisTarget
from siconform.protocol.handles import Application, Ask, Node
from siconform.protocol.notifications import Allocated, PreemptionPolicy, Released, Termination
from siconform.protocol.requests import REQUIRED_NODE
from siconform.rm.steps.allocations import MAY_PREEMPT
from siconform.rm.steps.basic import BasicSteps

MAY_NOT_PREEMPT: Final = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False)
OPTED_OUT: Final = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=False)

TAKING_QUEUE: Final = "root.preemption.taking"
ENTITLED_QUEUE: Final = "root.preemption.entitled"
"""Two leaves that share 10 memory, each guaranteed 5."""

CLAIM: Final = 10
"""Priority of an ask that claims capacity. Permitted victims have the same or a lower priority, and
a scheduler may choose only lower ones."""


OFTEN_ENOUGH: Final = 3  # multiple of an earlier preemption's duration; then none will come


class Taken(NamedTuple):
    """A full node: the allocations of one application, and another that is entitled to a part."""

    node: Node
    taker: Application
    allocations: list[Allocated]
    entitled: Application


class Preempting(NamedTuple):
    """An ask that claims capacity, and the first release for it."""

    ask: Ask
    release: Released


class PreemptionSteps(BasicSteps):
    """Preemption as observed: an unrequested release while an ask waits for capacity."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._preemption_took: float | None = None

    def has_taken_node(self, *, apart: bool = False) -> Taken:
        """Given: ten allocations that fill a node, half of them beyond what their queue is due.

        They belong to one application, or ``apart`` each to another; the taker has the first one.
        """
        node = self.has_node(memory=10)
        takers = [self.has_application(queue=TAKING_QUEUE) for _ in range(10 if apart else 1)]
        allocations = [self.has_allocation(takers[number % len(takers)]) for number in range(10)]
        return Taken(node, takers[0], allocations, self.has_application(queue=ENTITLED_QUEUE))

    def claims(
        self,
        application: str,
        *,
        memory: int = 1,
        priority: int = CLAIM,
        policy: PreemptionPolicy | None = MAY_PREEMPT,
        node: str | None = None,
    ) -> Ask:
        """Ask for capacity that others hold, on this required ``node`` if given."""
        tags = {} if node is None else {REQUIRED_NODE: node}
        return self.asks(application, memory=memory, priority=priority, policy=policy, tags=tags)

    def sees_preemption_of(self, *allocations: Allocated, by: Ask) -> Released:
        """Expect one of these to be released for the ask ``by``, with any termination type.

        NotForThisTarget if none is released: preemption is optional.
        """
        begun = self.now()
        named = (Released(identity=allocation.identity) for allocation in allocations)
        nameless = Released(termination=Termination.PREEMPTED_BY_SCHEDULER)
        release = self.receive_if_any(*named, nameless, window=self.deadlines.place)
        if not isinstance(release, Released):
            self._was_not_allocated(by)
            raise NotForThisTarget("the target preempts nothing for an entitled ask")
        self._preemption_took = max(self._preemption_took or 0.0, self.now() - begun)
        return release

    @contextmanager
    def preempting(self, taken: Taken, *, memory: int = 1) -> Iterator[Preempting]:
        """Given: one of these is preempted for an ask; inside this block releases stay unconfirmed.

        NotForThisTarget if none is released: preemption is optional.
        """
        with self.confirming_nothing():
            ask = self.claims(taken.entitled, memory=memory)
            yield Preempting(ask, self.sees_preemption_of(*taken.allocations, by=ask))

    def spares_others(self, release: Released, allocations: Sequence[Allocated]) -> list[Allocated]:
        """Given: only that one was preempted; return the others.

        NotOffered if the target preempts more than one ask needs.
        """
        left = [a for a in allocations if a.identity != release.identity]
        needless = self.receive_if_any(*(Released(identity=a.identity) for a in left))
        needs_some([] if needless else left, of="to preempt what is needed only")
        return left

    def names_one_of(self, release: Released, allocations: Sequence[Allocated]) -> None:
        """Check that the release names one of these allocations."""
        if all(release.identity != allocation.identity for allocation in allocations):
            raise ConformanceFailure(
                f"received {release}",
                expected=f"the identity of one of {len(allocations)} allocations",
                happened=str(release),
            )

    def victim_of(self, release: Released, allocations: Sequence[Allocated]) -> Allocated:
        """Given: the release names one of these allocations; return that one."""
        with precondition("the release names one of the allocations"):
            self.names_one_of(release, allocations)
        return next(one for one in allocations if one.identity == release.identity)

    def may_see_preemption_for(self, *asks: Ask) -> bool:
        """Return whether these asks, which do not fit, are allocated: all of them or none."""
        return self.expect_all_or_none(*(Allocated(ask) for ask in asks), window=self._long())

    def keeps_memory(self, least: int, *allocations: Allocated) -> None:
        """Check that allocations of at least this much memory have not been released."""
        left = sum(
            allocation.resource["memory"]
            for allocation in allocations
            if not self.observe(Released(identity=allocation.identity))
        )
        if left < least:
            raise ConformanceFailure(
                f"memory {left} is left of {len(allocations)} allocations",
                expected=f"memory {least} or more",
                happened=f"memory {left}",
            )

    def preempts_only(
        self, victim: Allocated, spared: Sequence[Allocated], *, node: Node | None = None
    ) -> None:
        """Expect entitled asks, or such that require ``node``, to preempt the victim, then nothing.

        NotForThisTarget if the first of them preempts nothing: preemption is optional.
        """
        app = self.has_application(queue=ENTITLED_QUEUE if node is None else None)
        first = self.claims(app, node=node)
        release = self.sees_preemption_of(*spared, victim, by=first)
        agrees(release, Released(identity=victim.identity))
        self.expect(Allocated(first))

        self.claims(app, node=node)
        self.sees_no_preemption_of(*spared)

    def sees_no_preemption_of(self, *allocations: Allocated | str) -> None:
        """Check that none is released within several times the duration of preemption.

        Foreign allocations, which are not announced, are named by their key.
        """
        identities = [a if isinstance(a, str) else a.identity for a in allocations]
        self.synchronise_all()
        try:
            self.stays_quiet(
                *(Released(identity=identity) for identity in identities), window=self._long()
            )
        except ConformanceFailure as failure:
            raise ConformanceFailure(
                f"preempted one of {len(allocations)} allocations to be spared",
                expected=f"none of {len(allocations)} allocations is released",
                happened=failure.happened,
            ) from failure

    def _was_not_allocated(self, ask: Ask) -> None:
        for allocation in self.observe(Allocated(ask)):
            raise ConformanceFailure(
                "allocated without free capacity and without a release",
                expected=f"a release first, or nothing, for {ask}",
                happened=str(allocation),
            )

    def _long(self) -> float:
        if self._preemption_took is None:
            return self.deadlines.place
        return OFTEN_ENOUGH * self._preemption_took + self.quiet_window()
