"""The operator's policies for resource managers: by policy group, and the default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from sireference.configuration.defaults import default_configuration
from sireference.configuration.model import Configuration
from sireference.configuration.parsing import parse_configuration
from sireference.configuration.problems import ConfigurationError, ConfigurationProblem
from sireference.core.model import quoted

# YuniKorn's configuration is kept in a ConfigMap of Kubernetes, which holds 1 MiB
MOST_CONFIGURATION_BYTES: Final = 1 << 20


_parsed = lru_cache(maxsize=1)(parse_configuration)
"""Repeated registrations send the same text; only one result is cached."""


class NoPolicyError(Exception):
    """The policy group named by an RM is not configured; the message says which are."""


@dataclass(frozen=True)
class Policies:
    """Static policy: queue configurations, and numbers for the names of priorities.

    ``groups`` are configurations by policy group. ``default`` is for RMs without a group, and for
    all RMs while no groups are configured. ``configuration_bytes`` limits what an RM may send.
    """

    groups: Mapping[str, Configuration] = field(default_factory=dict)
    default: Configuration = field(default_factory=default_configuration)
    priority_classes: Mapping[str, int] = field(default_factory=dict)
    configuration_bytes: int = MOST_CONFIGURATION_BYTES

    def configuration(self, policy_group: str, sent: str = "") -> Configuration:
        """Return the configuration for an RM of ``policy_group`` (SI-REG-012).

        A configuration sent by the RM takes precedence. Raises ConfigurationError for an unusable
        one, NoPolicyError for an unknown group, which is not silently replaced by another policy.
        """
        if sent.strip():
            self._check_size(sent)
            return _parsed(sent)
        if not policy_group or not self.groups:
            return self.default
        found = self.groups.get(policy_group)
        if found is None:
            raise NoPolicyError(f"policy group {quoted(policy_group)} is not configured")
        return found

    def _check_size(self, sent: str) -> None:
        size, most = len(sent.encode(errors="replace")), self.configuration_bytes
        if size > most:
            problem = f"the configuration has {size} bytes, and no more than {most} are read"
            raise ConfigurationError((ConfigurationProblem("", 1, 1, problem),))

    def priority(self, class_name: str) -> int:
        """Return the priority of a class name; 0, the default, for an unknown one (SI-ASK-013)."""
        return self.priority_classes.get(class_name, 0)
