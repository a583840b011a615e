"""A resource manager with gang applications, whose members use only memory."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sireference.core.model import AllocationRecord, Ask, Effect, Rules, Settings
from sireference.core.resources import Resource
from sireference.core.states import TerminationType
from tests.configuring import tree
from tests.driving import RM, TIMEOUT, identities

REPLACED = TerminationType.PLACEHOLDER_REPLACED
PREEMPTED = TerminationType.PREEMPTED_BY_SCHEDULER

QUEUES = tree(
    "{name: default}",
    "{name: other}",
    "{name: quota, resources: {max: {memory: 10}}}",
    "{name: parent, resources: {max: {memory: 10}}, queues: [{name: left}, {name: right}]}",
    "{name: one, maxapplications: 1}",
    "{name: fifo, properties: {application.sort.policy: fifo}}",
    "{name: fair, properties: {application.sort.policy: fair}}",
    "{name: stateaware, properties: {application.sort.policy: stateaware}}",
)
PLACEHOLDER_TIMEOUT = 60.0  # of a gang, for its placeholders
WAITING = 30.0  # of an application without allocations and asks


class Gangs(RM):
    """An RM whose applications have task groups; g1 and tg are the defaults."""

    def __init__(
        self,
        *,
        from_application: bool = False,
        turn: float | None = None,
        rules: Rules | None = None,
    ) -> None:
        settings = Settings(
            placeholder_timeout=PLACEHOLDER_TIMEOUT,
            completing_timeout=WAITING,
            placeholder_timeout_from_application=from_application,
        )
        if turn is not None:
            settings = replace(settings, gang_turn_timeout=turn)
        super().__init__(queues=QUEUES, settings=settings, rules=rules)

    def submits_gang(
        self,
        application_id: str = "g1",
        queue: str = "root.default",
        *,
        memory: int = 6,
        style: str = "",
        execution_timeout: float = 0.0,
    ) -> list[Effect]:
        """Add a gang; ``memory`` is the total of its placeholders."""
        return self.submits(
            application_id,
            queue,
            placeholder_ask=Resource({"memory": memory}),
            gang_style=style,
            execution_timeout=execution_timeout,
        )

    def asks_placeholder(self, key: str, *args: str, **more: Any) -> list[Effect]:
        return self.asks_member(key, *args, placeholder=True, **more)

    def asks_member(
        self,
        key: str,
        application_id: str = "g1",
        *,
        memory: int = 2,
        group: str = "tg",
        most: int = 1,
        **more: object,
    ) -> list[Effect]:
        of_group = {"task_group": group, **more}
        return self.asks(key, application_id, memory=memory, most=most, more=of_group)

    def has_gang(
        self, members: int = 1, application_id: str = "g1", *, memory: int = 2, **more: object
    ) -> list[str]:
        """Place ``members`` placeholders, each filling a node; return their identities.

        The nodes are named after the application: g1-n0, g1-n1 and so on.
        """
        self.submits_gang(application_id, memory=members * memory, **more)  # type: ignore[arg-type]
        placeholders: list[str] = []
        for number in range(members):
            self.creates(f"{application_id}-n{number}", memory=memory)
            effects = self.asks_placeholder(f"p{number}", application_id, memory=memory)
            placeholders += identities(effects)
        assert len(placeholders) == members
        return placeholders

    def has_half_a_gang(self, **more: object) -> list[str]:
        """Place two of three placeholders on nodes they fill; the third, p2, fits nowhere."""
        self.submits_gang(**more)  # type: ignore[arg-type]
        made: list[str] = []
        for number in range(3):
            made += identities(self.asks_placeholder(f"p{number}"))
            if number < 2:
                made += identities(self.creates(f"n{number}", memory=2))
        assert len(made) == 2
        return made

    def confirms(
        self, identity: str, termination: TerminationType = REPLACED, application_id: str = "g1"
    ) -> list[Effect]:
        return self.releases(identity, application_id, termination)

    def confirms_timeout_of(self, placeholders: Sequence[str]) -> list[Effect]:
        return [effect for identity in placeholders for effect in self.confirms(identity, TIMEOUT)]

    def replaces(self, placeholder: str, key: str) -> str:
        """Replace ``placeholder`` by a real ask; return the identity of its allocation."""
        self.asks_member(key)
        (identity,) = identities(self.confirms(placeholder))
        return identity

    def state(self, application_id: str = "g1") -> str:
        """Return the state of the application, finished or not."""
        applications, finished = self.partition.applications, self.partition.finished
        where = applications.get(application_id) or finished.get(application_id)
        return where.state.value if where else "gone"

    def is_empty(self) -> bool:
        """Return whether every node and queue is empty."""
        nodes, queues = self.partition.nodes.values(), self.partition.root.all()
        used = (*(node.allocated for node in nodes), *(queue.used for queue in queues))
        return all(amount.is_zero() for amount in used)


def existing(
    identity: str,
    node_id: str,
    *,
    group: str = "tg",
    placeholder: bool = True,
    memory: int = 2,
    application_id: str = "g1",
) -> AllocationRecord:
    """Return an allocation from before the restart."""
    ask = Ask(
        f"k-{identity}",
        application_id,
        resource=Resource({"memory": memory}),
        task_group=group,
        placeholder=placeholder,
    )
    return AllocationRecord(identity, ask, node_id)
