"""An RM that has not registered yet, for what registration itself must do."""

from collections.abc import Callable

from siconform.expecting.deadlines import Deadlines
from siconform.expecting.fences import Fences
from siconform.expecting.link import Link
from siconform.expecting.target_habits import TargetHabits
from siconform.recording.history import Exchange
from siconform.rm.composition import add_registration
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.verb import verb
from siconform.rm.verbs.connection import ConnectionVerbs
from siconform.rm.verbs.registration import RegistrationVerbs
from siconform.rm.verbs.served import ServedVerbs
from siconform.targets.profile import TargetProfile
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension


class UnregisteredRM(ResourceManager):
    """Registers when told to; everything else as any RM."""

    def __init__(
        self,
        link: Link,
        exchange: Exchange,
        deadlines: Deadlines,
        alive: Callable[[], bool],
        *,
        prefix: str,
        profile: TargetProfile | None = None,
        observed: TargetHabits | None = None,
    ) -> None:
        super().__init__(
            link, exchange, deadlines, alive, prefix=prefix, profile=profile, observed=observed
        )
        add_registration(self.areas, self._endpoint, self.profile)

    def under_name(self, rm_id: str) -> "UnregisteredRM":
        """An RM of this other id that speaks to the same scheduler; it leaves with this one."""
        endpoint = self._endpoint
        connection = self.connection.another(rm_id)
        connection.connects(endpoint.deadlines.connect)
        fences = Fences(connection, endpoint.deadlines, endpoint.link.fences.habits)
        other = UnregisteredRM(
            Link(connection, fences, endpoint.link.extension),
            endpoint.exchange,
            endpoint.deadlines,
            endpoint.alive,
            prefix=endpoint.sender.prefix,
            profile=self.profile,
            observed=endpoint.observed,
        )
        endpoint.clean_up.compensates(connection.close)
        return other

    def moves_to(self, connection: Connection, extension: Extension) -> None:
        """The scheduler was restarted: talk to it where it is now; nothing is registered there."""
        link = self._endpoint.link
        link.connection.close()
        link.connection = connection
        link.extension = extension
        link.fences = Fences(connection, self._endpoint.deadlines, link.fences.habits)
        self._endpoint.fencing.forgets()
        self._endpoint.clean_up.forgets()
        connection.listeners.append(self._confirmations.hears)

    def leaves(self) -> list[str]:
        """Clear up and cut the connection."""
        problems = super().leaves()
        self.connection.close()
        return problems

    def vanishes(self) -> None:
        """Cut the connection and leave everything as it is."""
        self.connection.close()

    registers = verb(RegistrationVerbs, RegistrationVerbs.registers)
    is_registered = verb(RegistrationVerbs, RegistrationVerbs.is_registered)
    was_answered_with_nothing = verb(RegistrationVerbs, RegistrationVerbs.was_answered_with_nothing)
    has_registered = verb(RegistrationVerbs, RegistrationVerbs.has_registered)
    is_registered_again = verb(RegistrationVerbs, RegistrationVerbs.is_registered_again)
    has_registered_again = verb(RegistrationVerbs, RegistrationVerbs.has_registered_again)
    joins = verb(RegistrationVerbs, RegistrationVerbs.joins)
    is_accepted_in_the_policy_group_of_another = verb(
        RegistrationVerbs, RegistrationVerbs.is_accepted_in_the_policy_group_of_another
    )
    is_refused_registration = verb(RegistrationVerbs, RegistrationVerbs.is_refused_registration)

    is_treated_as_told = verb(ServedVerbs, ServedVerbs.is_treated_as_told)
    is_served_on_every_stream = verb(ServedVerbs, ServedVerbs.is_served_on_every_stream)
    is_as_before_once_replayed = verb(ServedVerbs, ServedVerbs.is_as_before_once_replayed)

    drops_its_streams = verb(ConnectionVerbs, ConnectionVerbs.drops_its_streams)
    shuts_down = verb(ConnectionVerbs, ConnectionVerbs.shuts_down)
    loses_its_connection = verb(ConnectionVerbs, ConnectionVerbs.loses_its_connection)
    is_turned_away = verb(ConnectionVerbs, ConnectionVerbs.is_turned_away)
