"""Trying an edited text of the SI: the suite says it to a scheduler that does not know of it."""
