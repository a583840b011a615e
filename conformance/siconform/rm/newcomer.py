"""An RM that has not registered yet, for what registration itself must do."""

from collections.abc import Mapping
from typing import Any

from siconform.outcomes import NotAsTheTextSays, NotForThisTarget
from siconform.rm.cluster import POLICY_GROUP, QueueConfiguration, conformance_queues
from siconform.rm.connection import Connection
from siconform.rm.extension import Extension
from siconform.rm.facts import Allocated, ApplicationAccepted, Kind, NodeAccepted, StreamEnded
from siconform.rm.fences import Fences
from siconform.rm.history import Registered
from siconform.rm.proposal import proposal
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.sayings import Registration


class Newcomer(ResourceManager):
    """Registers when told to; everything else as any RM."""

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

        A configuration that has a policy group is registered in that one.
        """
        queues = conformance_queues() if config is None else config
        own = queues.policy_group if isinstance(queues, QueueConfiguration) else POLICY_GROUP
        registration = Registration(
            rm=self.connection.rm_id if rm_id is None else rm_id,
            version=self.connection.revision.name if version is None else version,
            policy_group=own if policy_group is None else policy_group,
            config=queues,
            build_info=build_info or {},
            extra_config={**proposal(self.stated), **(extra_config or {})},
        )
        return self.connection.registers(registration, patience or self.patience.register)

    def is_registered(self, **request: Any) -> None:
        """Register, and fail unless that succeeds."""
        outcome = self.registers(**request)
        if outcome.status != "OK":
            raise _failed(outcome)
        self._fences.forget()

    def has_registered(self, **request: Any) -> None:
        """Given: a successful registration."""
        with self.premise("the RM registers"):
            self.is_registered(**request)

    def is_registered_again(self, **request: Any) -> None:
        """Register once more, and fail unless that succeeds.

        The scheduler may end the streams of the earlier registration; whatever is said after this
        goes to streams that are served. The call gets an acknowledgement's time, not the long
        patience of a first registration: a scheduler that hangs here is known.
        """
        limit = self.patience.ack * (1 + self.patience.grace)
        outcome = self.registers(patience=limit, **request)
        if outcome.status == "DEADLINE_EXCEEDED":
            raise NotAsTheTextSays(
                f"no answer to a second registration in {limit:g} s",
                expected="RegisterResourceManager succeeds for an RM that is registered already",
            )
        if outcome.status != "OK":
            raise _failed(outcome)
        self._fences.forget()
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

    def is_served(self) -> None:
        """On each stream: a node and an application are accepted, an ask is allocated."""
        node = self.registers_node()
        self.is_told(NodeAccepted(node))
        application = self.submits_application()
        self.is_told(ApplicationAccepted(application))
        self.is_told(Allocated(self.asks(application), node=node))

    def under_name(self, rm_id: str) -> "Newcomer":
        """An RM of this other id that speaks to the same scheduler; it leaves with this one."""
        connection = self.connection.another(rm_id)
        connection.connects(self.patience.connect)
        other = Newcomer(
            connection,
            self.exchange,
            Fences(connection, self.patience),
            self.patience,
            self._alive,
            prefix=self.prefix,
            timers=self.known,
            stated=self.stated,
            extension=self.extension,
        )
        self._compensates(connection.close)
        return other

    def moves_to(self, connection: Connection, extension: Extension) -> None:
        """The scheduler was restarted: talk to it where it is now; nothing is registered there."""
        self.connection.close()
        self.connection = connection
        self.extension = extension
        self._fences = Fences(connection, self.patience)
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
        self.connection.close()
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
