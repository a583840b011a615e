"""Steps with foreign allocations, those of other schedulers on the same nodes (2024-10 on)."""

from collections.abc import Mapping

from siwire.constants import ALLOC_TYPE_DEFAULT, ALLOC_TYPE_STATIC, FOREIGN

from siconform.protocol.notifications import AllocationRejected, Termination, UpdateKind
from siconform.protocol.requests import ForeignAllocationRequest, ReleaseRequest
from siconform.protocol.subjects import OneAllocation
from siconform.rm.clean_up import CleanUp
from siconform.rm.sender import DEFAULT_PARTITION, Sender, amounts

FOREIGN_TAGS: Mapping[str, str] = {FOREIGN: ALLOC_TYPE_DEFAULT}
STATIC_TAGS: Mapping[str, str] = {FOREIGN: ALLOC_TYPE_STATIC}


class ForeignSteps(CleanUp, Sender):
    """Foreign allocations: reported with a node, without application, and released by key."""

    def reports_foreign(
        self,
        node: str,
        *,
        key: str | None = None,
        memory: int = 1,
        vcore: int = 1,
        resources: Mapping[str, int] | None = None,
        tags: Mapping[str, str] = FOREIGN_TAGS,
        partition: str = DEFAULT_PARTITION,
    ) -> str:
        """Report a foreign allocation on a node; return its key, which updates it when reused."""
        foreign = self.new_name("foreign") if key is None else str(key)
        wanted = amounts(None, memory, vcore, {}) if resources is None else dict(resources)
        if key is None:
            self.compensates(lambda: self.releases_foreign(foreign))
        self.send(ForeignAllocationRequest(foreign, str(node), partition, wanted, dict(tags)))
        return foreign

    def has_foreign(self, node: str, *, memory: int, key: str | None = None) -> str:
        """Report a foreign allocation and wait until it is processed; return its key."""
        foreign = self.reports_foreign(node, key=key, memory=memory)
        self.barriers(UpdateKind.ALLOCATIONS)
        return foreign

    def is_taken(self, foreign: str) -> bool:
        """Return whether the last report of it is not rejected once processed."""
        return self.receive_if_any(AllocationRejected(foreign)) is None

    def releases_foreign(self, key: str, *, application: str = "") -> None:
        """Release it by its key; ``application`` is only for identifying it wrongly."""
        self.send(ReleaseRequest(OneAllocation(application, key, key), Termination.STOPPED_BY_RM))
