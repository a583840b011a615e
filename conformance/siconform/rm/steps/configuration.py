"""Steps that change the configuration of the running scheduler, if the target offers that."""

from collections.abc import Mapping

from siwire.ext import extension_pb2 as ext

from siconform.expecting.checks import precondition
from siconform.outcomes import ConformanceFailure, NotOffered
from siconform.protocol.configuration import (
    ConfigurationApplied,
    ConfigurationRefused,
    ConfigurationSent,
)
from siconform.protocol.facets import Facet
from siconform.protocol.notifications import Fact
from siconform.protocol.queue_configurations import POLICY_GROUP
from siconform.rm.optional_extension import OptionalExtension


class ConfigurationSteps(OptionalExtension):
    """UpdateConfiguration of the SI API, by default for this RM and its policy group.

    Earlier requests on the streams are processed first.
    """

    def changes_configuration(
        self,
        config: str,
        *,
        rm_id: str | None = None,
        policy_group: str = POLICY_GROUP,
        extra_config: Mapping[str, str] | None = None,
    ) -> ConfigurationApplied | ConfigurationRefused:
        """Submit the configuration and return the result."""
        extension = self.offered(Facet.CONFIGURATION)
        config = self.in_format_of_target(config)
        self.synchronise_all()
        rm = self.connection.rm_id if rm_id is None else rm_id
        self._remarks(ConfigurationSent(rm, policy_group), sent_by_rm=True)
        outcome = extension.applies(
            ext.ConfigurationChange(
                rm_id=rm,
                policy_group=policy_group,
                config=config,
                extra={
                    **self.terms.proposal(self.profile.stated, self.deadlines.scaled_by),
                    **(extra_config or {}),
                },
            )
        )
        result = ConfigurationApplied() if outcome.applied else ConfigurationRefused(outcome.reason)
        self._remarks(result, sent_by_rm=False)
        return result

    def is_reconfigured(
        self,
        config: str,
        *,
        policy_group: str = POLICY_GROUP,
        extra_config: Mapping[str, str] | None = None,
    ) -> None:
        """Submit the configuration and fail unless it is applied."""
        result = self.changes_configuration(
            config, policy_group=policy_group, extra_config=extra_config
        )
        if isinstance(result, ConfigurationRefused):
            raise ConformanceFailure(
                f"refused: {result.reason}",
                expected="the configuration is applied",
                happened=str(result),
            )

    def has_been_reconfigured(self, config: str) -> None:
        """Given: the scheduler runs with this configuration."""
        with precondition("a usable configuration is applied"):
            self.is_reconfigured(config)

    def has_been_reconfigured_with(self, feature: str, config: str) -> None:
        """Given: it runs with this configuration; NotOffered if it refuses what has this feature.

        The feature is one that no revision demands, such as limits of users.
        """
        if isinstance(self.changes_configuration(config), ConfigurationRefused):
            raise NotOffered(f"the target does not offer {feature}: it refuses the configuration")

    def is_refused_configuration(
        self, config: str, *, rm_id: str | None = None, policy_group: str = POLICY_GROUP
    ) -> None:
        """Submit the configuration and fail unless it is refused."""
        result = self.changes_configuration(config, rm_id=rm_id, policy_group=policy_group)
        if isinstance(result, ConfigurationApplied):
            raise ConformanceFailure(
                "the configuration was applied",
                expected="the configuration is refused",
                happened=str(result),
            )

    def _remarks(self, what: Fact, *, sent_by_rm: bool) -> None:
        self.exchange.history.add(self.connection.rm_id, [what], sent_by_rm=sent_by_rm)
