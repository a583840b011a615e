"""Changes made inside the reference, by subject; their functions are given a ``Patch``."""

from collections.abc import Callable

from sireference.core.model import Effect

from mutation.patching import Patch

__all__ = ["Original", "Patch"]

Original = Callable[..., list[Effect]]
"""An original function of the core, which returns the effects of a call."""
