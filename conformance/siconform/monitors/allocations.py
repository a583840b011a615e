"""Rules about allocations: requested, unique, and not released twice."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import dropwhile
from typing import Final

from siconform.monitors.bulk_ends import BULK_ENDS, BulkEnds, Race
from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.recovered_allocations import REPORTING, Unnamed, recovered_in
from siconform.monitors.restated import AllocatedAgain, Updated
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.notifications import BY_THE_SCHEDULER, Allocated, Released, Termination
from siconform.protocol.requests import (
    Amounts,
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    ReleaseRequest,
)
from siconform.protocol.subjects import Identity, OneAllocation
from siconform.recording.history import Entry


def allocations_carry_their_ask() -> Evaluator:
    """A new allocation names an ask of this RM, its application, and its amount or a larger one.

    If a key was withdrawn and asked for again, the allocation may be that of the later ask. An
    existing allocation that the RM reported without an identity may be announced with one.
    """
    asks: dict[str, list[AskRequest]] = defaultdict(list)  # by key, of all its lifecycles
    recovered: set[str] = set()
    unnamed = Unnamed()

    def since(name: str) -> list[AskRequest]:
        return list(dropwhile(lambda ask: ask.key != name, asks[key_of(name)]))

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest() as ask:
                asks[key_of(ask.key)].append(ask)
            case Updated(key=key, resource=resource) if earlier := since(key):
                asks[key_of(key)].append(replace(earlier[0], resource=resource))
            case Allocated() as new if new.identity not in recovered:
                if unnamed.is_named_by(new):
                    return NOTHING_TO_EVALUATE
                return _not_as_asked(new, since(new.key))
            case content:
                recovered.update(existing.identity for existing in recovered_in(content))
                unnamed.observe(content)
        return NOTHING_TO_EVALUATE

    return evaluate


def _not_as_asked(new: Allocated, asks: list[AskRequest]) -> str:
    if not asks:
        return f"allocation {new.identity} has the key {new.key}, which was never asked for"
    if all(ask.application != new.application for ask in asks):
        return f"allocation {new.identity} names application {new.application}, not its ask's"
    if not any(_is_given(ask.resource or {}, new.resource) for ask in asks):
        return f"allocation {new.identity} is {dict(new.resource)}, asked was {asks[-1].resource}"
    return ""


def _is_given(asked: Amounts, given: Amounts) -> bool:
    return all(given.get(name, 0) >= amount for name, amount in asked.items())


def identities_are_unique() -> Evaluator:
    """Every new allocation has a unique identity, announced once.

    An allocation that the RM reported without one may be echoed without one.
    """
    announced: set[str] = set()
    recovered: dict[str, str] = {}  # identity to key

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Allocated(identity="", key=key) if "" not in recovered:
                return f"an allocation of {key} has no identity"
            case Allocated(identity=identity, key=key) if identity in recovered:
                message = f"{key} got {identity}, the identity of a recovered one"
                return violated_if(key != recovered[identity], message)
            case Allocated(identity=identity) if identity in announced:
                return f"allocation {identity} was announced twice"
            case AllocatedAgain(allocation=received):
                return f"allocation {received.identity} was announced twice"
            case Allocated(identity=identity):
                announced.add(identity)
                return ""
            case content:
                recovered.update({e.identity: e.key for e in recovered_in(content)})
        return NOTHING_TO_EVALUATE

    return evaluate


def ended_allocations_stay_ended() -> Evaluator:
    """An allocation ends once: no release follows its release.

    A release of the scheduler is final only when confirmed with the same type, and may be repeated
    until the confirmation is processed. If the RM meanwhile releases the allocation itself, removes
    its application or decommissions its node, STOPPED_BY_RM reports its end and the open release is
    void; if the RM did the latter two, so does a release of another type. An RM that repeats a
    release may get a repeated answer. The answer to a release that names another application ends
    nothing.
    """
    return _ENDS.rule("ended_allocations_stay_ended")


def allocations_reported_twice_end_once() -> Evaluator:
    """An existing allocation that the RM reported twice is released once."""
    return _ENDS.rule("allocations_reported_twice_end_once")


class _Ends:
    def __init__(self) -> None:
        self._ended: set[str] = set()
        self._misnamed: set[tuple[str, str]] = (
            set()
        )  # application and identity, in releases of the RM
        self._unconfirmed: dict[str, Termination] = {}
        self._sent: Counter[str] = Counter()  # releases by the RM that were not answered yet
        self._bulk_ends, self._race = BulkEnds(), Race()
        self._reported: set[str] = set()  # existing ones
        self._foreign: set[str] = set()
        self._twice: set[str] = set()

    def __call__(self, entry: Entry) -> Findings:
        content = entry.content
        self._race.observe(entry)
        for identity in set(self._bulk_ends.observe(content)):
            is_over = identity in self._ended and identity not in self._unconfirmed
            self._sent[identity] += not is_over or identity in self._race
        match content:
            case ForeignAllocationRequest(key=key):
                self._foreign.add(key)
            case Released(identity=identity, application="") if identity in self._foreign:
                pass  # SI-FOR-008
            case Released(identity=identity, application=application) if identity:
                is_misnamed = self._bulk_ends.is_of_another(identity, application)
                if is_misnamed and (application, identity) in self._misnamed:
                    return NO_FINDINGS
                return self._released(content)
            case ReleaseRequest(OneAllocation(application, identity)) if (
                self._bulk_ends.is_of_another(identity, application)
            ):
                self._misnamed.add((application, identity))
            case ReleaseRequest(OneAllocation(identity=identity), termination):
                self._is_released_by_the_rm(identity, termination)
            case Updated(key=identity, node=node) if node and identity in self._reported:
                self._twice.add(identity)
            case _:
                if isinstance(content, ExistingAllocationRequest):
                    self._reported.add(content.allocation.identity)
                self._ended.difference_update(one.identity for one in recovered_in(content))
        return NO_FINDINGS

    def _released(self, release: Released) -> Findings:
        identity, kind = release.identity, release.termination
        if _is_repeated(release, self._unconfirmed, self._race):
            return NO_FINDINGS
        is_right = identity not in self._ended
        if kind in BY_THE_SCHEDULER:
            if identity in self._unconfirmed and self._sent[identity] > 0:
                self._sent[identity] -= 1
                is_right = True
            if is_right:
                self._unconfirmed[identity] = kind
        else:
            is_right |= self._sent[identity] > 0
            self._sent[identity] = max(0, self._sent[identity] - 1)
            is_right |= self._unconfirmed.pop(identity, None) is not None
        self._ended.add(identity)
        finding = "" if is_right else f"allocation {identity} was released twice"
        found: dict[str, EntryFinding] = {"ended_allocations_stay_ended": finding}
        if identity in self._twice:
            found["allocations_reported_twice_end_once"] = finding
        return found

    def _is_released_by_the_rm(self, identity: str, termination: Termination) -> None:
        is_confirmation = self._unconfirmed.get(identity) is termination
        self._sent[identity] += not is_confirmation
        if is_confirmation or termination not in BY_THE_SCHEDULER:
            self._race.begins(identity, self._unconfirmed.pop(identity, None))


def _is_repeated(release: Released, unconfirmed: dict[str, Termination], race: Race) -> bool:
    """Return whether this repeats a release whose confirmation may not have been processed."""
    is_open = unconfirmed.get(release.identity) is release.termination
    return is_open or race.has_repeated(release)


def releases_name_what_was_announced() -> Evaluator:
    """A release names an announced allocation, with that allocation's application and key.

    One that the scheduler started names the partition, too, except of an allocation that the RM
    reported, possibly without one. An answer to a release of the RM echoes its names, right or
    wrong. Releases of allocations from before a new registration may arrive after it. Foreign
    allocations were announced by the RM.
    """
    reported: set[str] = set()
    owners: dict[str, str] = {}
    keys: dict[str, str] = {}
    foreign: set[str] = set()
    sent: set[tuple[str, str]] = set()  # application and identity, in releases of the RM

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case Allocated(identity=identity, application=application, key=key):
                owners[identity], keys[identity] = application, key
            case ReleaseRequest(subject=OneAllocation(application, identity)):
                sent.add((application, identity))
            case ForeignAllocationRequest(key=key):
                foreign.add(key)
            case Released(identity=identity, application="") if identity in foreign:
                return ""
            case Released(identity=identity, application=application) as release if identity:
                repeated = (application, identity) in sent and owners.get(identity) != application
                if repeated:
                    return NOTHING_TO_EVALUATE
                wrong = _wrong_name(release, owners, keys)
                return wrong if wrong or identity in reported else _no_partition(release)
            case content:
                reported.update(a.identity for a in recovered_in(content))
                owners.update({a.identity: a.application for a in recovered_in(content)})
                keys.update({a.identity: a.key for a in recovered_in(content)})
        return NOTHING_TO_EVALUATE

    return evaluate


def _wrong_name(release: Released, owners: dict[str, str], keys: dict[str, str]) -> str:
    identity = release.identity
    if identity not in owners:
        return f"release of {identity}, which was never announced"
    if release.application != owners[identity]:
        return f"release of {identity} names application {release.application!r}"
    if release.key not in ("", keys[identity]):
        return f"release of {identity} names key {release.key!r}"
    return ""


def _no_partition(release: Released) -> str:
    if release.termination in BY_THE_SCHEDULER and release.partition == "":
        return f"release of {release.identity} names no partition"
    return ""


_ENDS: Final = SharedAnalysis(_Ends)

MONITORS: Final = (
    Monitor(
        allocations_carry_their_ask,
        ("SI-ALLOC-002",),
        observes=(AskRequest, Updated, Allocated, *REPORTING),
    ),
    Monitor(
        identities_are_unique,
        ("SI-ALLOC-004", "SI-ALLOC-005", "SI-ALLOC-008", "SI-ALLOC-011", "SI-ASK-027"),
        observes=(Allocated, AllocatedAgain, *REPORTING),
    ),
    Monitor(
        ended_allocations_stay_ended,
        ("SI-ALLOC-009",),
        observes=(Released, *BULK_ENDS, Updated, ForeignAllocationRequest),
    ),
    Monitor(
        allocations_reported_twice_end_once,
        ("SI-REC-025",),
        observes=(Released,),
        identity=Identity.KEY_OF_THE_ASK,
    ),
    Monitor(
        releases_name_what_was_announced,
        ("SI-REL-023",),
        observes=(Allocated, ReleaseRequest, Released, ForeignAllocationRequest, *REPORTING),
        outlives_registrations=True,
    ),
)
