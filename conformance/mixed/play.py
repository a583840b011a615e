"""One step of an RM of one revision with a scheduler of another, and what became of it.

The situation a step needs is laid down in the scheduler's own words, so that a step shows what its
own words come to, and not what was lost before. Then the RM speaks, in words of its own revision.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from google.protobuf.message import DecodeError, Message
from siwire import Revision, rpc

from mixed.comparing import compare
from mixed.fences import FENCE, Fences
from mixed.judging import Expected, judge
from mixed.link import ANSWERS_WITHIN, Heard, Link
from mixed.outcomes import Exchange, Finding, Outcome
from mixed.reading import Reader
from mixed.scheduler import Holdings, Scheduler
from mixed.shown import identities, normalised, shown_identity, text
from mixed.speech import (
    Conversation,
    Item,
    NoWordsError,
    Utterance,
    identity_field,
    says_key_too,
)
from mixed.statements import Kind, Known, Statement
from mixed.vocabulary import Vocabulary

Build = Callable[[Vocabulary], Utterance]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a step between two revisions."""

    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    known: Known = field(default_factory=Known)  # at the end, by the identities that are shown


class NamelessError(Exception):
    """The RM cannot name what it means, for it read no identity of it."""


class RefusedError(Exception):
    """The scheduler ended the call; the text is the status with its details."""


