"""Messages that several revisions have: under one name, with the fields they have in common.

A function that takes one of these serves every revision in it, and mypy looks at each. A new
revision joins where it still has the message as the functions use it.
"""

from siwire.r2021_02 import si_pb2 as si21
from siwire.r2023_04 import si_pb2 as si04
from siwire.r2023_08 import si_pb2 as si08
from siwire.r2023_12 import si_pb2 as si12

# from 2021-02 on
AcceptedApplication = (
    si21.AcceptedApplication
    | si04.AcceptedApplication
    | si08.AcceptedApplication
    | si12.AcceptedApplication
)
AcceptedNode = si21.AcceptedNode | si04.AcceptedNode | si08.AcceptedNode | si12.AcceptedNode
Allocation = si21.Allocation | si04.Allocation | si08.Allocation | si12.Allocation
AllocationRelease = (
    si21.AllocationRelease
    | si04.AllocationRelease
    | si08.AllocationRelease
    | si12.AllocationRelease
)
AllocationAsk = si21.AllocationAsk | si04.AllocationAsk | si08.AllocationAsk | si12.AllocationAsk
AddApplicationRequest = (
    si21.AddApplicationRequest
    | si04.AddApplicationRequest
    | si08.AddApplicationRequest
    | si12.AddApplicationRequest
)
AnyNode = si21.NewNodeInfo | si21.UpdateNodeInfo | si04.NodeInfo | si08.NodeInfo | si12.NodeInfo
EventRecord = si21.EventRecord | si04.EventRecord | si08.EventRecord | si12.EventRecord
PredicatesArgs = (
    si21.PredicatesArgs | si04.PredicatesArgs | si08.PredicatesArgs | si12.PredicatesArgs
)
RejectedAllocationAsk = (
    si21.RejectedAllocationAsk
    | si04.RejectedAllocationAsk
    | si08.RejectedAllocationAsk
    | si12.RejectedAllocationAsk
)
RejectedApplication = (
    si21.RejectedApplication
    | si04.RejectedApplication
    | si08.RejectedApplication
    | si12.RejectedApplication
)
RejectedNode = si21.RejectedNode | si04.RejectedNode | si08.RejectedNode | si12.RejectedNode
Resource = si21.Resource | si04.Resource | si08.Resource | si12.Resource
SchedulingState = (
    si21.UpdateContainerSchedulingStateRequest
    | si04.UpdateContainerSchedulingStateRequest
    | si08.UpdateContainerSchedulingStateRequest
    | si12.UpdateContainerSchedulingStateRequest
)
UpdatedApplication = (
    si21.UpdatedApplication
    | si04.UpdatedApplication
    | si08.UpdatedApplication
    | si12.UpdatedApplication
)

# from 2023-04 on
AllocationAskRelease = (
    si04.AllocationAskRelease | si08.AllocationAskRelease | si12.AllocationAskRelease
)
AllocationRequest = si04.AllocationRequest | si08.AllocationRequest | si12.AllocationRequest
ApplicationRequest = si04.ApplicationRequest | si08.ApplicationRequest | si12.ApplicationRequest
ChangeEventRecord = si04.EventRecord | si08.EventRecord | si12.EventRecord
KeyedAllocationRelease = si04.AllocationRelease | si08.AllocationRelease | si12.AllocationRelease
NodeInfo = si04.NodeInfo | si08.NodeInfo | si12.NodeInfo
NumberedAllocation = si04.Allocation | si08.Allocation | si12.Allocation
PreemptionPolicy = si04.PreemptionPolicy | si08.PreemptionPolicy | si12.PreemptionPolicy
PreemptionPredicatesArgs = (
    si04.PreemptionPredicatesArgs | si08.PreemptionPredicatesArgs | si12.PreemptionPredicatesArgs
)
RegisterResourceManagerRequest = (
    si04.RegisterResourceManagerRequest
    | si08.RegisterResourceManagerRequest
    | si12.RegisterResourceManagerRequest
)

# from 2023-08 on
DetailedEventRecord = si08.EventRecord | si12.EventRecord
RejectedAllocation = si08.RejectedAllocation | si12.RejectedAllocation

# until 2023-08
UuidAllocation = si04.Allocation | si08.Allocation
UuidAllocationRelease = si04.AllocationRelease | si08.AllocationRelease
UuidAllocationRequest = si04.AllocationRequest | si08.AllocationRequest
UuidNodeRequest = si04.NodeRequest | si08.NodeRequest
