"""An RM that has not registered yet, for what registration itself must do."""

from dataclasses import replace

from siconform.expecting.barriers import Barriers
from siconform.expecting.link import Link
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.connection import ConnectionSteps
from siconform.rm.steps.registration import RegistrationSteps
from siconform.rm.steps.scheduling_checks import SchedulingCheckSteps
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension


class UnregisteredRM(ResourceManager, SchedulingCheckSteps, ConnectionSteps, RegistrationSteps):
    """Registers when told to; everything else as any RM."""

    def under_name(self, rm_id: str) -> "UnregisteredRM":
        """An RM of this other id that speaks to the same scheduler; it leaves with this one."""
        connection = self.connection.another(rm_id)
        connection.connects(self.deadlines.connect)
        barriers = Barriers(connection, self.deadlines, self._link.barriers.behaviour)
        link = Link(connection, barriers, self._link.extension)
        other = UnregisteredRM(replace(self._endpoint, link=link))
        self.compensates(connection.close)
        return other

    def moves_to(self, connection: Connection, extension: Extension) -> None:
        """The scheduler was restarted: talk to it where it is now; nothing is registered there."""
        self.connection.close()
        self._link.connection = connection
        self._link.extension = extension
        self._link.barriers = Barriers(connection, self.deadlines, self._link.barriers.behaviour)
        self._synchronisation.forgets()
        self.discards_clean_up()
        connection.listeners.append(self.confirms_by_itself)

    def leaves(self) -> list[str]:
        """Clear up and cut the connection."""
        problems = super().leaves()
        self.connection.close()
        return problems

    def vanishes(self) -> None:
        """Cut the connection and leave everything as it is."""
        self.connection.close()
