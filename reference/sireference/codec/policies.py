"""What the operator configured for resource managers: by policy group, and for all others."""

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
"""Who registers again sends the same text; no more than one is kept."""


class NoPolicyError(Exception):
    """The policy group that an RM names is none of those configured; the text says so."""


@dataclass(frozen=True)
class Policies:
    """Static policy: queue configurations, and numbers for the names of priorities.

    ``groups`` are configurations by policy group. ``default`` is for RMs that name no group, and
    for all while no groups are configured. ``configuration_bytes`` bounds what an RM may send.
    """

    groups: Mapping[str, Configuration] = field(default_factory=dict)
    default: Configuration = field(default_factory=default_configuration)
    priority_classes: Mapping[str, int] = field(default_factory=dict)
    configuration_bytes: int = MOST_CONFIGURATION_BYTES

    def configuration(self, policy_group: str, sent: str = "") -> Configuration:
        """What is in force for an RM of ``policy_group`` (SI-REG-012).

        A configuration that the RM sent itself comes first. Raises ConfigurationError for an
        unusable one, NoPolicyError for a group nobody configured: a policy that was meant to bind
        the RM is not silently replaced by another one.
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
        """The priority a class name stands for; 0, the default, for an unknown one (SI-ASK-013)."""
        return self.priority_classes.get(class_name, 0)
