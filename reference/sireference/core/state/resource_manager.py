"""One resource manager: its life, and the partitions of its present registration."""

from sireference.configuration.model import Configuration, PartitionConfig
from sireference.core.model import Register, Settings
from sireference.core.state.callbacks import Callbacks
from sireference.core.state.dissolution import dissolve
from sireference.core.state.identities import Identities
from sireference.core.state.node import Node
from sireference.core.state.partition import Partition
from sireference.core.state.timers import Timers
from sireference.core.states import RM_TRANSITIONS, RMState, RMTrigger, fire


class ResourceManager:
    """Everything a registration began; another registration of the RM begins another one."""

    def __init__(
        self, register: Register, settings: Settings, identities: Identities, number: int = 0
    ) -> None:
        """``number`` counts registrations, of all resource managers."""
        self.rm_id = register.rm_id
        self.number = number
        self.register = register
        self.settings = settings
        self.state = RMState.INIT
        self.timers = Timers()
        self.callbacks = Callbacks(self.rm_id, register.rules)
        self.partitions: dict[str, Partition] = {}
        self._identities = identities
        for config in register.configuration.partitions:
            self.add(config)

    def add(self, config: PartitionConfig) -> None:
        """Take a partition in."""
        self.partitions[config.name] = Partition(
            self.rm_id,
            config,
            self.settings,
            self.timers,
            self._identities,
            callbacks=self.callbacks,
            rules=self.register.rules,
        )

    def drop(self, partition: Partition) -> None:
        """``partition`` is over, with all that is in it."""
        del self.partitions[partition.name]
        dissolve(partition)

    def move(self, trigger: RMTrigger) -> None:
        """Change the state as the table says."""
        self.state = fire(RM_TRANSITIONS, self.state, trigger)

    def node(self, node_id: str) -> tuple[Partition, Node] | None:
        """The node of that id with its partition; ids are unique in all of an RM."""
        for partition in self.partitions.values():
            node = partition.nodes.get(node_id)
            if node is not None:
                return partition, node
        return None

    def clear(self) -> None:
        """Drop everything the registration began, its deadlines too.

        What is left says who it is and in which state, nothing that grows with what it had.
        """
        self.timers.clear()
        for partition in self.partitions.values():
            dissolve(partition)
        self.callbacks.offer(frozenset())
        group = self.register.policy_group
        self.register = Register(self.rm_id, Configuration(()), policy_group=group)
        self.partitions = {}
