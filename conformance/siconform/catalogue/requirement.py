"""What one requirement of the SI is made of."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How binding a requirement is: a MUST decides the verdict of a run, a SHOULD if wanted."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"

    def is_at_least(self, other: "Level") -> bool:
        """Whether it is as binding as the other one, or more so."""
        order = list(Level)
        return order.index(self) <= order.index(other)


class Authority(StrEnum):
    """Who says so, from the SI text down to the habits of yunikorn-core."""

    SPEC = "spec"
    PROTO = "proto"
    DESIGN = "design"
    CORE = "core"
    OWN = "own"
    """A project that tests its scheduler with the kit, about requirements of its own."""


class Side(StrEnum):
    """Whose behaviour is judged."""

    SCHEDULER = "scheduler"
    RM = "rm"


class Observation(StrEnum):
    """What it takes to see whether a requirement holds."""

    PLAIN = "plain"
    """The plain Scheduler service without special set-up."""
    SILENCE = "silence"
    """Plain service, but the point is that something does not come: needs a fence."""
    QUEUES = "queues"
    """Plain service under a known queue configuration."""
    TIMERS = "timers"
    """Plain service and a timeout that has to pass."""
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
    """What a test of the requirement waits for, and so how long it may take."""

    ACK = "ack"
    """An answer to a request: a verdict, an acknowledgement, an error status."""
    PLACE = "place"
    """A scheduling decision."""
    RELEASE = "release"
    """A release or its confirmation."""
    TIMER = "timer"
    """Something a timeout of the scheduler or the RM sets off."""
    NONE = "none"
    """Nothing: the requirement is judged on what has been said already."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where one revision says it.

    `revision` is a revision id such as "2023-12", or "gang" for the gang scheduling design.
    `where` is a place as `siconform.catalogue.texts` finds it. `sha256` are the first 16 hex
    digits of the hash over the normalised sentence, so that drift shows without quoting.
    """

    revision: str
    where: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Challenge:
    """Why what fails here is not held against a scheduler at the moment.

    ``since`` is a date, ``link`` the address of the dispute. ``tests`` are parts of the node ids of
    those that are disputed; without any the requirement is, whatever test or monitor speaks.
    """

    since: str
    link: str
    reason: str
    tests: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"challenged since {self.since}: {self.link}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule a scheduler or an RM is held against."""

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
    not_tested: str  # why no test of the suite speaks for it, or ""
    retired: str  # why newer revisions do without it, or ""
    challenged: Challenge | None = None
    no_mutant: str = ""  # why no mutant shows that its test can fail, or ""

    def challenge_of(self, test: str) -> Challenge | None:
        """Why what this test says against a scheduler is disputed; None where it is not."""
        disputed = self.challenged
        if disputed is None or not disputed.tests or any(t in test for t in disputed.tests):
            return disputed
        return None
