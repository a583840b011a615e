"""Configuration changes of a running scheduler: the request and its outcome."""

from dataclasses import dataclass

from siconform.protocol.matchers import ANY
from siconform.protocol.notifications import Fact


@dataclass(frozen=True, slots=True)
class ConfigurationSent(Fact):
    """The RM requests another configuration for this RM and group; its message has the rest."""

    rm: str = ANY
    policy_group: str = ANY


@dataclass(frozen=True, slots=True)
class ConfigurationApplied(Fact):
    """The scheduler reports that it applied the new configuration."""


@dataclass(frozen=True, slots=True)
class ConfigurationRefused(Fact):
    """The scheduler reports that it refused the configuration."""

    reason: str = ANY
