"""Message types of several revisions that one function reads or writes.

Each name states the revisions that share these fields; mypy checks every one of them. Add a
revision that keeps a message unchanged to its name here.
"""

from typing import TypeAlias

from siwire.r2021_02 import si_pb2 as si2102
from siwire.r2023_04 import si_pb2 as si2304
from siwire.r2023_08 import si_pb2 as si2308
from siwire.r2023_12 import si_pb2 as si2312
from siwire.r2024_10 import si_pb2 as si2410
from siwire.r2026_04 import si_pb2 as si2604

# Requests

Registration: TypeAlias = (
    si2304.RegisterResourceManagerRequest
    | si2308.RegisterResourceManagerRequest
    | si2312.RegisterResourceManagerRequest
    | si2410.RegisterResourceManagerRequest
    | si2604.RegisterResourceManagerRequest
)
NodeRequest: TypeAlias = (
    si2304.NodeRequest
    | si2308.NodeRequest
    | si2312.NodeRequest
    | si2410.NodeRequest
    | si2604.NodeRequest
)
ApplicationRequest: TypeAlias = (
    si2304.ApplicationRequest
    | si2308.ApplicationRequest
    | si2312.ApplicationRequest
    | si2410.ApplicationRequest
    | si2604.ApplicationRequest
)
RecoveringRequest: TypeAlias = si2308.AllocationRequest | si2312.AllocationRequest
AllocationRequest: TypeAlias = si2304.AllocationRequest | RecoveringRequest
OneListRequest: TypeAlias = si2410.AllocationRequest | si2604.AllocationRequest

Resource: TypeAlias = (
    si2102.Resource
    | si2304.Resource
    | si2308.Resource
    | si2312.Resource
    | si2410.Resource
    | si2604.Resource
)
RecoveringNode: TypeAlias = si2304.NodeInfo | si2308.NodeInfo | si2312.NodeInfo
BareNode: TypeAlias = si2410.NodeInfo | si2604.NodeInfo
OccupiedNode: TypeAlias = si2102.NewNodeInfo | si2102.UpdateNodeInfo | RecoveringNode
Node: TypeAlias = OccupiedNode | BareNode
StyledApplication: TypeAlias = (
    si2304.AddApplicationRequest
    | si2308.AddApplicationRequest
    | si2312.AddApplicationRequest
    | si2410.AddApplicationRequest
    | si2604.AddApplicationRequest
)
NewApplication: TypeAlias = si2102.AddApplicationRequest | StyledApplication
Removal: TypeAlias = (
    si2102.RemoveApplicationRequest
    | si2304.RemoveApplicationRequest
    | si2308.RemoveApplicationRequest
    | si2312.RemoveApplicationRequest
    | si2410.RemoveApplicationRequest
    | si2604.RemoveApplicationRequest
)
Ask: TypeAlias = si2304.AllocationAsk | si2308.AllocationAsk | si2312.AllocationAsk
AskWithPolicy: TypeAlias = Ask | si2312.Allocation | si2410.Allocation | si2604.Allocation
AskRelease: TypeAlias = (
    si2304.AllocationAskRelease | si2308.AllocationAskRelease | si2312.AllocationAskRelease
)
AllocationWithUUID: TypeAlias = si2304.Allocation | si2308.Allocation
KeyedAllocation: TypeAlias = si2410.Allocation | si2604.Allocation
AllocationWithPolicy: TypeAlias = si2312.Allocation | KeyedAllocation
Allocation: TypeAlias = AllocationWithUUID | AllocationWithPolicy
ReleaseWithUUID: TypeAlias = si2304.AllocationRelease | si2308.AllocationRelease
ReleaseWithIdentity: TypeAlias = ReleaseWithUUID | si2312.AllocationRelease
KeyedRelease: TypeAlias = si2410.AllocationRelease | si2604.AllocationRelease
Release: TypeAlias = ReleaseWithIdentity | KeyedRelease

# Responses

NodeResponse: TypeAlias = (
    si2304.NodeResponse
    | si2308.NodeResponse
    | si2312.NodeResponse
    | si2410.NodeResponse
    | si2604.NodeResponse
)
ApplicationResponse: TypeAlias = (
    si2304.ApplicationResponse
    | si2308.ApplicationResponse
    | si2312.ApplicationResponse
    | si2410.ApplicationResponse
    | si2604.ApplicationResponse
)
ResponseWithUUID: TypeAlias = si2304.AllocationResponse | si2308.AllocationResponse
RecoveringResponse: TypeAlias = si2308.AllocationResponse | si2312.AllocationResponse
AllocationResponse: TypeAlias = si2304.AllocationResponse | RecoveringResponse
OneListResponse: TypeAlias = si2410.AllocationResponse | si2604.AllocationResponse

AcceptedNode: TypeAlias = (
    si2102.AcceptedNode
    | si2304.AcceptedNode
    | si2308.AcceptedNode
    | si2312.AcceptedNode
    | si2410.AcceptedNode
    | si2604.AcceptedNode
)
RejectedNode: TypeAlias = (
    si2102.RejectedNode
    | si2304.RejectedNode
    | si2308.RejectedNode
    | si2312.RejectedNode
    | si2410.RejectedNode
    | si2604.RejectedNode
)
AcceptedApplication: TypeAlias = (
    si2102.AcceptedApplication
    | si2304.AcceptedApplication
    | si2308.AcceptedApplication
    | si2312.AcceptedApplication
    | si2410.AcceptedApplication
    | si2604.AcceptedApplication
)
RejectedApplication: TypeAlias = (
    si2102.RejectedApplication
    | si2304.RejectedApplication
    | si2308.RejectedApplication
    | si2312.RejectedApplication
    | si2410.RejectedApplication
    | si2604.RejectedApplication
)
UpdatedApplication: TypeAlias = (
    si2102.UpdatedApplication
    | si2304.UpdatedApplication
    | si2308.UpdatedApplication
    | si2312.UpdatedApplication
    | si2410.UpdatedApplication
    | si2604.UpdatedApplication
)
RejectedAllocation: TypeAlias = (
    si2308.RejectedAllocation
    | si2312.RejectedAllocation
    | si2410.RejectedAllocation
    | si2604.RejectedAllocation
)
RejectedAsk: TypeAlias = (
    si2102.RejectedAllocationAsk
    | si2304.RejectedAllocationAsk
    | si2308.RejectedAllocationAsk
    | si2312.RejectedAllocationAsk
)
