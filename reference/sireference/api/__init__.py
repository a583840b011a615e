"""The SI as an API: the scheduler and its resource managers in one process, without gRPC.

``SchedulerAPI`` is what all revisions from 2023-04 on call so, ``OneStreamAPI`` the one of 2021-02.
Messages are those of ``siwire`` in the revision the scheduler was made for. docs/api.md has an
example, and the rules for threads and time.
"""

from sireference.api.callback import (
    CachePlugin,
    ContainerStatePlugin,
    EventPlugin,
    OneStreamCallback,
    PredicatesPlugin,
    PreemptionPredicatesPlugin,
    ResourceManagerCallback,
    SIError,
    StateDumpPlugin,
)
from sireference.api.scheduler import OneStreamAPI, SchedulerAPI

__all__ = [
    "CachePlugin",
    "ContainerStatePlugin",
    "EventPlugin",
    "OneStreamAPI",
    "OneStreamCallback",
    "PredicatesPlugin",
    "PreemptionPredicatesPlugin",
    "ResourceManagerCallback",
    "SIError",
    "SchedulerAPI",
    "StateDumpPlugin",
]
