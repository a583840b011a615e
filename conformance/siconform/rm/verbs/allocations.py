"""What an RM does with asks and allocations."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from siconform.outcomes import NotAsTheTextSays, PremiseLost
from siconform.protocol.constraints import Constraint
from siconform.protocol.handles import Ask
from siconform.protocol.matchers import PartitionNamed
from siconform.protocol.notifications import (
    CONFIRMED,
    Allocated,
    AskReleased,
    Fact,
    PreemptionPolicy,
    Released,
    Termination,
)
from siconform.protocol.requests import (
    Amounts,
    AskReleaseSaying,
    AskSaying,
    ReleaseSaying,
)
from siconform.rm.sender import DEFAULT_PARTITION, Speaking, amounts

ASK_AMOUNTS: Amounts = {"memory": 1, "vcore": 1}
PLAIN_POLICY = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False)


class AllocationVerbs(Speaking):
    """Asks, their withdrawal, allocations and their release."""

    _confirms_releases = True
    _left_open: frozenset[tuple[str, Termination]] = frozenset()  # unconfirmed, and to stay so

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
        priority: int = 0,
        timeout_ms: int = 0,
        tags: Mapping[str, str] | None = None,
        task_group: str = "",
        placeholder: bool = False,
        originator: bool = False,
        policy: PreemptionPolicy | None = PLAIN_POLICY,
        partition: str = DEFAULT_PARTITION,
        priority_class: str = "",
        constraint: Constraint | None = None,
    ) -> Ask:
        """Ask for ``times`` allocations; memory alone implies one vcore."""
        wanted = amounts(resources, memory, vcore, ASK_AMOUNTS)
        if memory is not None and vcore is None:
            wanted["vcore"] = 1
        ask = Ask(
            AskSaying(
                key=self.new_name("ask") if key is None else str(key),
                application=str(application),
                partition=partition,
                resource=None if without_resource else wanted,
                max_allocations=times,
                priority=priority,
                timeout_ms=timeout_ms,
                tags=tags or {},
                task_group=task_group,
                placeholder=placeholder,
                originator=originator,
                preemption_policy=policy,
                priority_class=priority_class,
                constraint=constraint,
            )
        )
        self.says(ask.said)
        return ask

    def asks_again(self, ask: Ask, *, tags: Mapping[str, str] | None = None, **changes: int) -> Ask:
        """The same ask under the same key, with some values changed: its amounts, ``times``, ..."""
        resource = dict(ask.said.resource or {}) | {
            name: value for name, value in changes.items() if name in ("memory", "vcore")
        }
        said = replace(
            ask.said,
            resource=resource,
            priority=changes.get("priority", 0),
            max_allocations=changes.get("times", ask.said.max_allocations),
            tags=ask.said.tags if tags is None else tags,
        )
        again = Ask(said)
        self.says(again.said)
        return again

    def has_allocation(
        self,
        application: str,
        *,
        memory: int | None = None,
        vcore: int | None = None,
        resources: Mapping[str, int] | None = None,
        priority: int = 0,
        tags: Mapping[str, str] | None = None,
        policy: PreemptionPolicy | None = PLAIN_POLICY,
        constraint: Constraint | None = None,
        node: str | None = None,
    ) -> Allocated:
        """Given: a live allocation (on ``node``, if one is named)."""
        with self.premise("an ask that fits is allocated"):
            ask = self.asks(
                application,
                memory=memory,
                vcore=vcore,
                resources=resources,
                priority=priority,
                tags=tags,
                policy=policy,
                constraint=constraint,
            )
            allocation = self.measured(lambda: self.is_told(Allocated(ask)), self.pace.seen)
        if node is not None and allocation.node != node:
            raise PremiseLost(f"the allocation landed on {allocation.node}, needed on {node}")
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
        """Release one pending ask; fields can be given to name it wrongly."""
        self.says(
            AskReleaseSaying(
                ask.said.application if application is None else str(application),
                str(ask) if key is None else key,
                ask.said.partition if partition is None else partition,
                termination,
            )
        )

    def withdraws_asks(
        self, *, application: str = "", key: str = "", partition: str = DEFAULT_PARTITION
    ) -> None:
        """Release asks by whatever filters are given."""
        self.says(AskReleaseSaying(str(application), str(key), partition))

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
        """Release one allocation; fields can be given to name it wrongly."""
        self.says(
            ReleaseSaying(
                application=allocation.application if application is None else str(application),
                identity=allocation.identity if identity is None else identity,
                termination=termination,
                key=allocation.key if key is None else key,
                partition=partition,
            )
        )

    def has_released(self, allocation: Allocated) -> Allocated:
        """Given: an allocation that the RM released, which was confirmed; it is over."""
        self.releases(allocation)
        with self.premise("a release by the RM is confirmed"):
            self.is_told(Released(identity=allocation.identity))
        return allocation

    def confirms(self, release: Released, termination: Termination | None = None) -> None:
        """Answer a release of the scheduler with the same message (or with another type)."""
        self.says(
            ReleaseSaying(
                application=release.application,
                identity=release.identity,
                termination=release.termination if termination is None else termination,
                key=release.key,
                partition=release.partition,
            )
        )

    def has_ask_withdrawn(self, ask: Ask) -> AskReleased:
        """Given: the scheduler released a pending ask; the RM confirms that by itself, once.

        Without a key it released every ask of the application.
        """
        with self.premise("the scheduler releases a pending ask"):
            return self.is_told_one_of(
                AskReleased(ask),
                AskReleased("", ask.said.application),  # all the application has
            )

    def confirms_ask(self, release: AskReleased) -> None:
        """Answer the scheduler's release of an ask with the same message."""
        self.says(
            AskReleaseSaying(
                release.application, release.key, release.partition, release.termination
            )
        )

    def names_its_partition(self, release: AskReleased) -> None:
        """The release names the partition it is about, in whatever form the scheduler writes it."""
        if not PartitionNamed(DEFAULT_PARTITION).accepts(release.partition):
            raise NotAsTheTextSays(
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
        """Release every allocation of an application: no identity is named."""
        self.says(ReleaseSaying(str(application), "", termination, key=key))

    def is_told_all_released(self, *allocations: Allocated) -> None:
        """All of an application's allocations end: one release each, or one that names none."""
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
            if whole.matches(self.is_told_one_of(own, whole)):
                return

    def gives(
        self, allocation: Allocated, least: Amounts, *, below: Mapping[str, int] | None = None
    ) -> None:
        """The allocation is of at least these amounts, and less than those ``below``."""
        given = allocation.resource
        if any(given.get(name, 0) < amount for name, amount in least.items()) or any(
            given.get(name, 0) >= amount for name, amount in (below or {}).items()
        ):
            raise NotAsTheTextSays(
                f"allocated {dict(given)}, asked was {dict(least)}",
                expected=f"an allocation of {dict(least)}",
                happened=str(allocation),
            )

    def is_told_of_the_end_of(self, *allocations: Allocated) -> None:
        """All that an application holds ends: one release each, or one that names none."""
        application = allocations[0].application
        for allocation in allocations:
            own = Released(identity=allocation.identity)
            whole = Released(application=application, identity="")
            if whole.matches(self.is_told_one_of(own, whole)):
                return

    def still_holds(self, allocation: Allocated) -> None:
        """The allocation is live: it can be released and the release is confirmed."""
        self.releases(allocation)
        self.is_told(Released(identity=allocation.identity))

    def sees_nothing_given_away(self, *patterns: Fact) -> None:
        """None of these comes in the time a placement may take: the room waits for the RM's word.

        The usual quiet window follows the pace of the target. It is too short for one that gives
        the room away by a timer of its own.
        """
        self.fences_all()
        self.stays_quiet(*patterns, window=self.patience.place)

    @contextmanager
    def confirming_nothing(self) -> Iterator[None]:
        """The RM leaves releases of allocations unconfirmed that come while this is open."""
        self.stops_confirming()
        try:
            yield
        finally:
            self.confirms_from_now_on()

    @property
    def is_confirming(self) -> bool:
        """Whether releases of allocations are confirmed as they come."""
        return self._confirms_releases

    def _is_left_open(self, release: Released) -> bool:
        """Whether it was told before and is to stay unconfirmed, however often it is told."""
        return (release.identity, release.termination) in self._left_open

    def stops_confirming(self) -> None:
        """The RM leaves releases of allocations unconfirmed from now on."""
        self._confirms_releases = False

    def confirms_from_now_on(self) -> None:
        """The RM confirms releases as they come again; those that came before it leaves alone."""
        with self.connection.hearing:  # a release that was seen already has been passed over
            self._left_open |= {(one.identity, one.termination) for one in self._unconfirmed()}
            self._confirms_releases = True

    def confirms_everything(self) -> None:
        """The RM makes up for what it left unconfirmed, and confirms as they come what follows."""
        with self.connection.hearing:
            left = self._unconfirmed()
            self._left_open = frozenset()
            self._confirms_releases = True
        for release in left:
            self.confirms(release)

    def _unconfirmed(self) -> list[Released]:
        said = [e.content for e in self.exchange.entries() if isinstance(e.content, ReleaseSaying)]
        answered = {(saying.identity, saying.termination) for saying in said}
        told = {  # a release may be repeated until it is confirmed
            (release.application, release.identity, release.termination): release
            for release in self.hears(Released())
            if release.termination in CONFIRMED
        }
        return [
            release
            for release in told.values()
            if (release.identity, release.termination) not in answered
        ]
