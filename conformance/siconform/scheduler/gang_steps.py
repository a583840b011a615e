"""Steps with gangs: what an RM requests for the members of its task groups."""

from collections.abc import Iterable
from typing import Any

from siconform.expecting.waits import WaitClass, waiting
from siconform.outcomes import ConformanceFailure
from siconform.protocol.matchers import ANY
from siconform.protocol.notifications import Termination, UpdateKind
from siconform.protocol.requests import AskReleaseRequest, AskRequest, ReleaseRequest
from siconform.protocol.subjects import AllOf, Identity, OneAllocation, OneAsk
from siconform.recording.history import Entry
from siconform.scheduler.actions import Actions
from siconform.scheduler.patterns import Sent


class GangSteps(Actions):
    """An ask with ``max_allocations`` stands for so many members, which a key is repeated for."""

    def awaits_node(self, node: str) -> None:
        """Wait until a node can be used: known, accepted and schedulable."""

        def find() -> list[str] | None:
            known = self.engine.behaviour.model.nodes.get(node)
            return [node] if known is not None and known.accepted and known.schedulable else None

        self._waits_for(find, f"{node} is schedulable")

    @property
    def has_one_stream(self) -> bool:
        """Whether one stream, and so one message, has everything (2021-02)."""
        return len({self.engine.dialect.method(kind) for kind in UpdateKind}) == 1

    def expects_members(self, application: str, count: int, **wanted: Any) -> list[AskRequest]:
        """Wait until so many members are requested, by asks with these fields; return the asks."""
        pattern = Sent(AskRequest, application=application, **wanted)
        limit = self.deadlines.ack + self.deadlines.place

        def find() -> list[AskRequest] | None:
            asks = latest(self.observed(pattern))
            return asks if len(keys_of(asks)) >= count else None

        what = f"{count} members by: {pattern}"
        with waiting(what, limit, WaitClass.ACK):
            found = self.exchange.history.look(find, limit)
        self._raise_problems()
        if found is None:
            came = len(keys_of(latest(self.observed(pattern))))
            message = f"{came} of {count} members were requested by: {pattern}"
            raise ConformanceFailure(message, expected=f"{what} within {limit:g} s")
        return found

    def expects_confirmation_of_ask(
        self, application: str, key: str, termination: Termination = ANY
    ) -> Entry:
        """Wait for the confirmation that an ask is released, by its key or for all of them.

        It has this type, if the revision has one for asks. One for all may confirm several, so it
        is not consumed.
        """
        kind = termination if self.engine.dialect.ask_releases_state_why else ANY
        by_itself: list[Sent[Any]] = [
            Sent(AskReleaseRequest, subject=OneAsk(application, key), termination=kind)
        ]
        everything: list[Sent[Any]] = [
            Sent(AskReleaseRequest, subject=AllOf(application), termination=kind)
        ]
        if self.engine.dialect.identity is Identity.KEY_OF_THE_ASK:  # one release covers both
            one = OneAllocation(application, key)
            by_itself.append(Sent(ReleaseRequest, subject=one, termination=kind))
            everything.append(Sent(ReleaseRequest, subject=AllOf(application), termination=kind))
        entry = self.expects_entry(*by_itself, *everything)
        self._taken = {
            i
            for i in self._taken
            if not any(one.matches(self._at(i).content) for one in everything)
        }
        return entry


def latest(asks: Iterable[AskRequest]) -> list[AskRequest]:
    """Return the asks without those that a later one of their key updates."""
    return list({ask.key: ask for ask in asks}.values())


def members(ask: AskRequest) -> int:
    """Return for how many members of a group an ask is."""
    return max(1, ask.max_allocations)


def keys_of(asks: Iterable[AskRequest]) -> list[str]:
    """Return the key of each member; that of an ask for several comes several times."""
    return [ask.key for ask in asks for _ in range(members(ask))]
