"""An RM that has not registered yet, for tests of registration."""

from dataclasses import replace

from siconform.expecting.barriers import Barriers
from siconform.expecting.link import Link
from siconform.rm.resource_manager import ResourceManager
from siconform.rm.steps.connection import ConnectionSteps
from siconform.rm.steps.partitions import PartitionSteps
from siconform.rm.steps.scheduling_checks import SchedulingCheckSteps
from siconform.transport.connection import Connection
from siconform.transport.extension import Extension


class UnregisteredRM(ResourceManager, SchedulingCheckSteps, ConnectionSteps, PartitionSteps):
    """An RM that registers explicitly; otherwise like any RM."""

    def under_name(self, rm_id: str) -> "UnregisteredRM":
        """Return an RM with another id on the same scheduler; it leaves with this one."""
        connection = self.connection.another(rm_id)
        connection.connects(self.deadlines.connect)
        barriers = Barriers(connection, self.deadlines, self._link.barriers.behaviour)
        link = Link(connection, barriers, self._link.extension)
        other = UnregisteredRM(replace(self._endpoint, link=link))
        self.compensates(connection.close)
        return other

    def moves_to(self, connection: Connection, extension: Extension) -> None:
        """Connect to the restarted scheduler, where nothing is registered."""
        self.connection.close()
        self._link.connection = connection
        self._link.extension = extension
        self._link.barriers = Barriers(connection, self.deadlines, self._link.barriers.behaviour)
        self._synchronisation.forgets()
        self.discards_clean_up()
        connection.listeners.append(self.confirms_by_itself)

    def leaves(self) -> list[str]:
        """Clean up and cut the connection."""
        problems = super().leaves()
        self.connection.close()
        return problems

    def vanishes(self) -> None:
        """Cut the connection without cleaning up."""
        self.connection.close()
