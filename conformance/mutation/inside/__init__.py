"""Schedulers altered inside, by what they are about; their functions are given an ``Inside``."""

from collections.abc import Callable

from sireference.core.model import Effect

from mutation.altering import Inside

__all__ = ["Inside", "Original"]

Original = Callable[..., list[Effect]]
"""A function of the core, as it was, that says what follows from a call."""
