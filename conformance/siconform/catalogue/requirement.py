"""The data model of a requirement of the SI."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How binding a requirement is: a MUST decides the verdict of a run, a SHOULD on request."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"

    def is_at_least(self, other: "Level") -> bool:
        """Whether it is at least as binding as the other one."""
        order = list(Level)
        return order.index(self) <= order.index(other)


class Authority(StrEnum):
    """The source of a requirement, from the SI specification down to yunikorn-core's behaviour."""

    SPEC = "spec"
    PROTO = "proto"
    DESIGN = "design"
    CORE = "core"
    OWN = "own"
    """A project that tests its scheduler with the kit, for its own requirements."""


class Side(StrEnum):
    """The peer whose behaviour is tested."""

    SCHEDULER = "scheduler"
    RM = "rm"

    @property
    def noun(self) -> str:
        """The peer in words."""
        return "scheduler" if self is Side.SCHEDULER else "resource manager"


class Observation(StrEnum):
    """What is needed to observe whether a requirement holds."""

    PLAIN = "plain"
    """The plain Scheduler service without special set-up."""
    SILENCE = "silence"
    """Plain service, but a message must not arrive: needs a barrier."""
    QUEUES = "queues"
    """Plain service with a known queue configuration."""
    TIMERS = "timers"
    """Plain service and a timeout that must pass."""
    STATIC = "static"
    """Comparison of descriptors or of recorded bytes."""
    RM_DRIVER = "rm-driver"
    """The kit plays the scheduler and something drives the RM."""
    CALLBACKS = "callbacks"
    """Extension: the callbacks the SI defines as an API only."""
    EVENTS = "events"
    """Extension: event records."""
    CONFIGURATION = "configuration"
    """Extension: configuration updates."""
    SNAPSHOT = "snapshot"
    """Extension: a dump of the scheduler's state."""
    METRICS = "metrics"
    """Extension: metrics."""


class DeadlineClass(StrEnum):
    """What a test of the requirement waits for, which determines its deadline."""

    ACK = "ack"
    """An answer to a request: accepted or rejected, an acknowledgement, an error status."""
    PLACE = "place"
    """A scheduling decision."""
    RELEASE = "release"
    """A release or its confirmation."""
    TIMER = "timer"
    """Something triggered by a timeout of the scheduler or the RM."""
    NONE = "none"
    """Nothing: the requirement is tested on messages already received."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where one revision states the requirement.

    `revision` is a revision id such as "2023-12", or "gang" for the gang scheduling design.
    `where` is a place as `siconform.catalogue.texts` finds it. `sha256` are the first 16 hex
    digits of the hash over the normalised sentence, so that drift shows without quoting.
    """

    revision: str
    where: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Challenge:
    """Why a failure of this requirement does not count against a scheduler at the moment.

    ``since`` is a date, ``link`` the address of the dispute. ``tests`` are parts of the node ids of
    the disputed tests; without any, the whole requirement is disputed.
    """

    since: str
    link: str
    reason: str
    tests: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"challenged since {self.since}: {self.link}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A rule that a scheduler or an RM is tested for."""

    id: str
    area: str
    title: str
    level: Level
    level_reason: str
    authority: Authority
    text: str
    interpretation: str
    sources: tuple[Source, ...]
    revisions: frozenset[str]
    sides: frozenset[Side]
    observations: tuple[Observation, ...]
    deadline: DeadlineClass
    features: frozenset[str]
    control: str
    given: str
    when: str
    then: str
    upstream: str
    not_tested: str  # why no test of schedulers covers it, or ""
    retired: str  # why newer revisions do not have it, or ""
    challenged: Challenge | None = None
    no_mutant: str = ""  # why no mutant shows that its test can fail, or ""
    not_tested_on_rms: str = ""  # why no test of RMs covers it, or ""

    def not_tested_on(self, side: Side) -> str:
        """Return why no test of this side covers it, or ""."""
        return self.not_tested if side is Side.SCHEDULER else self.not_tested_on_rms

    def challenge_of(self, test: str) -> Challenge | None:
        """Return the dispute about failures of this test; None if there is none."""
        disputed = self.challenged
        if disputed is None or not disputed.tests or any(t in test for t in disputed.tests):
            return disputed
        return None
