"""Permitted variants of the reference, by subject."""
