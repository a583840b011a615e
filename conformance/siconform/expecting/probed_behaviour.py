"""Behaviour of a target that the kit probes, once per test process."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from siconform.catalogue.features import Feature

_OUTLIERS: Final = 2
"""Number of slow placements attributed to chance before the latency estimate is raised."""

_MANY: Final = 2.0
"""Silence counts after this multiple of the slowest placement, confirmation or state report."""


@dataclass
class Latency:
    """Time this target takes to place an ask that fits, and to tell of other changes, in seconds.

    ``virtual`` is time on the target's clock where the kit advances it, ``wall`` the real time that
    passed in addition.
    """

    virtual: float = 0.0  # of a placement
    wall: float = 0.0
    reported_virtual: float = 0.0  # of the end of a release, or the state of an application
    reported_wall: float = 0.0
    _slowest: list[tuple[float, float]] = field(default_factory=list)

    def measured(self, virtual: float, wall: float) -> None:
        """Record how long an unobstructed placement took."""
        self.virtual = max(self.virtual, virtual)
        self.wall = max(self.wall, wall)

    def reported(self, virtual: float, wall: float) -> None:
        """Record how long the confirmation of a release or the report of a state took."""
        self.reported_virtual = max(self.reported_virtual, virtual)
        self.reported_wall = max(self.reported_wall, wall)

    def seen(self, virtual: float, wall: float) -> None:
        """Record a lower bound of a placement time; ignore a few outliers of a busy machine."""
        if virtual <= self.virtual and wall <= self.wall:
            return
        self._slowest = nlargest(_OUTLIERS + 1, [*self._slowest, (virtual, wall)])
        if len(self._slowest) > _OUTLIERS:
            self.measured(*self._slowest.pop())

    @property
    def slowest(self) -> float:
        """The time of the slowest placement on either clock."""
        return max(self.virtual, self.wall)

    def quiet(self, least: float, most: float) -> float:
        """Return how long the target's clock must pass without a message before silence counts."""
        slowest = max(self.virtual, self.reported_virtual)
        return min(max(least, _MANY * slowest), max(least, most))

    def settle(self, least: float, most: float) -> float:
        """Return the same in real time, if the target's clock has already been advanced."""
        slowest = max(self.wall, self.reported_wall)
        return min(max(least, _MANY * slowest), max(least, most))


@dataclass
class ProbedBehaviour:
    """Behaviour of a target that the specification leaves open. None: unknown (yet)."""

    latency: Latency = field(default_factory=Latency)
    keeps_waiting_asks: bool | None = None  # asks that fit a node, but not now
    keeps_oversized_asks: bool | None = None  # asks that fit no node
    serves_several_allocations: bool | None = None  # for one ask
    enforces_quotas: bool | None = None  # the maximum of a queue
    counts_foreign_allocations: bool | None = None  # as used capacity of their node
    allocates_gangs_whole: bool | None = None  # no placeholder before all of the gang fit
    replaces_placeholders: bool = False  # known to: its own, by a real ask
    accepted_gang_style: str | None = None  # a spelling the target accepts for gangs
    gang_styles: dict[str, str] = field(default_factory=dict)  # spellings of soft and hard
    waiting_states: tuple[str, ...] | None = None  # names of the state waiting; (): not reported
    reported_states: set[str] = field(default_factory=set)  # of applications, as spelled
    others: dict[str, str] = field(default_factory=dict)  # found out by tests, for people
    probed: bool = False

    def lacks(self, without: Collection[str]) -> frozenset[str]:
        """Return the features it was observed to lack, plus those in ``without``.

        Without configurable queues there are no quotas.
        """
        lacking = set(without)
        if Feature.QUEUES in without or self.enforces_quotas is False:
            lacking.add(Feature.QUOTAS)
        if self.counts_foreign_allocations is False:
            lacking.add(Feature.FOREIGN_ALLOCATIONS)
        return frozenset(lacking)

    def received(self) -> Mapping[str, str]:
        """Return the probed behaviour in words."""
        words = {}
        for name, (value, yes, no) in {
            "an ask that does not fit now": (self.keeps_waiting_asks, "queued", "rejected"),
            "an ask that fits no node": (self.keeps_oversized_asks, "queued", "rejected"),
            "an ask for several allocations": (
                self.serves_several_allocations,
                "gets several",
                "gets one",
            ),
            "placeholders": (self.allocates_gangs_whole, "when the whole gang fits", "one by one"),
            "the quota of a queue": (self.enforces_quotas, "enforced", "not enforced"),
            "a foreign allocation": (
                self.counts_foreign_allocations,
                "uses capacity",
                "uses no capacity",
            ),
        }.items():
            if value is not None:
                words[name] = yes if value else no
        if self.probed:
            states = ", ".join(sorted(self.reported_states)) or "none"
            words["states of applications"] = f"reported: {states}"
        return {**words, **self.others}
