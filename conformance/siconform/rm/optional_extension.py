"""Access of an RM to the target's optional extension of the SI."""

from siwire import Capability

from siconform.catalogue.features import Feature, not_offered
from siconform.expecting.endpoint import Steps
from siconform.outcomes import NotOffered
from siconform.protocol.facets import Facet
from siconform.protocol.queue_configurations import UNUSABLE
from siconform.transport.extension import Extension


class OptionalExtension(Steps):
    """The target's extension, if there is one, as an RM may use it."""

    def is_offered(self, facet: Facet) -> bool:
        """Return whether the target offers this facet of the extension."""
        extension = self._link.extension
        return extension is not None and extension.offers(facet)

    def in_format_of_target(self, config: str) -> str:
        """Return this configuration; NotOffered if the target takes another format or none."""
        if Feature.QUEUES in self.terms.without and config is not UNUSABLE:
            raise NotOffered(not_offered(Feature.QUEUES))
        ours = self.terms.config is None
        in_registration = Capability.CONFIGURATION_IN_REGISTRATION
        if ours or not self.connection.revision.can(in_registration):
            return config
        if config is UNUSABLE and self.terms.config:
            return config  # unusable in any format
        how = "in its own format" if self.terms.config else "from elsewhere"
        raise NotOffered(f"the target takes its configuration {how} (--config)")

    def offered(self, facet: Facet) -> Extension:
        """Return the extension; NotOffered if the target does not offer this facet."""
        extension = self._link.extension
        if extension is None:
            raise NotOffered(f"the target does not offer the extension's {facet.value}")
        extension.presupposes(facet)
        return extension
