"""What a target may or may not offer, and a requirement may presuppose."""

from collections.abc import Mapping
from types import MappingProxyType

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "api": "the SI is offered as an API in the same process",
        "corrected-schema": "the affinity operator of 2021-02 is an enum, so it can be sent",
        "execution-timeout": "allocations or applications end when their execution time is over",
        "gang": "gang scheduling: placeholders, task groups, replacement",
        "placeholder-timeout": "the placeholder timeout is known and short enough to wait for",
        "placement-constraints": "placement constraints of 2021-02 are heeded",
        "preemption": "allocations are preempted for other asks",
        "queues": "the queue configuration the kit sends or documents is in force",
        "restart": "the kit may restart the target",
        "rm-instances": "the RM runs as several instances of one cluster",
        "several-rms": "more than one RM is served at a time",
        "waiting-timeout": "the time to stay waiting before completed is known and short enough",
    }
)
"""Feature name to what a target that has it offers."""
