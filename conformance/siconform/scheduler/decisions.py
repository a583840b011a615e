"""Decisions of the simulated scheduler: placing, releasing, application states.

They are pure: time is an argument, and nothing is sent from here. Where a specification leaves a
choice, they are what RMs meet most: first fit, one release for each allocation.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from itertools import count
from typing import Final

from siconform.protocol.availability import omitting
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    ApplicationRejected,
    ApplicationUpdated,
    AskRejected,
    AskReleased,
    Fact,
    NodeAccepted,
    Released,
    Termination,
)
from siconform.protocol.requests import AskRequest
from siconform.protocol.subjects import Identity
from siconform.scheduler.model import Live, Model, Pending
from siconform.scheduler.switches import Switches
from siconform.transport.connection import BARRIER_PREFIX

OVER: Final = ("Completed", "Failing", "Failed", "Killed", "Expired")
_NOT_IN_EVERY_REVISION: Final = ("originator", "preemption_policy", "queue", "priority_class")
_NANOSECONDS: Final = 1_000_000_000

MayGo = Callable[[str, str], bool]
"""Whether a request, by its key, may go on a node."""


class Decisions:
    """The state of one registration, and what the scheduler decides by itself or for a test."""

    def __init__(
        self,
        identity: Identity = Identity.KEY_OF_THE_ASK,
        revision: str = "2024-10",
        switches: Switches | None = None,
        *,
        confirms_ask_releases: bool = True,
        completing: float = 30.0,
    ) -> None:
        self.model = Model()
        self.switches = switches or Switches()
        self._identity = identity
        self._revision = revision  # which has no field for some values of an allocation
        self.confirms_ask_releases = confirms_ask_releases
        self._completing = completing  # seconds from Completing to Completed
        self._numbers = count(1)
        self.held: list[Fact] = []
        self.now = 0.0

    def gives_held_verdicts(self, application: str = "") -> list[Fact]:
        """Return the verdicts held back so far; what they are about is accepted now.

        With ``application`` only the one on it.
        """
        every = self.held
        held = [one for one in every if application in ("", getattr(one, "application", None))]
        self.held = [one for one in every if one not in held]
        for fact in list(held):
            if isinstance(fact, NodeAccepted) and fact.node in self.model.nodes:
                self.model.nodes[fact.node].accepted = True
            if (
                isinstance(fact, ApplicationAccepted)
                and fact.application in self.model.applications
            ):
                self.model.applications[fact.application].accepted = True
                held += self.settles(fact.application)
        return held

    # placing

    def candidates(self) -> list[tuple[Pending, str]]:
        """Return each request with each node it fits on, in the order to try them."""
        if not self.switches.places:
            return []
        waiting = sorted(self._placeable(), key=lambda one: -one.ask.priority)
        return [(one, node) for one in waiting for node in self.nodes_for(one.ask)]

    def nodes_for(self, ask: AskRequest) -> list[str]:
        """Return the nodes that are schedulable and have the capacity for a request.

        Those of barriers are left out: an RM may create them first and drain them afterwards.
        """
        return [
            node.name
            for node in self.model.nodes.values()
            if node.schedulable and node.accepted and self.model.fits(node, ask.resource or {})
            if not node.name.startswith(BARRIER_PREFIX)
        ]

    def places(self, now: float, may_go: MayGo = lambda _key, _node: True) -> list[Fact]:
        """Replace placeholders, then place what fits; return the facts to send."""
        sent = self.replaces_placeholders(now)
        refused: set[tuple[str, str, str]] = set()
        while choice := self.choice(refused):
            pending, node = choice
            if may_go(pending.ask.key, node):
                sent += self.allocates(pending, node, now)
            else:
                refused.add((*pending.name, node))
        return sent

    def choice(self, refused: Container[tuple[str, str, str]]) -> tuple[Pending, str] | None:
        """Return the first candidate that was not refused."""
        fitting = self.candidates()
        return next((one for one in fitting if (*one[0].name, one[1]) not in refused), None)

    def replaces_placeholders(self, now: float) -> list[Fact]:
        """Release a placeholder for each pending real request of its task group."""
        self.now = now
        if not (self.switches.places and self.switches.replaces_placeholders):
            return []
        sent: list[Fact] = []
        for pending in list(self._placeable()):
            placeholder = self._placeholder_for(pending.ask)
            if placeholder is not None:
                pending.replaces = placeholder.allocation.identity
                sent += self.releases([placeholder], Termination.PLACEHOLDER_REPLACED)
        return sent

    def allocates(self, pending: Pending, node: str, now: float) -> list[Fact]:
        """Allocate a pending request on a node, whether or not it fits."""
        self.now = now
        ask = pending.ask
        pending.remaining -= 1
        pending.replaces = ""
        if pending.remaining <= 0:
            del self.model.pending[pending.name]
        allocation = Allocated(
            key=ask.key,
            application=ask.application,
            node=node,
            identity=self._identity_for(ask.key),
            resource=dict(ask.resource or {}),
            task_group=ask.task_group,
            placeholder=ask.placeholder,
            priority=ask.priority,
            tags=dict(ask.tags),
            partition=ask.partition,
            originator=ask.originator,
            preemption_policy=ask.preemption_policy,
            queue=self.model.queue_of(ask.application),
            priority_class=ask.priority_class,
        )
        for name in _NOT_IN_EVERY_REVISION:
            allocation = omitting(allocation, name, self._revision)
        self.model.live[allocation.identity] = Live(allocation)
        return [allocation, *self.settles(ask.application)]

    def _identity_for(self, key: str) -> str:
        if self._identity is Identity.KEY_OF_THE_ASK:
            return key
        names = (f"{key}-{number}" for number in self._numbers)
        return next(name for name in names if name not in self.model.live)

    # releases

    def releases(self, ended: Iterable[Live], termination: Termination) -> list[Fact]:
        """Release allocations; they end when the RM confirms."""
        sent: list[Fact] = []
        for live in ended:
            live.releasing = termination
            sent.append(release_of(live.allocation, termination))
        return sent

    def releases_requests(self, ended: Iterable[Pending], termination: Termination) -> list[Fact]:
        """Release pending requests; they are placed no more."""
        sent: list[Fact] = []
        for pending in ended:
            pending.releasing = termination
            sent.append(ask_release_of(pending.ask, termination))
        return sent

    def releases_all_of(self, application: str, termination: Termination) -> list[Fact]:
        """Release everything of an application by one release without identity."""
        for live in self.model.live_of(application):
            live.releasing = termination
        partition = self.model.applications[application].partition
        return [Released("", application, "", termination, "", partition)]

    def rejects(self, pending: Pending, reason: str) -> list[Fact]:
        """Reject a pending request."""
        del self.model.pending[pending.name]
        return [AskRejected(pending.ask.key, pending.ask.application, reason)]

    def rejects_application(self, application: str, reason: str) -> list[Fact]:
        """Reject an application whose verdict is held back, and its pending requests."""
        self.held.remove(ApplicationAccepted(application))
        del self.model.applications[application]
        self.model.gone.add(application)
        asks = [
            fact
            for pending in self.model.pending_of(application)
            for fact in self.rejects(pending, reason)
        ]
        return [ApplicationRejected(application, reason), *asks]

    def changes_state(self, application: str, state: str, message: str, now: float) -> list[Fact]:
        """Report a state of an application, known or not."""
        self.now = now
        if application in self.model.applications:
            self.model.applications[application].state = state
        return [ApplicationUpdated(application, state, round(now * _NANOSECONDS), message)]

    # timers

    def next_deadline(self) -> float | None:
        """Return when an application has to be completed."""
        due = [
            one.completing_since + self._completing
            for one in self.model.applications.values()
            if one.completing_since is not None
        ]
        return min(due, default=None)

    def elapses(self, now: float) -> list[Fact]:
        """Complete the applications that are due."""
        sent: list[Fact] = []
        for app in list(self.model.applications.values()):
            begun = app.completing_since
            if begun is not None and begun + self._completing <= now:
                app.completing_since = None
                sent += self.changes_state(app.name, "Completed", "", now)
        return sent

    # states and choices

    def settles(self, application: str) -> list[Fact]:
        """Return the states that follow from what an application has now."""
        app = self.model.applications.get(application)
        if app is None or not app.accepted or app.state in OVER or not self.switches.states:
            return []
        live, pending = self.model.live_of(application), self.model.pending_of(application)
        facts: list[Fact] = []
        if live or pending:
            app.completing_since = None
            if not app.state:
                facts += self.changes_state(application, "Accepted", "", self.now)
            if app.state != "Running" and any(not one.allocation.placeholder for one in live):
                facts += self.changes_state(application, "Running", "", self.now)
        elif app.state and app.completing_since is None:
            app.completing_since = self.now
            facts += self.changes_state(application, "Completing", "", self.now)
        return facts

    def _placeable(self) -> Iterator[Pending]:
        for pending in self.model.pending.values():
            app = self.model.applications.get(pending.ask.application)
            usable = app is not None and app.accepted and app.state not in OVER
            is_barrier = pending.ask.application.startswith(BARRIER_PREFIX)
            if usable and not is_barrier and pending.releasing is None and not pending.replaces:
                yield pending

    def _placeholder_for(self, ask: AskRequest) -> Live | None:
        if not ask.task_group or ask.placeholder:
            return None
        return next(
            (
                one
                for one in self.model.live_of(ask.application)
                if one.allocation.placeholder
                and one.allocation.task_group == ask.task_group
                and one.releasing is None
            ),
            None,
        )


def release_of(allocation: Allocated, termination: Termination) -> Released:
    """Return the release of an allocation."""
    return Released(
        allocation.key,
        allocation.application,
        allocation.identity,
        termination,
        "",
        allocation.partition,
    )


def ask_release_of(ask: AskRequest, termination: Termination) -> AskReleased:
    """Return the release of a pending request."""
    return AskReleased(ask.key, ask.application, termination, "", ask.partition)
