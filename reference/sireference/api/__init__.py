"""The SI as an in-process API: scheduler and resource managers without gRPC.

``SchedulerAPI`` is the API of all revisions from 2023-04 on, ``OneStreamAPI`` that of 2021-02.
Messages are those of ``siwire`` in the revision of the scheduler. docs/api.md has an example, and
the rules for threads and time.
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
