"""Rules about callbacks: which stream they come on, and what they name.

Streams are not ordered with each other: a callback may come before or after what caused it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Final

from siconform.monitors.key_lifecycles import key_of
from siconform.monitors.memory import Names, Recent
from siconform.monitors.monitor import (
    NOTHING_TO_EVALUATE,
    EntryFinding,
    Evaluator,
    Monitor,
    violated_if,
)
from siconform.monitors.open_calls import CALLS, OpenCalls
from siconform.monitors.recovered_allocations import REPORTING, recovered_in
from siconform.monitors.restated import Placed, Updated
from siconform.monitors.shared import NO_FINDINGS, Findings, SharedAnalysis
from siconform.protocol.callbacks import (
    Answered,
    Assumed,
    CallbacksOffered,
    EvictionCheck,
    Forgotten,
    PlacementCheck,
    Scheduling,
    SchedulingReported,
)
from siconform.protocol.notifications import Allocated, Released
from siconform.protocol.registration import RegistrationAnswered
from siconform.protocol.requests import (
    AskRequest,
    ExistingAllocationRequest,
    ForeignAllocationRequest,
    NodeRequest,
)
from siconform.recording.history import Content, Entry

_NAMING: Final = (
    *(AskRequest, Updated, Placed, ExistingAllocationRequest, ForeignAllocationRequest),
    NodeRequest,
)
_OF_THE_RM: Final = (RegistrationAnswered, *_NAMING)
_CHECKS: Final = (PlacementCheck, EvictionCheck)


class _Sent:
    """The keys and nodes that the RM has sent, in all of its registrations.

    Nothing is known of an RM whose registration was not seen.
    """

    def __init__(self) -> None:
        self._keys, self._nodes = Names(), Names()
        self._applications: Recent[str, str] = Recent()  # by key; "" if there were several
        self._is_registered = False

    def observe(self, content: Content) -> None:
        match content:
            case AskRequest(key=key, application=name) | Updated(key=key, application=name):
                self._adds(key, name)
            case NodeRequest(node=node):
                self._nodes.add(node)
                for one in content.existing:
                    self._adds(one.key, one.application)
            case Placed(allocation=one) | ExistingAllocationRequest(allocation=one):
                self._adds(one.key, one.application)
            case ForeignAllocationRequest(key=key):
                self._adds(key, "")
            case RegistrationAnswered(status="OK"):
                self._is_registered = True

    def _adds(self, key: str, application: str) -> None:
        key = key_of(key)
        self._keys.add(key)
        is_the_one = self._applications.get(key, application) == application
        self._applications[key] = application if is_the_one else ""

    def unknown(self, keys: Iterable[str], nodes: Iterable[str]) -> list[str]:
        """Return those that the RM has certainly not sent."""
        if not self._is_registered:
            return []
        asks = [f"ask {key}" for key in keys if self._keys.lack(key)]
        return asks + [f"node {node}" for node in nodes if self._nodes.lack(node)]

    def names_another(self, key: str, application: str) -> bool:
        """Return whether this is certainly not the application of the key."""
        return self._applications.get(key, "") not in ("", application)


def callbacks_come_on_the_latest_offer() -> Evaluator:
    """A call about an ask comes on the callback stream that was offered last.

    That is certain of an ask that the RM sent after the first call on it, if the RM has registered
    again after it had offered the former one.
    """
    offers = _Offers()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case RegistrationAnswered(status="OK"):
                offers.registers()
            case CallbacksOffered(offer=number):
                offers.offers(number)
            case AskRequest(key=key):
                offers.asked[key_of(key)] = offers.has_been_used
            case PlacementCheck(key=key, offer=number) | EvictionCheck(key=key, offer=number):
                return offers.calls(key, number)
            case SchedulingReported(key=key, offer=number):
                return offers.calls(key, number)
        return NOTHING_TO_EVALUATE

    return evaluate


class _Offers:
    """The offers of an RM, and the asks it has sent since the last one was first used."""

    def __init__(self) -> None:
        self.has_been_used = False
        self.asked: dict[str, bool] = {}  # whether the latest offer had been used by then
        self._latest: object = None
        self._before: set[object] = set()  # offers from before the last registration

    def registers(self) -> None:
        self._before.add(self._latest)

    def offers(self, number: object) -> None:
        self._latest, self.has_been_used = number, False
        self.asked.clear()

    def calls(self, key: str, number: object) -> EntryFinding:
        if number == self._latest:
            self.has_been_used = True
            return "" if self.asked.get(key) and self._before else NOTHING_TO_EVALUATE
        is_former = number in self._before and self._latest not in self._before
        if not is_former or not self.asked.get(key):
            return NOTHING_TO_EVALUATE
        return f"the call about {key} comes on offer {number}, the latest is {self._latest}"


def checks_come_before_allocations() -> Evaluator:
    """An ask that placement checks were made for goes to no node that was not checked or refused.

    Replacements of placeholders are left out, and what the RM placed itself.
    """
    checks: dict[str, dict[str, bool]] = {}  # by key: the nodes and whether the ask may go there
    calls = OpenCalls()

    def evaluate(entry: Entry) -> EntryFinding:
        match entry.content:
            case AskRequest(key=key, task_group="", max_allocations=1):
                checks[key_of(key)] = {}
            case AskRequest(key=key) | Updated(key=key):
                checks.pop(key_of(key), None)
            case PlacementCheck(key=key, node=node) if key in checks:
                checks[key][node] = True
            case Allocated(key=key, node=node):
                return _unchecked(entry.content, checks.pop(key_of(key), {}))
            case CallbacksOffered():
                checks.clear()
            case content:
                for one in recovered_in(content):
                    checks.pop(key_of(one.key), None)
        match calls.answered_by(entry), entry.content:
            case [PlacementCheck(key=key, node=node)], Answered(fits=fits) if key in checks:
                checks[key][node] = fits
        return NOTHING_TO_EVALUATE

    return evaluate


def _unchecked(new: Allocated, checked: dict[str, bool]) -> EntryFinding:
    if not checked:
        return NOTHING_TO_EVALUATE
    if new.node not in checked:
        return f"{key_of(new.key)} is placed on {new.node}, checked were {', '.join(checked)}"
    return violated_if(
        not checked[new.node], f"{key_of(new.key)} is placed on {new.node}, which the RM refused"
    )


def no_ask_goes_unchecked_between_others() -> Evaluator:
    """An ask is not allocated without any check between placement checks of other asks.

    The ask came after the first of them, and both came on the callback stream offered last: the
    second shows that the stream is still in use. A check before evictions counts as well.
    Replacements of placeholders are left out, and what the RM placed itself.
    """
    asked: Recent[str, bool] = Recent()  # by key: whether there was a check
    is_used, unchecked = False, ""

    def evaluate(entry: Entry) -> EntryFinding:
        nonlocal is_used, unchecked
        match entry.content:
            case CallbacksOffered():
                is_used, unchecked = False, ""
                asked.clear()
            case AskRequest(task_group="") | AskRequest(placeholder=True) if is_used:
                asked.setdefault(key_of(entry.content.key), False)
            case AskRequest(key=key) | Updated(key=key):
                asked.pop(key_of(key), None)
            case EvictionCheck(key=key):
                asked[key] = True
            case PlacementCheck(key=key):
                found, unchecked, is_used = unchecked, "", True
                asked[key] = True
                return f"{found} is placed without a check" if found else NOTHING_TO_EVALUATE
            case Allocated(key=key) if key_of(key) in asked:
                if asked.pop(key_of(key)):
                    return ""
                unchecked = unchecked or key_of(key)
            case content:
                for one in recovered_in(content):
                    asked.pop(key_of(one.key), None)
        return NOTHING_TO_EVALUATE

    return evaluate


def checks_name_an_ask_and_a_node() -> Evaluator:
    """A placement check names a key and a node that the RM has sent."""
    return _NAMES.rule("checks_name_an_ask_and_a_node")


def eviction_checks_name_victims_of_the_node() -> Evaluator:
    """An eviction check names an ask, its node, and victims there, each once, up to an index.

    A victim counts as elsewhere if all its allocations have been received, none of that node.
    """
    return _NAMES.rule("eviction_checks_name_victims_of_the_node")


def container_states_name_an_ask() -> Evaluator:
    """A reported container state is one, and names the key and the application of an ask."""
    return _NAMES.rule("container_states_name_an_ask")


def synchronised_allocations_are_known() -> Evaluator:
    """What the RM can assume has a key and a node that it sent, what it can forget a key."""
    return _NAMES.rule("synchronised_allocations_are_known")


class _Named:
    def __init__(self) -> None:
        self._sent, self._places = _Sent(), _Places()

    def __call__(self, entry: Entry) -> Findings:
        content = entry.content
        if isinstance(content, _OF_THE_RM):
            self._sent.observe(content)
        if isinstance(content, _PLACING):
            self._places.observe(content)
        match content:
            case PlacementCheck(key=key, node=node):
                rule, wrong = "checks_name_an_ask_and_a_node", self._unknown(content, [key], node)
            case EvictionCheck():
                rule, wrong = "eviction_checks_name_victims_of_the_node", self._misnamed(content)
            case SchedulingReported():
                rule, wrong = "container_states_name_an_ask", self._misreported(content)
            case Assumed(key=key, node=node):
                wrong = self._unknown(content, [key], node)
                rule = "synchronised_allocations_are_known"
            case Forgotten(key=key):
                rule, wrong = "synchronised_allocations_are_known", self._unknown(content, [key])
            case _:
                return NO_FINDINGS
        return {rule: wrong}

    def _unknown(self, content: Content, keys: Iterable[str], *nodes: str) -> str:
        unknown = self._sent.unknown(keys, nodes)
        return violated_if(unknown, f"{content} names an unknown {' and '.join(unknown)}")

    def _misnamed(self, check: EvictionCheck) -> str:
        victims, node = check.victims, check.node
        unknown = self._unknown(check, [check.key, *victims], node)
        if unknown:
            return unknown
        if len(set(victims)) < len(victims):
            return f"{check} names a victim twice"
        if not 0 <= check.start < len(victims):
            return f"startIndex {check.start} with {len(victims)} victims"
        elsewhere = [key for key in victims if self._places.are_elsewhere(key, node)]
        return violated_if(elsewhere, f"{', '.join(elsewhere)} is not on {node}")

    def _misreported(self, report: SchedulingReported) -> str:
        key, name = report.key, report.application
        unknown = self._sent.unknown([key], []) or self._sent.names_another(key, name)
        is_none = report.state in (Scheduling.UNSET, Scheduling.UNDEFINED)
        message = f"{report} names no ask" if unknown else f"{report} has no state"
        return violated_if(unknown or is_none, message)


class _Places:
    """The nodes of the RM's allocations, by key."""

    def __init__(self) -> None:
        self._nodes: defaultdict[str, set[str]] = defaultdict(set)
        self._open: Counter[str] = Counter()  # allocations that may still come

    def observe(self, content: Content) -> None:
        match content:
            case RegistrationAnswered(status="OK"):
                self._nodes.clear()
                self._open.clear()
            case AskRequest(key=key, max_allocations=most):
                self._open[key_of(key)] += most
            case Released(identity=""):
                self._nodes.clear()
            case Updated(key=key) | Released(key=key):
                self._nodes.pop(key_of(key), None)
            case Placed(allocation=one):
                self._nodes.pop(key_of(one.key), None)
            case Allocated(key=key, node=node):
                self._nodes[key_of(key)].add(node)
                self._open[key_of(key)] -= 1
                if self._open[key_of(key)] <= 0:
                    del self._open[key_of(key)]
            case _:
                for one in recovered_in(content):
                    self._nodes[key_of(one.key)].add(one.node)

    def are_elsewhere(self, key: str, node: str) -> bool:
        """Return whether all of this key are known, and none is on the node."""
        nodes = self._nodes.get(key, set())
        return bool(nodes) and node not in nodes and key not in self._open


