"""Optional features of targets that requirements may need."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from types import MappingProxyType


class Feature(StrEnum):
    """A feature by its name in the catalogue, in a target file and after ``--without``."""

    API = "api"
    APPLICATION_LIMIT = "application-limit"
    CORRECTED_SCHEMA = "corrected-schema"
    EXECUTION_TIMEOUT = "execution-timeout"
    FOREIGN_ALLOCATIONS = "foreign-allocations"
    GANG = "gang"
    PLACEHOLDER_TIMEOUT = "placeholder-timeout"
    PLACEMENT_CONSTRAINTS = "placement-constraints"
    PREEMPTION = "preemption"
    QUEUES = "queues"
    QUOTAS = "quotas"
    RESTART = "restart"
    RM_INSTANCES = "rm-instances"
    SEVERAL_ALLOCATIONS = "several-allocations-an-ask"
    SEVERAL_RMS = "several-rms"
    STATE_REPORTS = "state-reports"
    WAITING_ASKS = "waiting-asks"
    WAITING_TIMEOUT = "waiting-timeout"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a target with the feature offers, and the source that demands it ("" if none)."""

    offers: str
    demanded_by: str = ""


FEATURES: Mapping[str, Offer] = MappingProxyType(
    {
        Feature.API: Offer("the SI is offered as an API in the same process"),
        Feature.APPLICATION_LIMIT: Offer("a queue limits how many of its applications run"),
        Feature.CORRECTED_SCHEMA: Offer(
            "the affinity operator of 2021-02 is an enum, so it can be sent"
        ),
        Feature.EXECUTION_TIMEOUT: Offer(
            "allocations or applications end when their execution time is over",
            demanded_by="executionTimeoutMilliSeconds of applications, and of asks up to 2023-12",
        ),
        Feature.FOREIGN_ALLOCATIONS: Offer(
            "what others hold on a node can be reported as a foreign allocation"
        ),
        Feature.GANG: Offer("gang scheduling: placeholders, task groups, replacement"),
        Feature.PLACEHOLDER_TIMEOUT: Offer(
            "the placeholder timeout is known and short enough to wait for"
        ),
        Feature.PLACEMENT_CONSTRAINTS: Offer(
            "placement constraints of 2021-02 are respected",
            demanded_by="AllocationAsk.placementConstraint in 2021-02",
        ),
        Feature.PREEMPTION: Offer("allocations are preempted for other asks"),
        Feature.QUEUES: Offer("the queue configuration the kit sends or documents is in force"),
        Feature.QUOTAS: Offer("the maxima of queues are respected"),
        Feature.RESTART: Offer("the kit may restart the target"),
        Feature.RM_INSTANCES: Offer("the RM runs as several instances of one cluster"),
        Feature.SEVERAL_ALLOCATIONS: Offer("an ask may be for several allocations"),
        Feature.SEVERAL_RMS: Offer("more than one RM is served at a time"),
        Feature.STATE_REPORTS: Offer("the states of an application are reported as they change"),
        Feature.WAITING_ASKS: Offer("an ask that does not fit is kept until it does"),
        Feature.WAITING_TIMEOUT: Offer(
            "the time to stay waiting before completed is known and short enough"
        ),
    }
)
"""Every feature, in the order of the enum."""


def not_offered(feature: Feature) -> str:
    """Return the reason why something does not apply, as a sentence."""
    return f"the target does not offer {feature}: {FEATURES[feature].offers}"


def find_feature(name: str) -> Feature:
    """Find the feature by name; LookupError with a sentence for people."""
    try:
        return Feature(name.strip().casefold())
    except ValueError:
        near = get_close_matches(name.strip().casefold(), Feature, n=1)
        hint = f"did you mean {near[0]}? (known: " if near else "known: "
        listed = f"{hint}{', '.join(Feature)}{')' * bool(near)}"
        raise LookupError(f'unknown feature "{name}"; {listed}') from None
