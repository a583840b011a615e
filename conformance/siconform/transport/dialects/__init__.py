"""Dialects: how an RM's requests become bytes of one revision, and the scheduler's bytes facts."""

from siconform.transport.dialects.dialect import Dialect, dialect_for

__all__ = ["Dialect", "dialect_for"]
