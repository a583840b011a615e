"""What the kit found out about a target by itself: once for each process that runs tests."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from siconform.catalogue.features import Feature

_OUTLIERS: Final = 2
"""So many placements may have been slow by chance before the pace of the target is thought less."""

_MANY: Final = 2.0
"""A silence is believed after so many times the slowest placement."""


@dataclass
class Latency:
    """How long this target takes to place an ask that fits, in seconds.

    ``virtual`` is what passed on the target's clock where the kit moves that on, ``wall`` what
    passed beside it.
    """

    virtual: float = 0.0
    wall: float = 0.0
    _slowest: list[tuple[float, float]] = field(default_factory=list)

    def measured(self, virtual: float, wall: float) -> None:
        """A placement with nothing in its way took so long."""
        self.virtual = max(self.virtual, virtual)
        self.wall = max(self.wall, wall)

    def seen(self, virtual: float, wall: float) -> None:
        """Note how long a placement took at least; one or two may have met a busy machine."""
        if virtual <= self.virtual and wall <= self.wall:
            return
        self._slowest = nlargest(_OUTLIERS + 1, [*self._slowest, (virtual, wall)])
        if len(self._slowest) > _OUTLIERS:
            self.measured(*self._slowest.pop())

    @property
    def slowest(self) -> float:
        """The slowest placement by either clock."""
        return max(self.virtual, self.wall)

    def quiet(self, least: float, most: float) -> float:
        """How long nothing has to come on the target's clock before that is believed."""
        return min(max(least, _MANY * self.virtual), max(least, most))

    def settle(self, least: float, most: float) -> float:
        """How long nothing has to come on the wall, where the target's time has passed already."""
        return min(max(least, _MANY * self.wall), max(least, most))


@dataclass
class ProbedBehaviour:
    """Habits of a target that the texts leave free. None: not found out (yet)."""

    latency: Latency = field(default_factory=Latency)
    keeps_waiting_asks: bool | None = None  # an ask that fits a node, but not now
    keeps_oversized_asks: bool | None = None  # an ask that fits no node there is
    serves_several_allocations: bool | None = None  # for one ask
    heeds_quotas: bool | None = None  # the maximum of a queue
    counts_foreign_allocations: bool | None = None  # as room that is taken on their node
    accepted_gang_style: str | None = None  # a spelling with which gangs are accepted
    gang_styles: dict[str, str] = field(default_factory=dict)  # how soft and hard are spelled
    waiting_states: tuple[str, ...] | None = None  # names of the state waiting; (): not reported
    reported_states: set[str] = field(default_factory=set)  # of applications, as spelled
    others: dict[str, str] = field(default_factory=dict)  # what a test found out, for people
    probed: bool = False

    def lacks(self, without: Collection[str]) -> frozenset[str]:
        """The features it was seen not to have, beside those it is ``without``, as its user says.

        Where there are no queues to configure, there are no maxima to heed.
        """
        lacking = set(without)
        if Feature.QUEUES in without or self.heeds_quotas is False:
            lacking.add(Feature.QUOTAS)
        if self.counts_foreign_allocations is False:
            lacking.add(Feature.FOREIGN_ALLOCATIONS)
        return frozenset(lacking)

    def received(self) -> Mapping[str, str]:
        """What was found out, in words."""
        words = {}
        for name, (value, yes, no) in {
            "an ask without room now": (self.keeps_waiting_asks, "waits", "is rejected"),
            "an ask no node has room for": (self.keeps_oversized_asks, "waits", "is rejected"),
            "an ask for several allocations": (
                self.serves_several_allocations,
                "gets several",
                "gets one",
            ),
            "the maximum of a queue": (self.heeds_quotas, "is heeded", "is not heeded"),
            "a foreign allocation": (
                self.counts_foreign_allocations,
                "takes room",
                "takes no room",
            ),
        }.items():
            if value is not None:
                words[name] = yes if value else no
        if self.probed:
            states = ", ".join(sorted(self.reported_states)) or "none were"
            words["states of applications"] = f"reported: {states}"
        return {**words, **self.others}
