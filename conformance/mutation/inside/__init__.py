"""Changes made inside the reference, by subject; their functions are given an ``Inside``."""

from collections.abc import Callable

from sireference.core.model import Effect

from mutation.altering import Inside

__all__ = ["Inside", "Original"]

Original = Callable[..., list[Effect]]
"""An original function of the core, which returns the effects of a call."""
