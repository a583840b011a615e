"""Permitted variants of when a scheduler works: in turns, after a rest, a few at a time."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from sireference.core import nodes, scheduler, scheduling_pass
from sireference.core.model import Effect, NewAllocation
from sireference.core.state.node_index import NodeIndex
from sireference.core.state.service_order import next_ask_group
from sireference.core.states import NodeState

from mutation.inside import Patch
from mutation.mutant import variant
from mutation.variants.traffic import APPLICATIONS, NODES, reports

_BETWEEN: Final = 0.3  # seconds, between placements
_TURN: Final = 0.25  # of an application
_WARM_UP: Final = 2.0
_WORK, _PAUSE = 0.4, 0.8
_REST: Final = 1.5  # of a new node
_MOST: Final = 0.5  # that a report takes


@variant("places-three-a-second", "There are 0.3 s between two placements.", is_slow=True)
def _(patch: Patch) -> None:
    next_at: dict[int, tuple[Any, float]] = {}  # by partition

    def due(partition: Any, _: Any, now: float) -> float:
        return next_at.get(id(partition), (partition, now))[1]

    def done(partition: Any, effects: list[Effect], now: float) -> None:
        if any(isinstance(effect, NewAllocation) for effect in effects):
            next_at[id(partition)] = (partition, now + _BETWEEN)

    _serves_when(patch, due, done)


@variant(
    "one-application-at-a-time",
    "Each quarter of a second one application is served, and no other.",
    is_slow=True,
)
def _(patch: Patch) -> None:
    turn: dict[int, tuple[Any, float]] = {}  # the application served, by partition, and until when

    def due(partition: Any, ask_group: Any, now: float) -> float:
        application, until = turn.get(id(partition), (None, now))
        if ask_group.application is application:
            return now
        if until <= now:
            turn[id(partition)] = (ask_group.application, now + _TURN)
        return until

    _serves_when(patch, due)


def _serves_when(
    patch: Patch,
    due: Callable[[Any, Any, float], float],
    done: Callable[[Any, list[Effect], float], None] = lambda *_: None,
) -> None:
    """Serve the next group of a partition at the time ``due`` gives; tell ``done`` the effects."""

    def run(_original: Callable[..., Any], partition: Any, now: float) -> list[Effect]:
        effects: list[Effect] = []
        while not partition.proposals and (group := next_ask_group(partition.root)) is not None:
            at = due(partition, group, now)
            if now < at:
                patch.fires()
                partition.timers.set(at, lambda _: [])  # at each expired deadline there is a pass
                break
            step = scheduling_pass.step(partition, group, now)
            group.application.done_with_notified()
            done(partition, step, now)
            effects += step
        return effects

    patch.instead_of(scheduling_pass.run, run)


@variant(
    "warms-up-for-two-seconds", "Nothing is placed for 2 s after a registration.", is_slow=True
)
def _(patch: Patch) -> None:
    ready: dict[int, tuple[Any, float]] = {}  # by RM

    def due(rm: Any, now: float) -> float:
        return ready.setdefault(id(rm), (rm, now + _WARM_UP))[1]

    _waits_until(patch, due)


@variant(
    "pauses-now-and-then",
    "The scheduler places requests for 0.4 s, then pauses for 0.8 s, and so on.",
    is_slow=True,
)
def _(patch: Patch) -> None:
    def due(_: Any, now: float) -> float:
        into = now % (_WORK + _PAUSE)
        return now if into < _WORK else now - into + _WORK + _PAUSE

    _waits_until(patch, due)


def _waits_until(patch: Patch, due: Callable[[Any, float], float]) -> None:
    """Have no scheduling pass before the time that ``due`` gives for an RM."""

    def run(original: Callable[..., Any], rm: Any, now: float) -> Any:
        at = due(rm, now)
        if now >= at:
            return original(rm, now)
        patch.fires()
        rm.timers.set(at, lambda _: [])
        return []

    patch.instead_of(scheduler.run_pass, run)


class _Rests:
    """Nodes that joined or became schedulable a short while ago, and are not used yet."""

    def __init__(self, patch: Patch) -> None:
        self._inside = patch
        self._resting: dict[int, Any] = {}
        self._starting: list[tuple[Any, float]] = []  # timers, and the time

    def opens(self, original: Callable[..., Any], *args: Any) -> Any:
        """Have what becomes schedulable meanwhile rest."""
        self._starting.append((args[0].timers, args[-1]))
        try:
            return original(*args)
        finally:
            self._starting.pop()

    def changes(self, original: Callable[..., Any], partition: Any, node: Any, *args: Any) -> Any:
        """Have a node rest that is not schedulable before the change."""
        if node.state is NodeState.SCHEDULABLE:
            return original(partition, node, *args)
        return self.opens(original, partition, node, *args)

    def freed(self, original: Callable[..., Any], index: NodeIndex, node: Any) -> None:
        """Use a node later if it has to rest."""
        if self._starting and id(node) not in self._resting:
            timers, now = self._starting[-1]
            self._resting[id(node)] = node
            timers.set(now + _REST, lambda _: self._used(original, index, node))
            self._inside.fires()
        else:
            self.unless_resting(original, index, node)

    def unless_resting(self, original: Callable[..., Any], index: NodeIndex, node: Any) -> None:
        """Tell the index of a node that it knows."""
        if id(node) not in self._resting:
            original(index, node)

    def _used(self, original: Callable[..., Any], index: NodeIndex, node: Any) -> list[Effect]:
        del self._resting[id(node)]
        if node.state is NodeState.SCHEDULABLE:
            original(index, node)
        return []


@variant(
    "new-nodes-rest",
    "A node is used 1.5 s after it joined or became schedulable again.",
    is_slow=True,
)
def _(patch: Patch) -> None:
    rests = _Rests(patch)
    patch.instead_of(nodes.create, rests.opens)
    patch.instead_of(nodes.change, rests.changes)
    patch.instead_of(NodeIndex.capacity_freed, rests.freed)
    patch.instead_of(NodeIndex.capacity_used, rests.unless_resting)


@variant(
    "reports-take-their-time",
    "A report takes up to half a second; those of one stream stay in order.",
    is_slow=True,
)
def _(patch: Patch) -> None:
    random = Random(1)  # noqa: S311  # no secret
    last: dict[tuple[str, bool, bool], float] = {}  # by RM and stream

    def moment(effect: Effect, now: float) -> float:
        stream = effect.rm_id, isinstance(effect, NODES), isinstance(effect, APPLICATIONS)
        last[stream] = max(last.get(stream, now), now + random.uniform(0.0, _MOST))
        return last[stream]

    reports(patch, moment)
