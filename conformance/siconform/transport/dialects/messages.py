"""Unions of the same message of several revisions, with their common fields.

A function that takes a union serves all its revisions, and mypy checks each. A new revision is
added if it still has the message as the functions use it.
"""

from siwire.r2021_02 import si_pb2 as si21
from siwire.r2023_04 import si_pb2 as si04
from siwire.r2023_08 import si_pb2 as si08
from siwire.r2023_12 import si_pb2 as si12
from siwire.r2024_10 import si_pb2 as si24
from siwire.r2026_04 import si_pb2 as si26

# from 2021-02 on
AcceptedApplication = (
    si21.AcceptedApplication
    | si04.AcceptedApplication
    | si08.AcceptedApplication
    | si12.AcceptedApplication
    | si24.AcceptedApplication
    | si26.AcceptedApplication
)
AcceptedNode = (
    si21.AcceptedNode
    | si04.AcceptedNode
    | si08.AcceptedNode
    | si12.AcceptedNode
    | si24.AcceptedNode
    | si26.AcceptedNode
)
Allocation = (
    si21.Allocation
    | si04.Allocation
    | si08.Allocation
    | si12.Allocation
    | si24.Allocation
    | si26.Allocation
)
AllocationRelease = (
    si21.AllocationRelease
    | si04.AllocationRelease
    | si08.AllocationRelease
    | si12.AllocationRelease
    | si24.AllocationRelease
    | si26.AllocationRelease
)
AddApplicationRequest = (
    si21.AddApplicationRequest
    | si04.AddApplicationRequest
    | si08.AddApplicationRequest
    | si12.AddApplicationRequest
    | si24.AddApplicationRequest
    | si26.AddApplicationRequest
)
AnyNode = (
    si21.NewNodeInfo
    | si21.UpdateNodeInfo
    | si04.NodeInfo
    | si08.NodeInfo
    | si12.NodeInfo
    | si24.NodeInfo
    | si26.NodeInfo
)
EventRecord = (
    si21.EventRecord
    | si04.EventRecord
    | si08.EventRecord
    | si12.EventRecord
    | si24.EventRecord
    | si26.EventRecord
)
PredicatesArgs = (
    si21.PredicatesArgs
    | si04.PredicatesArgs
    | si08.PredicatesArgs
    | si12.PredicatesArgs
    | si24.PredicatesArgs
    | si26.PredicatesArgs
)
RejectedApplication = (
    si21.RejectedApplication
    | si04.RejectedApplication
    | si08.RejectedApplication
    | si12.RejectedApplication
    | si24.RejectedApplication
    | si26.RejectedApplication
)
RejectedNode = (
    si21.RejectedNode
    | si04.RejectedNode
    | si08.RejectedNode
    | si12.RejectedNode
    | si24.RejectedNode
    | si26.RejectedNode
)
RemoveApplicationRequest = (
    si21.RemoveApplicationRequest
    | si04.RemoveApplicationRequest
    | si08.RemoveApplicationRequest
    | si12.RemoveApplicationRequest
    | si24.RemoveApplicationRequest
    | si26.RemoveApplicationRequest
)
Resource = (
    si21.Resource | si04.Resource | si08.Resource | si12.Resource | si24.Resource | si26.Resource
)
SchedulingState = (
    si21.UpdateContainerSchedulingStateRequest
    | si04.UpdateContainerSchedulingStateRequest
    | si08.UpdateContainerSchedulingStateRequest
    | si12.UpdateContainerSchedulingStateRequest
    | si24.UpdateContainerSchedulingStateRequest
    | si26.UpdateContainerSchedulingStateRequest
)
UpdatedApplication = (
    si21.UpdatedApplication
    | si04.UpdatedApplication
    | si08.UpdatedApplication
    | si12.UpdatedApplication
    | si24.UpdatedApplication
    | si26.UpdatedApplication
)

# from 2023-04 on
ApplicationRequest = (
    si04.ApplicationRequest
    | si08.ApplicationRequest
    | si12.ApplicationRequest
    | si24.ApplicationRequest
    | si26.ApplicationRequest
)
ChangeEventRecord = (
    si04.EventRecord | si08.EventRecord | si12.EventRecord | si24.EventRecord | si26.EventRecord
)
KeyedAllocationRelease = (
    si04.AllocationRelease
    | si08.AllocationRelease
    | si12.AllocationRelease
    | si24.AllocationRelease
    | si26.AllocationRelease
)
NodeInfo = si04.NodeInfo | si08.NodeInfo | si12.NodeInfo | si24.NodeInfo | si26.NodeInfo
NumberedAllocation = (
    si04.Allocation | si08.Allocation | si12.Allocation | si24.Allocation | si26.Allocation
)
PreemptionPolicy = (
    si04.PreemptionPolicy
    | si08.PreemptionPolicy
    | si12.PreemptionPolicy
    | si24.PreemptionPolicy
    | si26.PreemptionPolicy
)
PreemptionPredicatesArgs = (
    si04.PreemptionPredicatesArgs
    | si08.PreemptionPredicatesArgs
    | si12.PreemptionPredicatesArgs
    | si24.PreemptionPredicatesArgs
    | si26.PreemptionPredicatesArgs
)
RegisterResourceManagerRequest = (
    si04.RegisterResourceManagerRequest
    | si08.RegisterResourceManagerRequest
    | si12.RegisterResourceManagerRequest
    | si24.RegisterResourceManagerRequest
    | si26.RegisterResourceManagerRequest
)

StyledApplication = (
    si04.AddApplicationRequest
    | si08.AddApplicationRequest
    | si12.AddApplicationRequest
    | si24.AddApplicationRequest
    | si26.AddApplicationRequest
)

# from 2023-08 on
DetailedEventRecord = si08.EventRecord | si12.EventRecord | si24.EventRecord | si26.EventRecord
RejectedAllocation = (
    si08.RejectedAllocation
    | si12.RejectedAllocation
    | si24.RejectedAllocation
    | si26.RejectedAllocation
)

# until 2023-08
UuidAllocation = si04.Allocation | si08.Allocation
UuidAllocationRelease = si04.AllocationRelease | si08.AllocationRelease
UuidAllocationRequest = si04.AllocationRequest | si08.AllocationRequest
UuidNodeInfo = si04.NodeInfo | si08.NodeInfo
UuidNodeRequest = si04.NodeRequest | si08.NodeRequest

# until 2023-12
AllocationAsk = si21.AllocationAsk | si04.AllocationAsk | si08.AllocationAsk | si12.AllocationAsk
RejectedAllocationAsk = (
    si21.RejectedAllocationAsk
    | si04.RejectedAllocationAsk
    | si08.RejectedAllocationAsk
    | si12.RejectedAllocationAsk
)
AllocationAskRelease = (
    si04.AllocationAskRelease | si08.AllocationAskRelease | si12.AllocationAskRelease
)
AllocationRequest = si04.AllocationRequest | si08.AllocationRequest | si12.AllocationRequest
PreemptableAsk = si04.AllocationAsk | si08.AllocationAsk | si12.AllocationAsk
OccupiedNode = si04.NodeInfo | si08.NodeInfo | si12.NodeInfo

# from 2024-10 on
KeyedAllocation = si24.Allocation | si26.Allocation
KeyedAllocationRequest = si24.AllocationRequest | si26.AllocationRequest
KeyedNodeInfo = si24.NodeInfo | si26.NodeInfo
KeyedNodeRequest = si24.NodeRequest | si26.NodeRequest

# asks up to 2023-12, allocations from then on
WithPolicy = PreemptableAsk | si12.Allocation | KeyedAllocation
