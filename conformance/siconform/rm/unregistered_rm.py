"""An RM that has not registered yet, for what registration itself must do."""

from collections.abc import Callable

from siconform.expecting.deadlines import Patience
from siconform.expecting.fences import Fences
from siconform.expecting.link import Link
from siconform.expecting.observed import Observed
from siconform.recording.history import Exchange
from siconform.rm.composition import adds_registration
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.verb import verb
from siconform.rm.verbs.connection import ConnectionVerbs
from siconform.rm.verbs.registration import RegistrationVerbs
from siconform.rm.verbs.served import ServedVerbs
from siconform.targets.profile import TargetProfile
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension


class Newcomer(ResourceManager):
    """Registers when told to; everything else as any RM."""

    def __init__(
        self,
        link: Link,
        exchange: Exchange,
        deadlines: Patience,
        alive: Callable[[], bool],
        *,
        prefix: str,
        profile: TargetProfile | None = None,
        observed: Observed | None = None,
    ) -> None:
        super().__init__(
            link, exchange, deadlines, alive, prefix=prefix, profile=profile, observed=observed
        )
        adds_registration(self.areas, self._at, self.profile)

    def under_name(self, rm_id: str) -> "Newcomer":
        """An RM of this other id that speaks to the same scheduler; it leaves with this one."""
        at = self._at
        connection = self.connection.another(rm_id)
        connection.connects(at.deadlines.connect)
        fences = Fences(connection, at.deadlines, at.link.fences.habits)
        other = Newcomer(
            Link(connection, fences, at.link.extension),
            at.exchange,
            at.deadlines,
            at.alive,
            prefix=at.sender.prefix,
            profile=self.profile,
            observed=at.observed,
        )
        at.clean_up.compensates(connection.close)
        return other

    def moves_to(self, connection: Connection, extension: Extension) -> None:
        """The scheduler was restarted: talk to it where it is now; nothing is registered there."""
        link = self._at.link
        link.connection.close()
        link.connection = connection
        link.extension = extension
        link.fences = Fences(connection, self._at.deadlines, link.fences.habits)
        self._at.fencing.forgets()
        self._at.clean_up.forgets()
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
