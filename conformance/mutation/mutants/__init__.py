"""Mutants made on the wire, by subject."""
