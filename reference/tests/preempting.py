"""An RM for tests of preemption: queues with guarantees."""

from collections.abc import Mapping
from typing import Any

from sireference.core.model import Effect, PreemptionPolicy
from sireference.core.states import TerminationType
from tests.driving import RM, identities, released

PREEMPTED = TerminationType.PREEMPTED_BY_SCHEDULER
ALLOWED = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=True)
OPTED_OUT = PreemptionPolicy(allow_preempt_self=False, allow_preempt_other=False)
VICTIM = PreemptionPolicy(allow_preempt_self=True, allow_preempt_other=False)
DELAY = 10.0

QUEUES = """
partitions:
  - name: default
    {partition}
    queues:
      - name: root
        submitacl: "*"
        properties: {{preemption.delay: 10s}}
        queues:
          - name: parent
            {parent}
            queues:
              - name: entitled
                resources: {{guaranteed: {{memory: 5}}}}
                properties: {{{entitled}}}
              - name: taking
                resources: {{guaranteed: {{memory: 3}}}}
                properties: {{{taking}}}
              - name: greedy
          - name: outside
          - name: spared
            properties: {{preemption.policy: disabled}}
"""


class Preempting(RM):
    """An RM whose application a1 is guaranteed 5 of memory; the others have no claim."""

    def __init__(
        self,
        *,
        partition: str = "",
        parent: str = "",
        entitled: str = "",
        taking: str = "",
        registers: bool = True,
    ) -> None:
        text = QUEUES.format(partition=partition, parent=parent, entitled=entitled, taking=taking)
        super().__init__(queues=text)
        if registers:
            self.submits("a1", "root.parent.entitled")
            self.submits("t1", "root.parent.taking")

    def takes(
        self,
        key: str,
        application_id: str = "t1",
        *,
        memory: int = 1,
        most: int = 1,
        **more: Any,
    ) -> list[str]:
        """Place allocations that are not the preemptor's; return their identities."""
        made = identities(self.asks(key, application_id, memory=memory, most=most, more=more))
        assert len(made) == most
        return made

    def claims(
        self,
        key: str = "claim",
        application_id: str = "a1",
        *,
        memory: int = 1,
        most: int = 1,
        policy: PreemptionPolicy | None = ALLOWED,
        **more: Any,
    ) -> list[Effect]:
        """Send an ask that may preempt; return the effects once its delay is over."""
        sent: Mapping[str, Any] = {"preemption_policy": policy, **more}
        effects = self.asks(key, application_id, memory=memory, most=most, more=sent)
        return effects + self.waits(DELAY)

    def confirms(self, identity: str, application_id: str = "t1") -> list[Effect]:
        return self.releases(identity, application_id, PREEMPTED)


def preempted(effects: list[Effect]) -> list[str]:
    """Return the identities of the victims."""
    return [identity for identity, kind in released(effects) if kind is PREEMPTED]


def of_two_types(rm: Preempting, **victims: tuple[int, int]) -> dict[str, str]:
    """Place victims by key, with memory and vcore; the parent has no vcore left, the node has."""
    rm.submits("g", "root.parent.greedy")
    made: dict[str, str] = {}
    for key, (memory, vcore) in victims.items():
        (made[key],) = identities(rm.asks(key, "g", resource={"memory": memory, "vcore": vcore}))
    return made
