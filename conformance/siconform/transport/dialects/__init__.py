"""Dialects: convert an RM's requests to bytes of one revision, and bytes to facts."""

from siconform.transport.dialects.dialect import Dialect, dialect_for

__all__ = ["Dialect", "dialect_for"]
