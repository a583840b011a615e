"""How an RM has the running scheduler take another configuration, where the target offers that."""

from collections.abc import Mapping

from siwire.ext import extension_pb2 as ext

from siconform.expecting.checks import premise
from siconform.expecting.deadlines import Deadlines
from siconform.expecting.fencing import Fencing
from siconform.expecting.link import Link
from siconform.outcomes import NotAsTheTextSays
from siconform.protocol.configuration import (
    ConfigurationApplied,
    ConfigurationRefused,
    ConfigurationSent,
)
from siconform.protocol.facets import Facet
from siconform.protocol.notifications import Fact
from siconform.protocol.queue_configurations import POLICY_GROUP
from siconform.recording.history import Exchange
from siconform.rm.optional_extension import OptionalExtension
from siconform.targets.profile import TargetProfile


class ConfigurationVerbs:
    """UpdateConfiguration of the SI's API, for this RM and its policy group unless told otherwise.

    What was said on the streams before is processed first.
    """

    def __init__(
        self,
        *,
        link: Link,
        exchange: Exchange,
        deadlines: Deadlines,
        profile: TargetProfile,
        fencing: Fencing,
        extension: OptionalExtension,
    ) -> None:
        self._link = link
        self._exchange = exchange
        self._deadlines = deadlines
        self._profile = profile
        self._fencing = fencing
        self._extension = extension

    def changes_configuration(
        self,
        config: str,
        *,
        rm_id: str | None = None,
        policy_group: str = POLICY_GROUP,
        extra_config: Mapping[str, str] | None = None,
    ) -> ConfigurationApplied | ConfigurationRefused:
        """Hand over the configuration; what became of it."""
        extension = self._extension.offered(Facet.CONFIGURATION)
        config = self._extension.in_format_of_target(config)
        self._fencing.fences_all()
        rm = self._link.connection.rm_id if rm_id is None else rm_id
        self._remarks(ConfigurationSent(rm, policy_group), said_by_rm=True)
        outcome = extension.applies(
            ext.ConfigurationChange(
                rm_id=rm,
                policy_group=policy_group,
                config=config,
                extra={
                    **self._profile.terms.proposal(self._profile.stated, self._deadlines.scaled_by),
                    **(extra_config or {}),
                },
            )
        )
        result = ConfigurationApplied() if outcome.applied else ConfigurationRefused(outcome.reason)
        self._remarks(result, said_by_rm=False)
        return result

    def is_reconfigured(
        self,
        config: str,
        *,
        policy_group: str = POLICY_GROUP,
        extra_config: Mapping[str, str] | None = None,
    ) -> None:
        """Hand over the configuration, and fail unless it is applied."""
        result = self.changes_configuration(
            config, policy_group=policy_group, extra_config=extra_config
        )
        if isinstance(result, ConfigurationRefused):
            raise NotAsTheTextSays(
                f"refused: {result.reason}",
                expected="the configuration is applied",
                happened=str(result),
            )

    def has_been_reconfigured(self, config: str) -> None:
        """Given: the scheduler runs by this configuration now."""
        with premise("a usable configuration is applied"):
            self.is_reconfigured(config)

    def is_refused_configuration(
        self, config: str, *, rm_id: str | None = None, policy_group: str = POLICY_GROUP
    ) -> None:
        """Hand over the configuration, and fail unless it is refused."""
        result = self.changes_configuration(config, rm_id=rm_id, policy_group=policy_group)
        if isinstance(result, ConfigurationApplied):
            raise NotAsTheTextSays(
                "the configuration was applied",
                expected="the configuration is refused",
                happened=str(result),
            )

    def _remarks(self, what: Fact, *, said_by_rm: bool) -> None:
        self._exchange.history.add(self._link.connection.rm_id, [what], said_by_rm=said_by_rm)
