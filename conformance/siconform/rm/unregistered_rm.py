"""An RM that has not registered yet, for what registration itself must do."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from siconform.expecting.fences import Fences
from siconform.outcomes import NotAsTheTextSays, NotForThisTarget
from siconform.protocol.notifications import (
    Allocated,
    ApplicationAccepted,
    AskRejected,
    Kind,
    NodeAccepted,
    StreamEnded,
)
from siconform.protocol.queue_configurations import POLICY_GROUP, QueueConfiguration
from siconform.protocol.requests import Registration
from siconform.recording.history import Registered
from siconform.rm.resource_manager import ResourceManager
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension

_SEVERAL: Final = 3.0  # so many times the time of a registration another one may take


class Newcomer(ResourceManager):
    """Registers when told to; everything else as any RM."""

    _took = 0.0  # seconds of its longest registration

    def registers(
        self,
        *,
        config: str | None = None,
        version: str | None = None,
        policy_group: str | None = None,
        rm_id: str | None = None,
        build_info: Mapping[str, str] | None = None,
        extra_config: Mapping[str, str] | None = None,
        patience: float | None = None,
    ) -> Registered:
        """Call RegisterResourceManager and return how it ended; each value can be replaced.

        A configuration that has a policy group is registered in that one. NotOffered for one of
        the kit's own where the target takes another format, or none.
        """
        queues = self.terms.queues() if config is None else self.in_format_of_target(config)
        own = queues.policy_group if isinstance(queues, QueueConfiguration) else POLICY_GROUP
        registration = Registration(
            rm=self.connection.rm_id if rm_id is None else rm_id,
            version=self._version() if version is None else version,
            policy_group=own if policy_group is None else policy_group,
            config=queues,
            build_info=build_info or {},
            extra_config={
                **self.terms.proposal(self.stated, self.patience.scaled_by),
                **(extra_config or {}),
            },
        )
        history = self.exchange.history
        began = history.now()
        outcome = self.connection.registers(registration, patience or self.patience.register)
        if outcome.status == "OK":
            self._took = max(self._took, history.now() - began)
        return outcome

    def _version(self) -> str:
        """That of the revision, or what the target insists on."""
        told = self.terms.version
        return self.connection.revision.name if told is None else told

    def is_registered(self, **request: Any) -> None:
        """Register, and fail unless that succeeds."""
        outcome = self.registers(**request)
        if outcome.status != "OK":
            raise _failed(outcome)
        self.connection.opens_all()

    def was_answered_with_nothing(self) -> None:
        """The response to the registration is the empty message."""
        for entry in self.exchange.entries():
            is_response = isinstance(entry.content, Registered) and not entry.said_by_rm
            if is_response and entry.message is not None and entry.message.ByteSize():
                raise NotAsTheTextSays(
                    "the response has content",
                    expected="an empty RegisterResourceManagerResponse",
                    happened=entry.message.SerializeToString().hex(),
                )

    def has_registered(self, **request: Any) -> None:
        """Given: a successful registration."""
        with self.premise("the RM registers"):
            self.is_registered(**request)

    def is_registered_again(self, **request: Any) -> None:
        """Register once more, and fail unless that succeeds.

        The scheduler may end the streams of the earlier registration; whatever is said after this
        goes to streams that are served. The call gets several times the time of the first one, not
        all the patience there is for that: a scheduler that hangs here is known.
        """
        least = max(self.patience.ack * (1 + self.patience.grace), _SEVERAL * self._took)
        limit = min(least, self.patience.register)
        outcome = self.registers(patience=limit, **request)
        if outcome.status == "DEADLINE_EXCEEDED":
            raise NotAsTheTextSays(
                f"no answer to a second registration in {limit:g} s",
                expected="RegisterResourceManager succeeds for an RM that is registered already",
            )
        if outcome.status != "OK":
            raise _failed(outcome)
        for kind in Kind:
            if self.connection.is_open(kind):
                self.fences(kind)

    def has_registered_again(self, **request: Any) -> None:
        """Given: a second registration that succeeded."""
        with self.premise("the RM registers again"):
            self.is_registered_again(**request)

    def joins(self, **request: Any) -> None:
        """Given: a registration beside another RM; left out where the target serves only one."""
        outcome = self.registers(**request)
        if outcome.status == "OK":
            self.connection.opens_all()
        if outcome.status != "OK":
            raise NotForThisTarget(
                f"the target serves one RM at a time: {outcome.status} {outcome.details}".strip()
            )

    def is_accepted_in_the_policy_group_of_another(self) -> None:
        """Register with the policy group and configuration of the RM that is there already.

        Left out where a group of its own does not help either: one RM at a time.
        """
        outcome = self.registers()
        if outcome.status != "OK":
            self.joins(policy_group=f"{POLICY_GROUP}-of-its-own")
            raise NotAsTheTextSays(
                f"refused in a policy group another RM uses: {outcome.details or outcome.status}",
                expected="two RMs of the same configuration share a policy group",
                happened=f"{outcome}; accepted with a policy group of its own",
            )

    def is_refused_registration(self, **request: Any) -> Registered:
        """Register, and fail unless that is refused with an error status in time."""
        outcome = self.registers(**request)
        if outcome.status == "OK":
            raise NotAsTheTextSays(
                "the registration succeeded", expected="RegisterResourceManager fails"
            )
        if outcome.status == "DEADLINE_EXCEEDED":
            raise NotAsTheTextSays(
                f"no answer to the registration in {self.patience.register:g} s",
                expected="RegisterResourceManager fails",
            )
        return outcome

    def is_treated_as_told(self, outcome: Registered) -> None:
        """Served after a registration that succeeded, not served after one that failed."""
        if outcome.status == "DEADLINE_EXCEEDED":
            raise NotAsTheTextSays("the registration was not answered", expected="OK or an error")
        node = self.registers_node()
        if outcome.status == "OK":
            self.is_told(NodeAccepted(node))
        else:
            self.stays_quiet(NodeAccepted(node))

    def is_served_on_every_stream(self) -> None:
        """On each stream: a node and an application are accepted, an ask is allocated."""
        node = self.registers_node()
        self.is_told(NodeAccepted(node))
        application = self.submits_application()
        self.is_told(ApplicationAccepted(application))
        self.is_told(Allocated(self.asks(application), node=node))

    def is_as_before_once_replayed(self, forgets: Callable[[], None]) -> None:
        """What ``forgets`` makes the scheduler forget is as it was once all is said again.

        Of a node with 10: 3 are allocated, 2 are a placeholder's, and 6 more are asked for.
        """
        node = self.has_node(memory=10)
        app = self.has_application()
        normal = self.has_allocation(app, memory=3)
        gang = self.has_gang(members=1, memory=2)
        placeholder = self.has_placeholder(gang)
        pending = self.has_waiting_ask(app, memory=6)

        forgets()
        self.submits_application(app)
        self.submits_gang_again(gang)
        self.registers_node(node, existing=(normal, placeholder))
        self.is_told(NodeAccepted(node))
        self.passes_over(AskRejected(pending))  # the end of what it was before
        self.asks_again(pending)

        self.is_not_told(Allocated(pending))
        self.still_holds(normal)
        self.is_served(pending, node=node)
        self.is_told(Allocated(self.asks(app, memory=2), node=node))
        self.is_not_told(Allocated(self.asks(app)))

    def under_name(self, rm_id: str) -> "Newcomer":
        """An RM of this other id that speaks to the same scheduler; it leaves with this one."""
        connection = self.connection.another(rm_id)
        connection.connects(self.patience.connect)
        other = Newcomer(
            connection,
            self.exchange,
            Fences(connection, self.patience, self._fences.habits),
            self.patience,
            self._alive,
            prefix=self.prefix,
            timers=self.known,
            stated=self.stated,
            extension=self.extension,
            terms=self.terms,
            observed=self.seen_before,
        )
        self._compensates(connection.close)
        return other

    def moves_to(self, connection: Connection, extension: Extension) -> None:
        """The scheduler was restarted: talk to it where it is now; nothing is registered there."""
        self.connection.close()
        self.connection = connection
        self.extension = extension
        self._fences = Fences(connection, self.patience, self._fences.habits)
        self._unfenced.clear()
        self._compensations.clear()
        connection.listeners.append(self._confirms)

    def drops_its_streams(self) -> None:
        """Cut every stream; what is said next goes to a new one."""
        self.connection.drops_streams()
        self._unfenced.clear()

    def shuts_down(self) -> None:
        """Given: a voluntary shutdown; every stream is half-closed and seen to end."""
        for kind in Kind:
            self.connection.opens(kind)
        for kind in Kind:
            self.connection.half_closes(kind)
        with self.premise("half-closed streams end"):
            for kind in Kind:
                self.is_told(StreamEnded(kind))
        self._unfenced.clear()

    def loses_its_connection(self) -> None:
        """Everything between this RM and the scheduler breaks; it says nothing any more."""
        self.connection.close(self.patience.ack)
        self._unfenced.clear()
        self._compensations.clear()

    def is_turned_away(self, kind: Kind) -> None:
        """The stream of this kind ends with an error status."""
        ended = self.is_told(StreamEnded(kind))
        if ended.status == "OK":
            raise NotAsTheTextSays(
                f"the {kind.value} stream ended as if all were well", expected="an error status"
            )

    def leaves(self) -> list[str]:
        """Clear up and cut the connection."""
        problems = super().leaves()
        self.connection.close()
        return problems

    def vanishes(self) -> None:
        """Cut the connection and leave everything as it is."""
        self.connection.close()


def _failed(outcome: Registered) -> NotAsTheTextSays:
    return NotAsTheTextSays(
        f"registration failed: {outcome.status} {outcome.details}".strip(),
        expected="RegisterResourceManager succeeds",
    )
