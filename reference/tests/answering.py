"""Codec and core of one revision in process, with an RM that uses them and state checks."""

from typing import Any

from google.protobuf.message import Message
from sireference.codec import Codec, codec_for
from sireference.configuration.parsing import parse_configuration
from sireference.core.model import (
    Answer,
    Effect,
    NewAllocation,
    Refused,
    Register,
    Release,
    ReleasedAllocation,
    Settings,
)
from sireference.core.scheduler import Scheduler
from sireference.core.snapshot import Snapshot
from sireference.core.states import TerminationType
from siwire import Revision, rpc
from tests.configuring import tree
from tests.sessions import Speaker
from tests.test_histories import accounting_balances, applications_make_sense, gangs_make_sense

QUEUES = parse_configuration(
    tree("{name: default}", "{name: small, resources: {max: {memory: 6}}}", "{name: gangs}")
)


class Served:
    """Codec and core of one revision; every answer is serialised and parsed again."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self.codec: Codec = codec_for(revision)
        self.methods = rpc.methods(revision)
        self.scheduler = Scheduler(Settings(placeholder_timeout=20.0))
        self.now = 1000.0
        self.identities: list[str] = []
        self.to_confirm: list[Release] = []
        self.kinds: set[type] = set()
        self.effects: list[Effect] = []  # of the last request
        self.longest_reason = 0
        self.scheduler.handle(Register("rm", QUEUES, rules=self.codec.rules), self.now)

    def opens(self) -> None:
        """Add a node, applications and asks, so that later messages have something to affect."""
        rm = Speaker(self.revision)
        self.receives(*rm.node("n1", 12))
        for application_id in ("a1", "g1"):
            self.receives(*rm.application(application_id, gang=4))
        self.receives(*rm.asks("g1", "p1", "p2", placeholder=True))
        self.receives(*rm.asks("g1", "r1", placeholder=False))

    def receives(self, method: str, sent: Any) -> None:
        message = sent if isinstance(sent, Message) else self.request(method, sent)
        self.effects = []
        for event in self.codec.events(method, message):
            self.answers(self.scheduler.handle(event, self.now))

    def request(self, method: str, fields: dict[str, Any]) -> Message:
        kind: Any = self.methods[method].request
        request: Message = kind(rmID="rm", **fields)
        return request

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.answers(self.scheduler.handle_timeout(self.now))

    def finishes(self) -> None:
        """Continue passes that ended before everything was placed."""
        while (deadline := self.scheduler.next_deadline()) is not None and deadline <= self.now:
            self.answers(self.scheduler.handle_timeout(self.now))

    def answers(self, effects: list[Effect]) -> None:
        sent: dict[str, list[Answer]] = {}
        self.effects += effects
        for effect in effects:
            self.kinds.add(type(effect))
            reason = getattr(effect, "reason", "")
            self.longest_reason = max(self.longest_reason, len(reason))
            if isinstance(effect, NewAllocation):
                self.identities.append(effect.allocation.identity)
            if isinstance(effect, Refused):
                self.goes_over_the_wire(self.codec.refusal_messages(effect))
            elif isinstance(effect, Answer):
                sent.setdefault(self.codec.method_of(effect), []).append(effect)
            if isinstance(effect, ReleasedAllocation):
                self.to_confirm.append(effect.release)
        for method, answers in sent.items():
            self.goes_over_the_wire(list(self.codec.responses(method, answers)))

    def goes_over_the_wire(self, responses: list[Any]) -> None:
        for response in responses:
            assert type(response).FromString(response.SerializeToString()) == response

    def confirms(self, number: int) -> None:
        """Have the RM do what it was asked to do and report it in messages of the revision."""
        waiting = [r for r in self.to_confirm if r.termination is not TerminationType.STOPPED_BY_RM]
        if waiting:
            received = ReleasedAllocation("rm", waiting[number % len(waiting)])
            method = self.codec.method_of(received)
            (response,) = self.codec.responses(method, [received])
            ((_, released),) = response.ListFields()
            request = self.revision.si.AllocationReleasesRequest(allocationsToRelease=released)
            self.receives(method, {"releases": request})

    def held(self) -> Snapshot:
        return self.scheduler.snapshot("rm")

    def make_sense(self) -> None:
        """Check all invariants; a pass that reached its limit must have scheduled another one."""
        for rm in self.scheduler.rms.all():
            for partition in rm.partitions.values():
                pass_at = partition.timers._pass_at
                goes_on = pass_at is not None and pass_at <= self.now
                accounting_balances(partition, goes_on=goes_on)
                applications_make_sense(partition, goes_on=goes_on)
                gangs_make_sense(partition)
