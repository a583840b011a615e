"""A scripted session: a gang through replacement and completion, and through a restart.

It is written once; a `Speaker` sends it in messages of a revision.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from siwire import Capability, Revision
from tests.fields import asked, identity_in, recovers_by_allocations

QUEUES: Final = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: gangs
            resources: {max: {memory: 20}}
"""
QUEUE: Final = "root.gangs"
POLICY_GROUP: Final = "traces"
NODE, APPLICATION, ALLOCATION = "UpdateNode", "UpdateApplication", "UpdateAllocation"
Sent = tuple[str, dict[str, Any]]  # the stream, and the fields of the request


class Stage(Protocol):
    """The environment in which a session is played."""

    async def starts(self) -> None:
        """Start a scheduler with empty state; an earlier one is stopped."""

    async def registers(self, fields: Mapping[str, Any]) -> None:
        """Register the RM and open its streams."""

    async def send(self, sent: Sent) -> None:
        """Send this as the RM, and receive all that follows."""

    async def waits(self, milliseconds: int) -> None:
        """Let time pass, and receive all that follows."""

    def allocated(self, key: str) -> Any:
        """Return the last Allocation announced for that key."""


class Speaker:
    """Sends the RM's messages in one revision."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self._si = revision.si
        self._one_stream = revision.can(Capability.ONE_UPDATE_STREAM)
        self._identity = identity_in(revision)
        self.recovers_by_allocations = recovers_by_allocations(revision)
        self.recovers_with_nodes = revision.can(Capability.EXISTING_ALLOCATIONS_WITH_NODE)

    def registration(self) -> dict[str, Any]:
        config = self.revision.can(Capability.CONFIGURATION_IN_REGISTRATION)
        sent = {"config": QUEUES} if config else {}
        return {"version": self.revision.name, "policyGroup": POLICY_GROUP, **sent}

    def node(self, node_id: str, memory: int, *existing: Any) -> Sent:
        sent = {"nodeID": node_id, "schedulableResource": self._memory(memory)}
        if self._one_stream:
            new = self._si.NewNodeInfo(**sent, existingAllocations=existing)
            return "Update", {"newSchedulableNodes": [new]}
        info = self._si.NodeInfo
        more = {"existingAllocations": existing} if existing else {}
        return NODE, {"nodes": [info(**sent, action=info.CREATE, **more)]}

    def recovers(self, node_id: str, memory: int, *existing: Any) -> list[Sent]:
        """Add a node with existing allocations, in as many requests as it takes."""
        if self.recovers_with_nodes:
            return [self.node(node_id, memory, *existing)]
        return [self.node(node_id, memory), self.existing(*existing)]

    def application(self, application_id: str, gang: int) -> Sent:
        style = {"gangSchedulingStyle": "Hard"} if self.revision.can(Capability.GANG_STYLE) else {}
        new = self._si.AddApplicationRequest(
            applicationID=application_id,
            queueName=QUEUE,
            partitionName="default",
            ugi=self._si.UserGroupInformation(user="somebody", groups=["people"]),
            placeholderAsk=self._memory(gang),
            **style,
        )
        if self._one_stream:
            return "Update", {"newApplications": [new]}
        return APPLICATION, {"new": [new]}

    def asks(self, application_id: str, *keys: str, placeholder: bool) -> Sent:
        asks = [
            asked(
                self.revision,
                self._memory(2),
                allocationKey=key,
                applicationID=application_id,
                partitionName="default",
                tags={"role": key},
                taskGroupName="workers",
                placeholder=placeholder,
            )
            for key in keys
        ]
        return self._allocation_stream, {asks[0][0]: [ask for _, ask in asks]}

    def confirms(self, *placeholders: Any) -> Sent:
        return self._releases("PLACEHOLDER_REPLACED", placeholders)

    def stops(self, *allocations: Any) -> Sent:
        return self._releases("STOPPED_BY_RM", allocations)

    def _releases(self, termination: str, allocations: tuple[Any, ...]) -> Sent:
        type_of = self._si.AllocationRelease.DESCRIPTOR.fields_by_name["terminationType"]
        number = type_of.enum_type.values_by_name[termination].number
        releases = [
            self._si.AllocationRelease(
                partitionName="default",
                applicationID=one.applicationID,
                terminationType=number,
                **{self._identity: getattr(one, self._identity)},
            )
            for one in allocations
        ]
        request = self._si.AllocationReleasesRequest(allocationsToRelease=releases)
        return self._allocation_stream, {"releases": request}

    def existing(self, *allocations: Any) -> Sent:
        return ALLOCATION, {"allocations": allocations}

    @property
    def _allocation_stream(self) -> str:
        return "Update" if self._one_stream else ALLOCATION

    def _memory(self, amount: int) -> Any:
        return self._si.Resource(resources={"memory": self._si.Quantity(value=amount)})


async def play(stage: Stage, rm: Speaker) -> None:
    """Play the session; received messages only supply the identities that the RM names."""
    await stage.starts()
    await stage.registers(rm.registration())
    await stage.send(rm.node("n1", 10))
    await _a_gang_from_beginning_to_end(stage, rm)
    await _a_gang_that_survives_the_scheduler(stage, rm)


async def _a_gang_from_beginning_to_end(stage: Stage, rm: Speaker) -> None:
    await stage.send(rm.application("whole", gang=4))
    await stage.send(rm.asks("whole", "p1", "p2", placeholder=True))
    await stage.send(rm.asks("whole", "r1", "r2", placeholder=False))
    await stage.send(rm.confirms(*map(stage.allocated, ("p1", "p2"))))
    await stage.send(rm.stops(*map(stage.allocated, ("r1", "r2"))))
    await stage.waits(30_000)


async def _a_gang_that_survives_the_scheduler(stage: Stage, rm: Speaker) -> None:
    await stage.send(rm.application("parted", gang=4))
    await stage.send(rm.asks("parted", "p3", "p4", placeholder=True))
    await stage.send(rm.asks("parted", "r3", placeholder=False))
    replaced, left = map(stage.allocated, ("p3", "p4"))
    await stage.send(rm.confirms(replaced))
    real = stage.allocated("r3")

    await stage.starts()
    await stage.registers(rm.registration())
    await stage.send(rm.application("parted", gang=4))
    if rm.recovers_by_allocations:
        for sent in rm.recovers("n1", 10, real):
            await stage.send(sent)
        await stage.send(rm.existing(left))
    else:
        await stage.send(rm.node("n1", 10, real, left))
    for sent in rm.recovers("n1", 10, real, left):  # again: it is a duplicate
        await stage.send(sent)
    await stage.send(rm.asks("parted", "r4", placeholder=False))
    await stage.send(rm.confirms(left))
    await stage.send(rm.stops(real, stage.allocated("r4")))
    await stage.waits(30_000)
