"""A new configuration for a scheduler that runs: what the RM hands over, and the answer."""

from dataclasses import dataclass

from siconform.protocol.notifications import ANY, Fact


@dataclass(frozen=True, slots=True)
class ConfigurationSent(Fact):
    """The RM wants this RM and group to have another configuration; the rest is in its words."""

    rm: str = ANY
    policy_group: str = ANY


@dataclass(frozen=True, slots=True)
class ConfigurationApplied(Fact):
    """The scheduler says that it runs by the new configuration."""


@dataclass(frozen=True, slots=True)
class ConfigurationRefused(Fact):
    """The scheduler says that it does not."""

    reason: str = ANY
