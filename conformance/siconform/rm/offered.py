"""What an RM may use where the target offers it: the extension beside the SI."""

from siconform.outcomes import NotOffered
from siconform.rm.expectations import Expectations
from siconform.rm.extension import Extension
from siconform.rm.facets import Facet


class Offered(Expectations):
    """An RM that knows the target's extension, if there is one."""

    extension: Extension | None = None

    def offered(self, facet: Facet) -> Extension:
        """The extension; NotOffered where the target does not offer this facet of it."""
        if self.extension is None:
            raise NotOffered(f"the target does not offer the facet {facet.value}")
        self.extension.presupposes(facet)
        return self.extension
