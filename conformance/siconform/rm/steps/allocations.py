"""Steps with asks and allocations."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, TypeVar, Unpack

from siconform.expecting.checks import precondition
from siconform.expecting.observations import Observations
from siconform.outcomes import ConformanceFailure, NotOffered, PreconditionFailed
from siconform.protocol.availability import omitting
from siconform.protocol.handles import Ask
from siconform.protocol.matchers import ANY, PartitionNamed
from siconform.protocol.notifications import (
    Allocated,
    AllocationRejected,
    AskRejected,
    AskReleased,
    Fact,
    PreemptionPolicy,
    Released,
    StreamEnded,
    Termination,
    UpdateKind,
)
from siconform.protocol.requests import (
    Amounts,
    AskFields,
    AskReleaseRequest,
    AskRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import AllOf, AllThereIs, Identity, OneAllocation, OneAsk
from siconform.rm.sender import DEFAULT_PARTITION, Sender, amounts

ASK_AMOUNTS: Amounts = {"memory": 1, "vcore": 1}
PLAIN_POLICY: Final = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False)
MAY_PREEMPT: Final = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)
_USUAL_POLICIES: Final = (PLAIN_POLICY, MAY_PREEMPT)  # sent so that no scheduler's default decides

E = TypeVar("E", AskRequest, Allocated)


def without_usual_policy(element: E, revision: str) -> E:
    """Return this without a policy that no test chose itself, if the revision has no policies."""
    if any(element.preemption_policy is usual for usual in _USUAL_POLICIES):
        return omitting(element, "preemption_policy", revision)
    return element


def refusals(live: Allocated) -> tuple[Fact, ...]:
    """Return the ways to refuse a faulty release of this allocation.

    Where the key is the identity, one message rejects asks and allocations.
    """
    return AllocationRejected(live.key), AskRejected(live.key), StreamEnded(UpdateKind.ALLOCATIONS)


class AllocationSteps(Observations, Sender):
    """Asks, their withdrawal, allocations and their release."""

    def asks(
        self,
        application: str,
        *,
        key: str | None = None,
        memory: int | None = None,
        vcore: int | None = None,
        resources: Mapping[str, int] | None = None,
        without_resource: bool = False,
        times: int = 1,
        policy: PreemptionPolicy | None = PLAIN_POLICY,
        partition: str = DEFAULT_PARTITION,
        **more: Unpack[AskFields],
    ) -> Ask:
        """Ask for ``times`` allocations; memory alone implies one vcore."""
        wanted = amounts(resources, memory, vcore, ASK_AMOUNTS)
        if memory is not None and vcore is None:
            wanted["vcore"] = 1
        request = AskRequest(
            key=self.new_name("ask") if key is None else str(key),
            application=str(application),
            partition=partition,
            resource=None if without_resource else wanted,
            max_allocations=times,
            preemption_policy=policy,
            **more,
        )
        request = without_usual_policy(request, self.connection.revision.name)
        self.send(request)
        return Ask(request)

    def asks_again(
        self,
        /,
        ask: Ask,
        *,
        memory: int | None = None,
        resources: Mapping[str, int] | None = None,
        times: int | None = None,
        policy: PreemptionPolicy | None = None,
        **changes: Unpack[AskFields],
    ) -> Ask:
        """Send an ask again under the same key, changing only the given fields.

        ``resources`` replaces all amounts.
        """
        sent = ask.sent
        before = sent.resource or {} if resources is None else resources
        again = replace(
            sent,
            resource=amounts(before, memory, None, before),
            max_allocations=sent.max_allocations if times is None else times,
            preemption_policy=sent.preemption_policy if policy is None else policy,
            **changes,
        )
        self.send(again)
        return Ask(again)

    def has_allocation(
        self,
        application: str,
        *,
        memory: int | None = None,
        vcore: int | None = None,
        resources: Mapping[str, int] | None = None,
        policy: PreemptionPolicy | None = PLAIN_POLICY,
        node: str | None = None,
        **more: Unpack[AskFields],
    ) -> Allocated:
        """Given: a live allocation (on ``node``, if given)."""
        with precondition("an ask that fits is allocated"):
            ask = self.asks(
                application,
                memory=memory,
                vcore=vcore,
                resources=resources,
                policy=policy,
                **more,
            )
            allocation = self.measured(lambda: self.expect(Allocated(ask)), self.latency.seen)
        if node is not None and allocation.node != node:
            raise PreconditionFailed(
                f"the allocation landed on {allocation.node}, needed on {node}"
            )
        return allocation

    def withdraws(
        self,
        ask: Ask,
        termination: Termination = Termination.STOPPED_BY_RM,
        *,
        application: str | None = None,
        key: str | None = None,
        partition: str | None = None,
    ) -> None:
        """Withdraw one pending ask; fields can be given to identify it wrongly."""
        subject = OneAsk(
            ask.sent.application if application is None else str(application),
            str(ask) if key is None else key,
        )
        where = ask.sent.partition if partition is None else partition
        self._withdraws(AskReleaseRequest(subject, where, termination))

    def withdraws_asks(
        self,
        termination: Termination = Termination.STOPPED_BY_RM,
        *,
        application: str | None = None,
        key: str | None = None,
    ) -> None:
        """Withdraw the asks that match the given filters; all asks without filters."""
        subject: OneAsk | AllOf | AllThereIs = AllThereIs()
        if key is not None:
            subject = OneAsk(str(application or ""), str(key))
        elif application is not None:
            subject = AllOf(str(application))
        self._withdraws(AskReleaseRequest(subject, DEFAULT_PARTITION, termination))

    def _withdraws(self, request: AskReleaseRequest) -> None:
        """Send it, without a type in a revision that has none for ask releases."""
        self.send(omitting(request, "termination", self.connection.revision.name))

    def releases(
        self,
        allocation: Allocated,
        termination: Termination = Termination.STOPPED_BY_RM,
        *,
        application: str | None = None,
        identity: str | None = None,
        key: str | None = None,
        partition: str = DEFAULT_PARTITION,
    ) -> None:
        """Release one allocation; fields can be given to identify it wrongly."""
        self.send(
            ReleaseRequest(
                OneAllocation(
                    allocation.application if application is None else str(application),
                    allocation.identity if identity is None else identity,
                    allocation.key if key is None else key,
                ),
                termination,
                partition,
            )
        )

    def has_released(self, allocation: Allocated) -> Allocated:
        """Given: an allocation that the RM released, with the release confirmed."""
        self.releases(allocation)
        with precondition("a release by the RM is confirmed"):
            self.expect(Released(identity=allocation.identity))
        return allocation

    def has_ask_withdrawn(self, ask: Ask) -> AskReleased:
        """Given: the scheduler released a pending ask; the RM confirms that automatically, once.

        Without a key it released every ask of the application. NotOffered if the scheduler ends
        pending asks in another way, which is allowed where asks have no separate release.
        """
        with precondition("the scheduler releases a pending ask"):
            received: Fact = self.expect_one_of(
                AskReleased(ask),
                AskReleased("", ask.sent.application),  # all asks of the application
                *self.ends_otherwise(ask),
            )
        if not isinstance(received, AskReleased):
            raise NotOffered(f"the target does not offer to release pending asks: {received}")
        return received

    def ends_otherwise(self, ask: Ask, termination: Termination = ANY) -> tuple[Fact, ...]:
        """Return how else the scheduler may end a pending ask; nothing if asks are separate.

        It may be rejected, as in the state diagram, or released with all of its application.
        """
        if self.identity is Identity.GIVEN_BY_THE_SCHEDULER:
            return ()
        return AskRejected(ask), Released("", ask.sent.application, "", termination)

    def names_its_partition(self, release: AskReleased) -> None:
        """Check that the release names its partition, in any form of the name."""
        if not PartitionNamed(DEFAULT_PARTITION).accepts(release.partition):
            raise ConformanceFailure(
                f"the release names partition {release.partition!r}",
                expected=f"the release of an ask names partition {DEFAULT_PARTITION}",
                happened=f"{release}",
            )

    def releases_all(
        self,
        application: str,
        termination: Termination = Termination.STOPPED_BY_RM,
        *,
        key: str = "",
    ) -> None:
        """Release every allocation of an application, without naming an identity."""
        self.send(ReleaseRequest(AllOf(str(application), key), termination))

    def expect_all_released(self, *allocations: Allocated) -> None:
        """Expect all of an application's allocations to end, by one release each or one for all."""
        application = allocations[0].application
        whole = Released(
            application=application, identity="", termination=Termination.STOPPED_BY_RM
        )
        for allocation in allocations:
            own = Released(
                application=application,
                identity=allocation.identity,
                termination=Termination.STOPPED_BY_RM,
            )
            if whole.matches(self.expect_one_of(own, whole)):
                return

    def gives(
        self, allocation: Allocated, least: Amounts, *, below: Mapping[str, int] | None = None
    ) -> None:
        """Check that the allocation has at least ``least``, and less than ``below``."""
        given = allocation.resource
        if any(given.get(name, 0) < amount for name, amount in least.items()) or any(
            given.get(name, 0) >= amount for name, amount in (below or {}).items()
        ):
            raise ConformanceFailure(
                f"allocated {dict(given)}, asked was {dict(least)}",
                expected=f"an allocation of {dict(least)}",
                happened=str(allocation),
            )

    def repeats_tags(self, allocation: Allocated, tags: Mapping[str, str]) -> None:
        """Check that the allocation has these tags; the scheduler may have added others."""
        if not tags.items() <= allocation.tags.items():
            raise ConformanceFailure(
                f"allocated with tags {dict(allocation.tags)}, asked was with {dict(tags)}",
                expected=f"an allocation with tags {dict(tags)}",
                happened=str(allocation),
            )

    def expect_end_of(self, *allocations: Allocated) -> None:
        """Expect all that an application holds to end, by one release each or one for all."""
        application = allocations[0].application
        for allocation in allocations:
            own = Released(identity=allocation.identity)
            whole = Released(application=application, identity="")
            if whole.matches(self.expect_one_of(own, whole)):
                return

    def was_released(self, allocation: Allocated, termination: Termination = ANY) -> bool:
        """Return whether the scheduler released it, by itself or with all of its application."""
        whole = Released("", allocation.application, "", termination)
        own = Released(identity=allocation.identity, termination=termination)
        return bool(self.observe(own) or self.observe(whole))

    def has_kept(self, allocation: Allocated) -> None:
        """Given: it is not preempted, although its node has too little for it; else NotOffered.

        By the diagram, a scheduler may preempt an allocation in this case as in any other.
        """
        self.settles()
        self._needs_kept(allocation)

    @contextmanager
    def keeping(self, allocation: Allocated) -> Iterator[None]:
        """Context: a failure is NotOffered if the allocation was preempted as in ``has_kept``."""
        try:
            yield
        except ConformanceFailure:
            self._needs_kept(allocation)
            raise

    def _needs_kept(self, allocation: Allocated) -> None:
        if self.was_released(allocation, Termination.PREEMPTED_BY_SCHEDULER):
            raise NotOffered("the target does not offer to keep what is too large for its node")

    def still_holds(self, allocation: Allocated) -> None:
        """Check that the allocation is live: it can be released and that is confirmed."""
        self.releases(allocation)
        self.expect(Released(identity=allocation.identity))

    def expect_nothing_allocated(self, *patterns: Fact) -> None:
        """Check that none of these comes within a placement's time: the RM must confirm first.

        The usual quiet window follows the target's latency. It is too short for a target that
        reassigns the capacity after a timer.
        """
        self.synchronise_all()
        self.stays_quiet(*patterns, window=self.deadlines.place)
