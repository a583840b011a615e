"""Mutants and permitted variants of the RM, by subject."""
