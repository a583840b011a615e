"""The state that the rules share: the cluster, the knowledge, the connection."""

from dataclasses import dataclass, field

from sirm.core.cluster import Cluster
from sirm.core.knowledge import Knowledge
from sirm.core.model import Rules
from sirm.core.states import CONNECTION, ConnectionState, ConnectionTrigger, Verdict, fire


@dataclass(frozen=True)
class Settings:
    """How the RM behaves where the specification leaves it open."""

    attempts: int = 20  # registrations in a row that may fail
    first_delay: float = 0.1  # seconds until it registers again; doubled with every failure
    longest_delay: float = 10.0


@dataclass
class State:
    """State of one instance of the RM."""

    cluster: Cluster
    rules: Rules
    settings: Settings = field(default_factory=Settings)
    knowledge: Knowledge = field(default_factory=Knowledge)
    connection: ConnectionState = ConnectionState.UNREGISTERED
    failures: int = 0  # of the connection, since the scheduler last sent something
    register_at: float | None = None

    def move(self, trigger: ConnectionTrigger) -> None:
        """Apply a transition of the connection."""
        self.connection = fire(CONNECTION, self.connection, trigger)

    @property
    def is_registered(self) -> bool:
        """Return whether updates may be sent."""
        return self.connection is ConnectionState.REGISTERED

    def accepts_node(self, node_id: str) -> bool:
        """Return whether the scheduler has accepted this node."""
        return self.knowledge.nodes.get(node_id) is Verdict.ACCEPTED

    def accepts_application(self, application_id: str) -> bool:
        """Return whether the scheduler has accepted this application."""
        return self.knowledge.applications.get(application_id) is Verdict.ACCEPTED
