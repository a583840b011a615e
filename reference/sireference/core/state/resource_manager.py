"""Resource manager: its state, and the partitions of its current registration."""

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
    """The state of one registration; registering again creates another instance."""

    def __init__(
        self, register: Register, settings: Settings, identities: Identities, number: int = 0
    ) -> None:
        """Create it; ``number`` counts registrations of all resource managers."""
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
        """Add a partition."""
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
        """Remove ``partition`` with everything in it."""
        del self.partitions[partition.name]
        dissolve(partition)

    def move(self, trigger: RMTrigger) -> None:
        """Change the state by the table."""
        self.state = fire(RM_TRANSITIONS, self.state, trigger)

    def node(self, node_id: str) -> tuple[Partition, Node] | None:
        """Return the node with that id and its partition; ids are unique within an RM."""
        for partition in self.partitions.values():
            node = partition.nodes.get(node_id)
            if node is not None:
                return partition, node
        return None

    def clear(self) -> None:
        """Drop everything of the registration, including deadlines.

        Only identity and state remain, nothing that grows with what the RM had.
        """
        self.timers.clear()
        for partition in self.partitions.values():
            dissolve(partition)
        self.callbacks.offer(frozenset())
        group = self.register.policy_group
        self.register = Register(self.rm_id, Configuration(()), policy_group=group)
        self.partitions = {}