class Play:
    """What a step does and expects."""

    def __init__(self, rm: Revision, scheduler: Scheduler) -> None:
        self.rm = Vocabulary(rm)
        self.native = Vocabulary(scheduler.revision)
        self._scheduler = scheduler
        known = Known()
        self._known = known
        self._rm_reads = Reader(rm, known)
        self._scheduler_reads = Reader(scheduler.revision, known)
        self._link = Link(scheduler)
        self._fences = Fences(self._link, self.native)
        self._is_registered = False
        self._before: Holdings | None = None
        self._taken = 0  # messages of the scheduler that were read
        self._got: list[Message] = []  # the same by the RM's classes
        self._names: dict[str, str] = {}  # identities the scheduler made up, and how they are shown
        self.findings: list[Finding] = []
        self.exchanges: list[Exchange] = []
        self.expected = Expected()

    # What the situation is

    def given(self, *builds: Build) -> None:
        """The RM is registered, has its streams, and said this in the scheduler's own words."""
        self._register()
        if not self._meet():
            return
        for conversation in Conversation:
            self._link.send(self.native.opening(conversation), self.native.revision)
        for build in builds:
            utterance = build(self.native)
            self._link.send(utterance, self.native.revision)
            self._note(self._scheduler_reads.read(self._learn(utterance.message)))
            self._fences.settle(utterance.conversation)
        self._take(counts=False)

    # What the RM does

    def registers(self, request: Message) -> None:
        """The RM registers, in its own words."""
        self._begin()
        meant, understood = self._both(request, "RegisterResourceManager")
        self._compare(meant, understood)
        status = self._link.register(
            request.SerializeToString(deterministic=True), self.rm.revision
        )
        self._is_registered = True
        if status != "OK":
            raise RefusedError(f"the registration ends with {status}")

    def opens(self) -> None:
        """The RM opens its streams, in its own words."""
        self._register()
        self._begin()
        for conversation in Conversation:
            self._say(self.rm.opening(conversation))

    def says(self, build: Build) -> None:
        """The RM says this in its own words, and hears all that comes of it."""
        utterance = build(self.rm)
        self._register()
        self._begin()
        self._say(utterance)

    def confirms(self) -> None:
        """The RM answers every release it was told as it read it, with an equal message."""
        for told in self._releases_told():
            self.says(partial(_answer, told))

    def leaves(self) -> None:
        """The RM says that it has nothing more to say, and the streams end."""
        self._begin()
        if self._meet():
            self._link.half_close()

    def time_passes(self, seconds: float) -> None:
        """The scheduler's clock moves on, and the RM hears what comes of it."""
        self._register()
        self._begin()
        if not self._meet():
            self.opens()
        self._scheduler.lets_time_pass(seconds)
        self._fences.settle(Conversation.ALLOCATIONS)
        self._take()

    def identity(self, key: str) -> str:
        """Which identity the RM read for the new allocation with this key."""
        for message in self._got:
            for part in _parts(message, "new", "newAllocations"):
                if part.allocationKey == key and getattr(part, identity_field(part)):
                    identity: str = getattr(part, identity_field(part))
                    return identity
        if not self._meet():
            return ""
        raise NamelessError(f"the RM read no identity of {key} and cannot say which one it means")

    def identity_of(self, item: Item) -> str:
        """By what the RM knows an allocation that exists."""
        self._known.identities[item.identity] = item.key
        return self.rm.identity(item)

    # What it means by it

    def is_told(self, kind: Kind, subject: str) -> None:
        """The scheduler is to answer so."""
        self.expected.answers.append((kind, subject))

    def changes(self, *, gained: Iterator[str] | tuple[str, ...] = (), lost: Any = ()) -> None:
        """This is to be all that is otherwise with the scheduler."""
        self.expected.gained.update(gained)
        self.expected.lost.update(lost)

    # The end

    def result(self, step: Callable[["Play"], None]) -> Result:
        """Play the step; what became of it."""
        status = ""
        try:
            step(self)
        except NoWordsError as why:
            return Result(Outcome.NO_WORDS, (Finding(Outcome.NO_WORDS, str(why)),))
        except RefusedError as why:
            status = str(why)
        except NamelessError as why:
            self._begin()
            self.findings.append(Finding(Outcome.PARTLY_LOST, str(why)))
        finally:
            after = self._scheduler.holds() if self._is_registered else Counter[str]()
            self._link.close()
        before = after if self._before is None else self._before
        outcome, findings = judge(self.expected, self.findings, before, after, status)
        made_up = {self._names[one]: self._known.identities[one] for one in self._names}
        self._known.identities.update(made_up)
        return Result(outcome, tuple(findings), tuple(self.exchanges), self._known)

    # Inside

    def _meet(self) -> bool:
        """Whether the two have any update stream in common."""
        methods = rpc.methods(self.native.revision)
        return Conversation.NODES.method(self.rm.revision) in methods

    def _register(self) -> None:
        if not self._is_registered:
            request = self.native.registration().SerializeToString(deterministic=True)
            status = self._link.register(request, self.native.revision)
            assert status == "OK", status  # noqa: S101  # the scheduler's own words
            self._is_registered = True

    def _begin(self) -> None:
        if self._before is None:
            self._before = self._scheduler.holds() if self._is_registered else Counter()

    def _say(self, utterance: Utterance) -> None:
        revision = self.rm.revision
        method = utterance.conversation.method(revision)
        meant, understood = self._both(self._learn(utterance.message), method)
        self._note(meant)
        if self._meet():
            self._compare(meant, understood)
        self._link.send(utterance, revision)
        if self._meet():
            self._fences.settle(utterance.conversation)
            self._take()
        else:
            self._link.wait(lambda: bool(self._link.ended(method)), "an end", ANSWERS_WITHIN)
        if status := self._link.ended(method):
            raise RefusedError(f"`{method}` ends with {status}")

    def _learn(self, message: Message) -> Message:
        """The message; whatever identities it has are known from now on."""
        self._known.identities.update(identities(message))
        return message

    def _note(self, meant: list[Statement]) -> None:
        """Both know it from now on."""
        for statement in meant:
            self._known.note(statement)

    def _take(self, *, counts: bool = True) -> None:
        """Read what the scheduler said since the last time, stream by stream.

        Nothing orders two streams, so that they are told in an order of our own.
        """
        heard = self._link.heard()
        for one in sorted(heard[self._taken :], key=lambda each: each.method):
            if FENCE.encode() not in one.data:
                self._hear(one, counts=counts)
        self._taken = len(heard)

    def _hear(self, heard: Heard, *, counts: bool) -> None:
        request_response = rpc.methods(self.native.revision)[heard.method]
        said = request_response.response.FromString(heard.data)
        made_up = identities(said)
        self._names.update({one: shown_identity(key) for one, key in made_up.items()})
        meant = self._scheduler_reads.read(self._learn(said))
        exchange, got = self._exchange(said, heard.method, by_rm=False)
        if counts:
            self.exchanges.append(exchange)
        if got is None:
            self.findings.append(
                Finding(Outcome.REFUSED, f"{exchange.message} is unreadable", exchange)
            )
            return
        self._got.append(got)
        understood = self._rm_reads.read(got)
        self._note(meant)
        if counts:
            self.findings += compare(meant, understood, exchange)
            self.expected.said += [(one.kind, one.subject) for one in meant]
            self.expected.told += [(one.kind, one.subject) for one in understood]

    def _both(
        self, message: Message, method: str
    ) -> tuple[list[Statement], list[Statement] | None]:
        """What the RM means, and what the scheduler understands, None where it reads nothing."""
        exchange, got = self._exchange(message, method, by_rm=True)
        self.exchanges.append(exchange)
        meant = self._rm_reads.read(message)
        return meant, None if got is None else self._scheduler_reads.read(got)

    def _compare(self, meant: list[Statement], understood: list[Statement] | None) -> None:
        exchange = self.exchanges[-1]
        if understood is None:
            self.findings.append(
                Finding(Outcome.REFUSED, f"{exchange.message} is unreadable", exchange)
            )
        else:
            self.findings += compare(meant, understood, exchange)

    def _exchange(
        self, message: Message, method: str, *, by_rm: bool
    ) -> tuple[Exchange, Message | None]:
        """How the message looks to both, and the message as the other side has it."""
        receiver = self.native.revision if by_rm else self.rm.revision
        its = rpc.methods(receiver).get(method)
        kind = None if its is None else its.request if by_rm else its.response
        data = message.SerializeToString(deterministic=True)
        shown = normalised(message, self._names)
        shown_data = shown.SerializeToString(deterministic=True)
        exchange = Exchange(
            by_rm=by_rm,
            message=message.DESCRIPTOR.name,
            data=data,
            shown=shown_data,
            means=text(shown),
            read_as="" if kind is None else kind.DESCRIPTOR.name,
            reads="" if kind is None else text(_decoded(kind, shown_data)),
        )
        return exchange, None if kind is None else _decoded(kind, data)

    def _releases_told(self) -> list[Any]:
        return [
            part
            for message in self._got
            for part in _parts(message, "released", "releasedAllocations")
        ]


def _parts(message: Message, *names: str) -> Iterator[Any]:
    for set_field, value in message.ListFields():
        if set_field.name in names:
            yield from value


def _decoded(kind: type[Message], data: bytes) -> Message | None:
    try:
        return kind.FromString(data)
    except DecodeError:
        return None


def _answer(told: Any, rm: Vocabulary) -> Utterance:
    """A release that is equal to the one that was told, as far as it was read."""
    key = told.allocationKey if says_key_too(told) else ""
    identity = getattr(told, identity_field(told))
    return rm.release(told.applicationID, identity, key=key, kind=_type_name(told))


def _type_name(release: Any) -> str:
    types = release.DESCRIPTOR.fields_by_name["terminationType"].enum_type.values_by_number
    value = types.get(release.terminationType)
    return "STOPPED_BY_RM" if value is None or value.number == 0 else value.name
