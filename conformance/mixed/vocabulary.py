"""What an RM of a revision says: messages built with that revision's own classes."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from google.protobuf.message import Message
from siwire import Capability, Revision, constants

from mixed.speech import (
    MEMORY,
    PARTITION,
    POLICY_GROUP,
    RM,
    Conversation,
    Item,
    NoWordsError,
    Utterance,
    has_field,
    identity_field,
    says_key_too,
)


class Vocabulary:
    """Everything that an RM of one revision may say; NoWordsError for what it cannot."""

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self._si: Final = revision.si
        self._one_stream: Final = revision.can(Capability.ONE_UPDATE_STREAM)

    # Registration

    def registration(self, config: str = "", settings: Mapping[str, str] | None = None) -> Message:
        """Of the one RM there is; a configuration where the revision can send it."""
        request: Message = self._si.RegisterResourceManagerRequest(
            rmID=RM, version=self.revision.name, policyGroup=POLICY_GROUP
        )
        if config:
            self._needs(request, "config", "a configuration of the RM's own")
            some: Any = request
            some.config = config
            some.extraConfig.update(settings or {})
        return request

    def opening(self, conversation: Conversation) -> Utterance:
        """The first message of a stream, which says nothing but whose it is."""
        return self._utterance(conversation)

    # Nodes

    def node(
        self,
        name: str,
        memory: int = 10,
        *,
        occupied: int = 0,
        existing: Iterable[Item] = (),
        attributes: Mapping[str, str] | None = None,
    ) -> Utterance:
        """A node comes."""
        utterance = self._utterance(Conversation.NODES)
        info = self._new_node(utterance, name)
        info.attributes.update(attributes or {})
        _amount(info.schedulableResource, memory)
        if occupied:
            self._needs(info, "occupiedResource", "what others occupy on a node")
            _amount(info.occupiedResource, occupied)
        for item in existing:
            self._needs(info, "existingAllocations", "the allocations a node comes with")
            self._fill_allocation(info.existingAllocations.add(), item)
        return utterance

    def closed_node(self, name: str, memory: int = 10) -> Utterance:
        """A node comes that takes nothing yet."""
        utterance = self._node_action(name, "CREATE_DRAIN", "a node that comes closed")
        _amount(_only(utterance.message.nodes).schedulableResource, memory)  # type: ignore[attr-defined]  # of three streams
        return utterance

    def node_update(self, name: str, memory: int) -> Utterance:
        """A node has other room."""
        utterance = self._node_action(name, "UPDATE", "an update of a node")
        message: Any = utterance.message
        info = _only(message.updatedNodes if self._one_stream else message.nodes)
        _amount(info.schedulableResource, memory)
        return utterance

    def drain(self, name: str) -> Utterance:
        """A node takes nothing more."""
        return self._node_action(name, "DRAIN_NODE", "draining")

    def undrain(self, name: str) -> Utterance:
        """A node is open again."""
        return self._node_action(name, "DRAIN_TO_SCHEDULABLE", "the end of draining")

    def decommission(self, name: str) -> Utterance:
        """A node goes."""
        return self._node_action(name, "DECOMISSION", "decommissioning")

    # Applications

    def application(
        self,
        name: str,
        queue: str = "root.plain",
        *,
        gang: int = 0,
        style: str = "",
        partition: str = PARTITION,
    ) -> Utterance:
        """An application comes; ``gang`` is the memory of all of its placeholders."""
        utterance = self._utterance(Conversation.APPLICATIONS)
        message: Any = utterance.message
        new = (message.newApplications if self._one_stream else message.new).add()
        new.applicationID, new.queueName = name, queue
        new.partitionName = partition
        new.ugi.user = "user"
        if gang:
            _amount(new.placeholderAsk, gang)
        if style:
            self._needs(new, "gangSchedulingStyle", "a style of gang scheduling")
            new.gangSchedulingStyle = style
        return utterance

    def removal(self, name: str) -> Utterance:
        """An application goes."""
        utterance = self._utterance(Conversation.APPLICATIONS)
        message: Any = utterance.message
        removals = message.removeApplications if self._one_stream else message.remove
        removals.add(applicationID=name, partitionName=PARTITION)
        return utterance

    # Asks and allocations

    def ask(self, item: Item) -> Utterance:
        """An ask; from 2024-10 on an allocation without a node."""
        utterance = self._utterance(Conversation.ALLOCATIONS)
        message: Any = utterance.message
        if not self.revision.can(Capability.ASKS_APART):
            if item.many > 1:
                raise NoWordsError("several allocations for one ask")
            self._fill_allocation(message.allocations.add(), item)
            return utterance
        ask = message.asks.add(
            allocationKey=item.key,
            applicationID=item.application,
            partitionName=PARTITION,
            maxAllocations=item.many,
            taskGroupName=item.task_group,
            placeholder=item.placeholder,
            tags=item.tags or {},
        )
        _amount(ask.resourceAsk, item.memory)
        self._fill_common(ask, item)
        return utterance

    def constrained_ask(self, item: Item) -> Utterance:
        """An ask for a node with the attribute ``disk`` of the value ``ssd``."""
        utterance = self.ask(item)
        if not self.revision.can(Capability.PLACEMENT_CONSTRAINTS):
            raise NoWordsError("placement constraints")
        ask = _only(utterance.message.asks)  # type: ignore[attr-defined]  # such a revision has it
        nodes = ask.placementConstraint.simpleConstraint.nodeAffinityConstraint
        nodes.targetExpressions.add(targetKey="disk", targetValues=["ssd"])
        return utterance

    def existing(self, item: Item) -> Utterance:
        """An allocation that exists, reported by itself."""
        utterance = self._utterance(Conversation.ALLOCATIONS)
        message: Any = utterance.message
        self._needs(message, "allocations", "an existing allocation without its node")
        self._fill_allocation(message.allocations.add(), item)
        return utterance

    def update(self, item: Item) -> Utterance:
        """What lives has another amount."""
        if self.revision.can(Capability.ASKS_APART):
            raise NoWordsError("another amount for an allocation that lives")
        return self.existing(item)

    def foreign(self, item: Item) -> Utterance:
        """An allocation that is not of this scheduler."""
        if constants.FOREIGN not in constants.KNOWN_IN[self.revision.name]:
            raise NoWordsError("foreign allocations")
        return self.existing(item)

    def identity(self, item: Item) -> str:
        """By what an RM of this revision knows an allocation that exists."""
        by_key = not self.revision.can(Capability.ASKS_APART)
        return item.key if by_key else item.identity

    def withdrawal(self, application: str, key: str) -> Utterance:
        """An ask is withdrawn."""
        utterance = self._utterance(Conversation.ALLOCATIONS)
        releases: Any = utterance.message.releases  # type: ignore[attr-defined]  # all have it
        if not self.revision.can(Capability.ASKS_APART):
            return self.release(application, key)
        release = releases.allocationAsksToRelease.add(
            applicationID=application, partitionName=PARTITION
        )
        name = "allocationKey" if has_field(release, "allocationKey") else "allocationkey"
        setattr(release, name, key)
        if has_field(release, "terminationType"):
            release.terminationType = self._termination("STOPPED_BY_RM")
        return utterance

    def release(
        self, application: str, identity: str, *, key: str = "", kind: str = "STOPPED_BY_RM"
    ) -> Utterance:
        """An allocation is released or its release confirmed; all of the application without one.

        ``key`` is said as well, where the revision has a field for it beside the identity.
        """
        utterance = self._utterance(Conversation.ALLOCATIONS)
        releases: Any = utterance.message.releases  # type: ignore[attr-defined]  # all have it
        release = releases.allocationsToRelease.add(
            applicationID=application,
            partitionName=PARTITION,
            terminationType=self._termination(kind),
        )
        setattr(release, identity_field(release), identity)
        if key:
            if not says_key_too(release):
                raise NoWordsError("a key beside the identity")
            release.allocationKey = key
        return utterance

    def utilisation(self, node: str, memory: int) -> Utterance:
        """What is really used."""
        utterance = self._utterance(Conversation.NODES)
        message: Any = utterance.message
        self._needs(message, "utilizationReports", "utilisation")
        _amount(message.utilizationReports.add(ID=node).actualUsedResource, memory)
        return utterance

    # Inside

    def _utterance(self, conversation: Conversation) -> Utterance:
        if self._one_stream:
            return Utterance(conversation, self._si.UpdateRequest(rmID=RM))
        name = conversation.value.removeprefix("Update") + "Request"
        return Utterance(conversation, getattr(self._si, name)(rmID=RM))

    def _new_node(self, utterance: Utterance, name: str) -> Any:
        message: Any = utterance.message
        if self._one_stream:
            return message.newSchedulableNodes.add(nodeID=name)
        return message.nodes.add(nodeID=name, action=self._si.NodeInfo.CREATE)

    def _node_action(self, name: str, action: str, what: str) -> Utterance:
        utterance = self._utterance(Conversation.NODES)
        message: Any = utterance.message
        nodes = message.updatedNodes if self._one_stream else message.nodes
        info = nodes.add(nodeID=name)
        actions = type(info).ActionFromRM
        if action not in actions.keys():  # noqa: SIM118  # it is no mapping
            raise NoWordsError(what)
        info.action = actions.Value(action)
        return utterance

    def _termination(self, name: str) -> int:
        holder = self._si.AllocationRelease if self._one_stream else self._si
        number: int = holder.TerminationType.Value(name)
        return number

    def _fill_allocation(self, message: Any, item: Item) -> None:
        message.allocationKey, message.applicationID = item.key, item.application
        message.nodeID, message.partitionName = item.node, PARTITION
        message.taskGroupName, message.placeholder = item.task_group, item.placeholder
        message.allocationTags.update(item.tags or {})
        _amount(message.resourcePerAlloc, item.memory)
        if item.identity and identity_field(message) != "allocationKey":
            setattr(message, identity_field(message), item.identity)
        self._fill_common(message, item)

    def _fill_common(self, message: Any, item: Item) -> None:
        if item.priority and self._one_stream:
            message.priority.priorityValue = item.priority
        elif item.priority:
            message.priority = item.priority
        if item.originator:
            name = "originator" if has_field(message, "originator") else "Originator"
            self._needs(message, name, "an originator")
            setattr(message, name, True)
        if item.opts_out:
            self._needs(message, "preemptionPolicy", "a preemption policy")
            message.preemptionPolicy.SetInParent()

    def _needs(self, message: Message, name: str, what: str) -> None:
        if not has_field(message, name):
            raise NoWordsError(what)


def _amount(resource: Any, memory: int) -> None:
    resource.resources[MEMORY].value = memory


def _only(items: Any) -> Any:
    (item,) = items
    return item
