"""Schedulers altered inside, by what they are about; their functions are given an ``Inside``."""

from proof.altering import Inside

__all__ = ["Inside"]
