"""Tries the built package as a person who installed it has it."""