_NAMES: Final = SharedAnalysis(_Named)
_PLACING: Final = (*_OF_THE_RM, Allocated, Released)

_NewNameMonitor = partial(Monitor, outlives_registrations=True, about_new_names=True)

MONITORS: Final = (
    Monitor(
        callbacks_come_on_the_latest_offer,
        ("SI-CB-001",),
        observes=(
            *(*_CHECKS, SchedulingReported, CallbacksOffered, AskRequest, RegistrationAnswered),
        ),
        outlives_registrations=True,
    ),
    Monitor(
        checks_come_before_allocations,
        ("SI-CB-002",),
        observes=(*CALLS, Answered, CallbacksOffered, AskRequest, Updated, Allocated, *REPORTING),
    ),
    Monitor(
        no_ask_goes_unchecked_between_others,
        ("SI-CB-002",),
        observes=(*_CHECKS, CallbacksOffered, AskRequest, Updated, Allocated, *REPORTING),
    ),
    _NewNameMonitor(
        checks_name_an_ask_and_a_node,
        ("SI-CB-003",),
        observes=(
            *(*_PLACING, PlacementCheck, EvictionCheck, SchedulingReported, Assumed, Forgotten),
        ),
    ),
    _NewNameMonitor(
        eviction_checks_name_victims_of_the_node, ("SI-CB-005",), observes=(EvictionCheck,)
    ),
    _NewNameMonitor(container_states_name_an_ask, ("SI-CB-009",), observes=(SchedulingReported,)),
    _NewNameMonitor(
        synchronised_allocations_are_known, ("SI-CB-011",), observes=(Assumed, Forgotten)
    ),
)
